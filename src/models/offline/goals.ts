import { splitWords, stem } from '../../search/index.ts';
import {
  FILE_TYPES,
  FILLERS,
  isPlainVerb,
  isVerb,
  NEGATION,
  POLITE,
  PRONOUNS,
  QUESTION_WORDS,
  SHOWING_VERBS,
  VAGUE,
  verbEffects,
  verbLikeness,
} from './lexicon.ts';
import { findMentions, type Mention } from './mentions.ts';

/** A word that says what a request is about; the more weight, the more a tool must know it. */
export interface Content {
  readonly stem: string;
  readonly weight: number;
}

/** Weight of a word that wasn't said, but told from the form of a value. */
export const TYPE_WEIGHT = 0.6;

/** One thing that was asked for. */
export interface Goal {
  readonly text: string;
  readonly mood: 'command' | 'question' | 'statement';
  /** The verb in command of a command, in lower case. */
  readonly head?: string;
  readonly contents: readonly Content[];
  readonly mentions: readonly Mention[];
  /** It speaks of something said before: "refund it". */
  readonly pronoun: boolean;
  /** It only says how to show the answer to the goal before it: "and quote its first line". */
  readonly showing: boolean;
  /** What is left after the verb and its preposition: what to search for, or to say. */
  readonly rest?: string;
}

/** The mentions of a text as it stands, and the same text with them blanked out, so that they can't be cut or misread. */
function blank(text: string, mentions: readonly Mention[]): string {
  let masked = text;
  for (const { start, end } of mentions)
    masked = masked.slice(0, start) + '\u0001'.repeat(end - start) + masked.slice(end);
  return masked;
}

/**
 * Splits what the user said into goals, in order. Sentences that only tell something become statements: they give
 * values, and are goals only where nothing else is.
 *
 * @param text the user's words
 * @param isToolVerb whether a word that isn't in the lexicon is the verb of a tool
 */
