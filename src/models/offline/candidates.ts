import type { Json } from '../../contracts/index.ts';
import { splitWords, stem } from '../../search/index.ts';
import type { Fact } from './facts.ts';
import { convert, type FieldSort, formOf, shapeOf } from './field-sort.ts';
import { FILLERS, GENERIC_FIELD_WORDS } from './lexicon.ts';
import type { Mention, MentionKind } from './mentions.ts';
import type { Field } from './tool-card.ts';

/** Where a value comes from. There is no other way into a call. */
export type Source =
  | { readonly from: 'conversation'; readonly text: string }
  | { readonly from: 'result'; readonly call: string; readonly pointer: string }
  | { readonly from: 'default' | 'const' | 'enum' };

export interface Candidate {
  readonly value: Json;
  readonly source: Source;
  /** How well it suits the field; 0.35 and more will do for a required one, 0.9 for one that may be left out. */
  readonly score: number;
  /** The mentions it uses up. */
  readonly uses: readonly Mention[];
}

/** What a request has said, as far as values go. */
export interface Sayings {
  readonly text: string;
  readonly mentions: readonly Mention[];
  /** The verb of a command. */
  readonly head?: string;
  /** What is left after the verb. */
  readonly rest?: string;
  /** Values said beside the request: in the sentences around it. They count for less. */
  readonly around: readonly Mention[];
  /** Forms of ids that other fields of the request's tools give as examples. */
  readonly claims: readonly IdClaim[];
  /** The tool is about files, so that a path may go into a field that doesn't say so. */
  readonly files: boolean;
  /** Several fields would take any text: a value needs a word that says which. */
  readonly several: boolean;
}

/** The form of a field's example: who writes an id like that means this thing. */
export interface IdClaim {
  readonly shape: string;
  readonly entity: readonly string[];
}

/** What the fields of all tools say of the ids they take. */
export function idClaims(fields: readonly Field[]): IdClaim[] {
  return fields.flatMap((field) => {
    const example = field.example;
    return example !== undefined && /\d/.test(example) ? [{ shape: shapeOf(example), entity: field.entity }] : [];
  });
}

type FormTable = Readonly<Partial<Record<MentionKind, number>>>;

/** How well the form of a value suits the sort of a field. What isn't here doesn't suit. */
const SUITS: Readonly<Record<FieldSort, FormTable>> = {
  number: { number: 1 },
  boolean: {},
  choice: {},
  url: { url: 1 },
  email: { email: 1 },
  date: { date: 1, quoted: 0.4 },
  path: { path: 1, quoted: 0.6 },
  id: { id: 1, quoted: 0.6, number: 0.5 },
  query: { quoted: 1, name: 0.9, id: 0.7, path: 0.4, url: 0.3, email: 0.4 },
  prose: { quoted: 1 },
  name: { quoted: 0.9, name: 0.8, id: 0.4, path: 0.3 },
  text: { quoted: 0.6, name: 0.6, id: 0.4, path: 0.5, email: 0.4, date: 0.4, number: 0.36 },
};

const FILED: ReadonlySet<string> = new Set(['document', 'doc', 'file'].map(stem));

/** Where a sentence says "from" and "to", fields of these names take the value behind it. */
const DIRECTIONS: readonly (readonly [cue: string, fields: readonly string[]])[] = [
  ['from', ['from', 'source', 'sourc', 'origin', 'start', 'src']],
  ['to', ['to', 'destination', 'destin', 'target', 'dest', 'recipient', 'end']],
  ['into', ['destination', 'target', 'dest']],
];

/** Everything the user's words offer for a field, unsorted. */
export function fromWords(field: Field, said: Sayings): Candidate[] {
  const sort = field.sort;
  const found: Candidate[] = [...labelled(field, said)];
  for (const mention of said.mentions) found.push(...offered(field, sort, mention, said, 1));
  for (const mention of said.around) found.push(...offered(field, sort, mention, said, 0.6));
  if (sort === 'choice') found.push(...choices(field, said.text));
  if ((sort === 'query' || sort === 'prose') && said.rest !== undefined) {
    const quoted = said.mentions.some((mention) => mention.kind === 'quoted');
    found.push(...candidate(field, said.rest, quoted ? 0.36 : 0.6, inside(said, said.rest)));
  }
  return found;
}

