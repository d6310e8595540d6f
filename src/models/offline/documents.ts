import type { Json } from '../../contracts/index.ts';
import { splitWords, stem } from '../../search/index.ts';
import { isObject, list } from './conversation.ts';
import type { Goal } from './goals.ts';
import { FILLERS, isVerb, SHOWING_VERBS, verbEffects } from './lexicon.ts';
import { excerpt } from './report.ts';

/** A document or an image that the user gave with what they said. */
export interface GivenDocument {
  readonly name: string;
  /** Null where it can only be looked at, as a picture or a PDF. */
  readonly text: string | null;
}

/** The documents and images among a message's blocks. */
export function givenDocuments(blocks: readonly Json[]): readonly GivenDocument[] {
  return blocks.flatMap((block): GivenDocument[] => {
    if (!isObject(block)) return [];
    if (block.type === 'image') return [{ name: 'the image', text: null }];
    if (block.type !== 'document') return [];
    const source = isObject(block.source) ? block.source : {};
    const name = typeof block.title === 'string' && block.title !== '' ? block.title : 'the document';
    const parts = list(source.content).map((part) => (isObject(part) ? part.text : undefined));
    const text = source.type === 'text' ? source.data : parts.filter((part) => typeof part === 'string').join('\n');
    return [{ name, text: typeof text === 'string' && text !== '' ? text : null }];
  });
}

/**
 * What the documents say of a request that only asks for what stands in them. Undefined when it asks for anything else:
 * then it is a matter for tools.
 *
 * @param wording the request as it was said
 */
export function answerFrom(
  documents: readonly GivenDocument[],
  goals: readonly Goal[],
  wording: string,
): string | undefined {
  if (documents.length === 0 || !goals.every((goal) => asksFor(goal, documents))) return undefined;
  return documents
    .map(({ name, text }) => {
      if (text === null) return `I can’t read ${name}: I am an offline planner, and it is no text.`;
      return `${name}:\n${excerpt(linesAbout(text, goals, name), wording)}`;
    })
    .join('\n\n');
}

/** A question, or a command to show something; and what it names is a document, or stands in one. */
function asksFor({ mood, head, mentions }: Goal, documents: readonly GivenDocument[]): boolean {
  if (mood === 'command' && !reads(head ?? '')) return false;
  return mentions.every(
    ({ kind, text }) =>
      kind === 'number' ||
      kind === 'name' ||
      documents.some((one) => one.name.includes(text) || one.text?.includes(text)),
  );
}

function reads(head: string): boolean {
  const effects = isVerb(head) ? verbEffects(head) : [];
  return SHOWING_VERBS.has(stem(head)) || (effects.length > 0 && effects.every((effect) => effect === 'read'));
}

/** Words of a request that say nothing of what is looked for in a document. */
const ABOUT_DOCUMENTS = new Set(
  ['document', 'file', 'text', 'content', 'line', 'page', 'say', 'write', 'mention'].map(stem),
);

/** The lines with a word that is asked about; the whole text where no word tells lines apart. */
function linesAbout(text: string, goals: readonly Goal[], name: string): string {
  const named = new Set(splitWords(name).map(stem));
  const wanted = new Set(
    goals
      .filter(({ mood }) => mood === 'question')
      .flatMap(({ contents }) => contents.filter(({ weight }) => weight >= 1).map((content) => content.stem))
      .filter((word) => !named.has(word) && !ABOUT_DOCUMENTS.has(word) && !FILLERS.has(word)),
  );
  if (wanted.size === 0) return text;
  const lines = text.split('\n');
  const about = lines.filter((line) => splitWords(line).some((word) => wanted.has(stem(word))));
  return about.length === 0 ? text : about.join('\n');
}
