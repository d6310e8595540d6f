import { splitWords, stem } from '../../search/index.ts';
import { FILLERS, isVerb } from './lexicon.ts';

export type MentionKind = 'quoted' | 'url' | 'email' | 'date' | 'path' | 'id' | 'number' | 'name' | 'pair';

/** A piece of the user's words that could be a value. `text` is always a sub-string of what was said. */
export interface Mention {
  readonly kind: MentionKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Stems of the words before it, nearest first, at most four; they say what it is. */
  readonly cues: readonly string[];
  /** Stem of the word after it. */
  readonly after?: string;
  /** For `pair`: the key it was given with. */
  readonly key?: string;
}

/** In order of strength: what an earlier form has taken, a later one doesn't see. Group 1 is the value, if there is one. */
const FORMS: readonly (readonly [MentionKind, RegExp])[] = [
  ['pair', /(?<![\w/])[A-Za-z_][\w-]*=(?:"[^"]*"|'[^']*'|[^\s,;"']+)/g],
  ['quoted', /"([^"]+)"/g],
  ['quoted', /“([^”]+)”/g],
  ['quoted', /`([^`]+)`/g],
  ['quoted', /(?<!\w)['‘](.+?)['’](?!\w)/g],
  ['url', /\b[a-z][a-z0-9+.-]*:\/\/[^\s<>"')]+/gi],
  ['email', /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g],
  ['date', /\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?\b/g],
  ['path', /(?<![\w.])(?:~|\.{1,2})?\/(?:[\w.@+-]+\/)*[\w.@+*-]*|[A-Za-z]:\\[^\s"']+/g],
  ['path', /(?<![\w/])[\w@-][\w.@-]*\/[\w.@/*-]+/g],
  ['path', /(?<![\w/])[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,4}\b(?!\.\w)|\*\.[\w*]+/g],
  ['id', /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi],
  [
    'id',
    /\b[A-Za-z]{1,12}[-_#]?\d[\w-]*\b|\b[A-Za-z]{1,12}(?:[-_][A-Za-z0-9]+)*[-_]\d[\w-]*\b|#\d+|\b\d+[A-Za-z][\w-]*\b/g,
  ],
  ['number', /(?<![\w.\0+-])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*[\w\0])/g],
  ['name', /(?<![\w'’])\p{Lu}[\p{L}\p{N}_'-]*(?:\s+\p{Lu}[\p{L}\p{N}_'-]*)*/gu],
];

/** Finds what could be values in a person's words, in the order in which they stand. */
export function findMentions(text: string): Mention[] {
  let rest = text;
  let found: Mention[] = [];
  for (const [kind, form] of FORMS) {
    for (const match of rest.matchAll(form)) {
      const mention = read(kind, match, text);
      if (!mention) continue;
      // A quotation holds together, whatever stands in it.
      found = [...found.filter(({ start, end }) => end <= mention.start || start >= mention.end), mention];
      rest = rest.slice(0, match.index) + '\0'.repeat(match[0].length) + rest.slice(match.index + match[0].length);
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

function read(kind: MentionKind, match: RegExpMatchArray, text: string): Mention | undefined {
  const at = match.index ?? 0;
  const whole = text.slice(at, at + match[0].length);
  const inner = match[1] ?? match[0];
  let start = at + match[0].indexOf(inner);
  let value = text.slice(start, start + inner.length);
  let key: string | undefined;
  if (kind === 'pair') {
    key = whole.slice(0, whole.indexOf('='));
    value = whole.slice(key.length + 1).replace(/^["']|["']$/g, '');
    start = at + whole.indexOf(value, key.length + 1);
  }
  if (kind === 'path' || kind === 'url' || kind === 'pair') value = value.replace(/[.,;:!?)]+$/, '');
  if (kind === 'path' && (value === '' || /^(?:e\.g|i\.e)$/i.test(value))) return undefined;
  if (kind === 'name') {
    const atStart = /(?:^|[.!?:]\s+|\n\s*)$/.test(text.slice(0, at));
    const words = value.split(/\s+/);
    // The first word of a sentence is written large whatever it is.
    while (words[0] && (FILLERS.has(words[0].toLowerCase()) || (atStart && start === at && words.length > 0))) {
      const first = words.shift() ?? '';
      start += first.length + 1;
      if (atStart && !FILLERS.has(first.toLowerCase()) && !isVerb(first) && words.length > 0) break;
    }
    value = words.join(' ').replace(/['’]s?$/, '');
    if (/^(?:mr|mrs|ms|dr|prof|st)$/i.test(value)) return undefined;
    if (value === '' || text.slice(start, start + value.length) !== value) return undefined;
  }
  const before = splitWords(text.slice(0, start)).slice(-4).reverse();
  const cues = (key ? splitWords(key).reverse() : before).map(stem);
  const end = start + value.length;
  const next = /^\W?\s+([\p{L}-]+)/u.exec(text.slice(end))?.[1];
  return {
    kind,
    text: value,
    start,
    end,
    cues,
    ...(next && { after: stem(next.toLowerCase()) }),
    ...(key !== undefined && { key }),
  };
}