function offered(field: Field, sort: FieldSort, mention: Mention, said: Sayings, trust: number): Candidate[] {
  if (mention.kind === 'pair') {
    const key = splitWords(mention.key ?? '')
      .map(stem)
      .join(' ');
    return key === field.words.join(' ') ? candidate(field, mention.text, 2 * trust, [mention]) : [];
  }
  // Documents are mostly known by the names of files.
  const isFileId = sort === 'id' && mention.kind === 'path' && field.entity.some((word) => FILED.has(word));
  const suits = isFileId ? 0.9 : (SUITS[sort][mention.kind] ?? 0);
  if (suits === 0) return [];
  if (sort === 'id' && !isFileId && contradicts(field, mention, said)) return [];
  const loose = sort === 'text' || sort === 'name';
  if (sort === 'text' && mention.kind === 'path' && !said.files && /^[/~.\\]|\.\w+$/.test(mention.text)) return [];
  let score = suits;
  const own = new Set([...field.words, ...field.entity].filter((word) => !FILLERS.has(word)));
  if (mention.cues.slice(0, 2).some((cue) => own.has(cue))) score += 0.6;
  if (sort === 'id' && sameShape(field, mention.text)) score += 0.8;
  const around = [...mention.cues.slice(0, 2), ...(mention.after ? [mention.after] : [])];
  if (sort === 'text' && field.example !== undefined && formOf(field.example) === formOf(mention.text)) score += 0.3;
  if (!field.required) score = suits * 0.4;
  for (const word of around)
    if (!FILLERS.has(word) && (field.descriptionWords.has(word) || own.has(word))) score += 0.26;
  for (const [cue, fields] of DIRECTIONS) {
    if (mention.cues[0] === cue || (mention.cues[1] === cue && mention.cues[0] === 'the')) {
      score += field.words.some((word) => fields.includes(word)) ? 0.5 : 0;
    }
  }
  if (loose && said.several && score <= suits && mention.kind !== 'path') return [];
  return candidate(field, mention.text, score * trust, [mention]);
}

/** "order O-104" is no transaction's id: the word before a value names another thing than the field does. */
function contradicts(field: Field, mention: Mention, said: Sayings): boolean {
  const example = field.example;
  if (example !== undefined) return !sameShape(field, mention.text) && mention.kind !== 'number';
  const claims = said.claims.filter(({ shape }) => shape === shapeOf(mention.text));
  if (claims.length > 0 && !claims.some(({ entity }) => entity.some((word) => field.entity.includes(word))))
    return true;
  const [cue, before] = mention.cues;
  const noun = cue !== undefined && (GENERIC_FIELD_WORDS.has(cue) || FILLERS.has(cue)) ? before : cue;
  if (noun === undefined || FILLERS.has(noun) || GENERIC_FIELD_WORDS.has(noun) || noun === stem(said.head ?? ''))
    return false;
  return !field.entity.includes(noun) && !field.descriptionWords.has(noun);
}

function sameShape(field: Field, text: string): boolean {
  const example = field.example;
  return example !== undefined && shapeOf(example) === shapeOf(text);
}

/** Values given with the field's own words: "of type person", "the title is X", "status closed", "named X". */
function labelled(field: Field, said: Sayings): Candidate[] {
  const found: Candidate[] = [];
  const spoken = field.path.filter((step) => typeof step === 'string').at(-1) ?? field.name;
  const parts = splitWords(spoken);
  const labels = new Set([parts.join(' '), parts.at(-1) ?? ''].filter((label) => label.length > 1));
  const value = '("[^"]+"|“[^”]+”|(?<!\\w)\'[^\']+\'(?!\\w)|[^\\s,;"\']+)';
  for (const label of labels) {
    const forms = [label, label.replace(/s$/, '').replace(/ie$/, 'y'), `${label}s`].map((form) =>
      form.replace(/ /g, '[ _-]'),
    );
    const said1 = new RegExp(
      `\\b(of|with|as|the|a|an)?\\s*\\b(?:${forms.join('|')})\\b\\s*(is|=|:|to|being|as)?\\s*${value}`,
      'giu',
    );
    for (const match of said.text.matchAll(said1)) {
      const text = unquote(match[3] ?? '').replace(/[.,;:!?]+$/, '');
      const quoted = text !== match[3]?.replace(/[.,;:!?]+$/, '');
      if (FILLERS.has(text.toLowerCase()) && !quoted) continue;
      const strong = match[2] !== undefined || quoted || /^(?:of|with|as)$/i.test(match[1] ?? '');
      const uses = inside(said, text);
      if (strong || uses.length > 0) found.push(...candidate(field, text, strong ? 1.6 : 1.1, uses));
    }
  }
  if (field.sort === 'name') {
    for (const match of said.text.matchAll(new RegExp(`\\b(?:named|called|titled)\\s+${value}`, 'giu'))) {
      const text = unquote(match[1] ?? '').replace(/[.,;:!?]+$/, '');
      const whole = said.mentions.find((mention) => mention.kind === 'name' && mention.text.startsWith(text));
      found.push(...candidate(field, whole?.text ?? text, 1.7, inside(said, text)));
    }
  }
  return found;
}