export function readGoals(text: string, isToolVerb: (word: string) => boolean): Goal[] {
  const masked = blank(
    text,
    findMentions(text).filter((mention) => mention.kind !== 'name'),
  );
  const cuts = [0];
  const cut =
    /[.!?;]+["')]*\s+|\n+|,?\s+(?:and\s+)?(?:then|afterwards|after that)[,\s]+|(?:,\s*|\s+)and\s+(?:also\s+)?(?=(?:please\s+)?(\p{L}+))|,\s+(?=(?:please\s+)?(\p{L}+))/giu;
  for (const match of masked.matchAll(cut)) {
    const next = (match[1] ?? match[2])?.toLowerCase();
    const begins = next === undefined || next === 'please' || isPlainVerb(next) || isToolVerb(next);
    if (!begins && !SHOWING_VERBS.has(stem(next ?? ''))) continue;
    cuts.push(match.index + match[0].length);
  }
  const clauses = cuts.map((start, at) => text.slice(start, cuts[at + 1]));
  return clauses.flatMap((clause, at) => {
    const goal = readGoal(clause, isToolVerb, at > 0);
    return goal ? [goal] : [];
  });
}

function readGoal(clause: string, isToolVerb: (word: string) => boolean, follows: boolean): Goal | undefined {
  const asked = /\?["')\s]*$/.test(clause);
  let text = clause.trim().replace(/(?:,?\s*(?:and|then|please))*[\s.!?;,]*$/i, '');
  let polite = false;
  for (let step = 0; step < 6; step++) {
    const shorter = text.replace(POLITE, '');
    if (shorter === text) break;
    polite ||= /please|you|\bi\b|help|let/i.test(text.slice(0, text.length - shorter.length));
    text = shorter;
  }
  if (text === '' || (NEGATION.test(text) && !asked)) return undefined;
  const mentions = findMentions(text);
  const words = [...blank(text, mentions).matchAll(/[\p{L}\p{N}'’-]+/gu)].map((match) => ({
    word: match[0].toLowerCase(),
    end: match.index + match[0].length,
  }));
  const lead = words.find(({ word }) => !/^(?:a|an|the|my)$/.test(word));
  const first = lead?.word ?? '';
  const question = QUESTION_WORDS.has(first.replace(/['’].*$/, '')) || (asked && !polite);
  const known = isVerb(first) || isToolVerb(first) || (follows && SHOWING_VERBS.has(stem(first)));
  // "I want a refund" asks for one; "my order is late" asks for nothing.
  const isHead = !question && known && (lead === words[0] || polite);
  const mood = isHead ? 'command' : question ? 'question' : 'statement';
  const pronoun = splitWords(text).some((word) => PRONOUNS.has(word));
  const takesRest =
    isHead && (searches(first) || verbEffects(first).some((effect) => effect !== 'read') || !isVerb(first));
  const rest = takesRest && lead ? restOf(text, lead.end, first) : undefined;
  const topicAt = rest !== undefined && searches(first) && TOPIC.test(text) ? text.lastIndexOf(rest) : text.length;
  const contents: Content[] = [];
  for (const { word, end } of words) {
    const generic = isHead && word === first && end === lead?.end && isVerb(word);
    if (generic || (word.startsWith('-') && word.length < 3)) continue;
    for (const part of splitWords(word)) {
      if (FILLERS.has(part) || part.length < 2) continue;
      const before = contents.filter(({ weight }) => weight >= 1).length;
      const leading = before === 0 || (before === 1 && isHead && !isVerb(first));
      const weight = end > topicAt ? 0.25 : VAGUE.has(stem(part)) ? 0.4 : leading ? 1.5 : 1;
      contents.push({ stem: stem(part), weight });
    }
  }
  for (const kind of new Set(mentions.flatMap(typeWords))) contents.push({ stem: stem(kind), weight: TYPE_WEIGHT });
  const showing = follows && mood === 'command' && SHOWING_VERBS.has(stem(first)) && shows(text, mentions);
  return {
    text,
    mood,
    ...(isHead && { head: first }),
    contents,
    mentions,
    pronoun,
    showing,
    ...(rest !== undefined && { rest }),
  };
}

/** "its first line", "the result", "me how many there are": nothing that could be looked up on its own. */
function shows(text: string, mentions: readonly Mention[]): boolean {
  const own = mentions.some(({ kind }) => kind !== 'number' && kind !== 'name');
  return !own && /\b(?:its?|them|their|that|result|answer|lines?|me|there|contents?)\b/i.test(text);
}

const TOPIC = /^(?:.*?\s)??(?:for|about|on|matching|containing|regarding|mentioning)\s+/is;

function searches(head: string): boolean {
  return verbLikeness(head, 'search') >= 0.8;
}

function restOf(text: string, after: number, head: string): string | undefined {
  let rest = text.slice(after).replace(/^[\s:,]+/, '');
  const colon = /:\s+(\S.*)$/s.exec(rest);
  if (colon?.[1]) rest = colon[1];
  const lead = searches(head) ? TOPIC : /^(?:.*?\s)?(?:saying|that says|reading)\s+/is;
  rest = rest
    .replace(lead, '')
    .replace(/^(?:me|us|out|back|up)\s+/i, '')
    .trim();
  return splitWords(rest).every((word) => FILLERS.has(word) || PRONOUNS.has(word)) ? undefined : rest;
}

/** What the form of a value says of the kind of thing that is meant. */
function typeWords(mention: Mention): readonly string[] {
  if (mention.kind === 'number' || mention.kind === 'url' || mention.kind === 'email' || mention.kind === 'date') {
    return [mention.kind];
  }
  const ending = mention.kind === 'path' ? /\.(\w+)$/.exec(mention.text)?.[1]?.toLowerCase() : undefined;
  return ending ? ['file', ...(FILE_TYPES.get(ending) ?? [])] : [];
}