/** The one member of an enum that the words spell out. */
function choices(field: Field, text: string): Candidate[] {
  const members = Array.isArray(field.schema.enum) ? field.schema.enum : [];
  const words = ` ${splitWords(text).join(' ')} `;
  const said = members.filter((one) => {
    const spelled = splitWords(String(one)).join(' ');
    return spelled !== '' && words.includes(` ${spelled} `);
  });
  const [only] = said;
  if (only === undefined || said.length > 1) return [];
  const cued = field.words.some((word) => splitWords(text).map(stem).includes(word));
  return [{ value: only, source: { from: 'enum' }, score: cued ? 1.2 : 0.7, uses: [] }];
}

/** A file named beside the directory it is in, as one path. */
export function joinedPaths(field: Field, said: Sayings): Candidate[] {
  if (field.sort !== 'path') return [];
  const paths = said.mentions.filter((mention) => mention.kind === 'path');
  const file = paths.find(({ text }) => !/[/\\*]/.test(text));
  const folder = paths.find(({ text, cues }) => {
    return (
      /^(?:~|\.{1,2})?\//.test(text) && cues.slice(0, 3).some((cue) => /^(?:in|under|insid|within|from|at)$/.test(cue))
    );
  });
  if (!file || !folder) return [];
  const text = `${folder.text.replace(/\/+$/, '')}/${file.text}`;
  return candidate(field, text, 1.9, [file, folder], { from: 'conversation', text: `${file.text} in ${folder.text}` });
}

/** Sorts that a result may fill: their name or form says that the value fits. Free text isn't among them. */
const FROM_RESULTS: ReadonlySet<FieldSort> = new Set(['id', 'url', 'email', 'path', 'number', 'date']);

/**
 * What earlier calls offer for a field, by the names of both. What a call was given counts only for a goal that names
 * nothing itself; a path that ends in a file's name that was said counts always.
 */
export function fromFacts(field: Field, facts: readonly Fact[], said: Sayings): Candidate[] {
  const sort = field.sort;
  if (!FROM_RESULTS.has(sort)) return [];
  return facts.flatMap((fact) => {
    const source: Source = { from: 'result', call: fact.call, pointer: fact.pointer };
    const file =
      sort === 'path' ? said.mentions.find(({ text }) => String(fact.value).endsWith(`/${text}`)) : undefined;
    if (file) return candidate(field, String(fact.value), 1.9, [file], source);
    if (fact.given && said.mentions.length > 0) return [];
    return candidate(field, String(fact.value), likeness(field, sort, fact), [], source);
  });
}

function likeness(field: Field, sort: FieldSort, fact: Fact): number {
  const key = fact.words.join(' ');
  const ofIt = field.entity.some((word) => fact.parents.includes(word));
  if (key === field.words.join(' ') && (key !== 'id' || ofIt)) return 1.5;
  if (sort !== 'id') return 0;
  if (key === 'id' && ofIt) return 1.3;
  return key === field.entity.join(' ') ? 1.2 : 0;
}

function candidate(
  field: Field,
  text: string,
  score: number,
  uses: readonly Mention[],
  source: Source = { from: 'conversation', text },
): Candidate[] {
  const value = convert(text, field.schema);
  return value === undefined || text === '' || score <= 0 ? [] : [{ value, source, score, uses }];
}

function inside(said: Sayings, text: string): Mention[] {
  return said.mentions.filter((mention) => text.includes(mention.text) || mention.text.startsWith(text));
}

function unquote(text: string): string {
  return /^["“'].*["”']$/s.test(text) ? text.slice(1, -1) : text;
}
