import type { Json } from '../../contracts/index.ts';
import { createIndex, type SearchIndex } from '../../search/index.ts';
import { type IdClaim, idClaims } from './candidates.ts';
import { type Goal, TYPE_WEIGHT } from './goals.ts';
import { verbEffects, verbLikeness } from './lexicon.ts';
import { readCards, type ToolCard } from './tool-card.ts';

/** The tools of a request, ready to be ranked. */
export interface ToolIndex {
  readonly cards: readonly ToolCard[];
  readonly search: SearchIndex;
  readonly claims: readonly IdClaim[];
}

export interface Ranked {
  readonly card: ToolCard;
  /** 0 to about 1: how sure it is that this tool does what was asked. */
  readonly score: number;
}

/** Below this, nothing fits. */
export const FITS = 0.5;

function indexTools(cards: readonly ToolCard[]): ToolIndex {
  const docs = cards.map((card) => ({
    id: card.name,
    fields: [
      { text: card.name, weight: 2 },
      { text: card.description, weight: 1 },
      { text: card.fields.map((field) => `${field.name} ${field.description}`).join(' '), weight: 0.5 },
    ],
  }));
  return { cards, search: createIndex(docs), claims: idClaims(cards.flatMap(({ fields }) => fields)) };
}

/** Reads and indexes the tools of a request; the same tools again, as the turns of a run bring them, are read once. */
export function toolIndexer(): (tools: Json | undefined) => ToolIndex {
  let last: { readonly text: string; readonly index: ToolIndex } | undefined;
  return (tools) => {
    const text = JSON.stringify(tools ?? []);
    if (last?.text !== text) last = { text, index: indexTools(readCards(tools)) };
    return last.index;
  };
}

/** The tools that may do what the goal asks, best first. A question never gets a tool that changes something. */
export function rankTools(goal: Goal, tools: ToolIndex): Ranked[] {
  const hits = tools.search.search(`${goal.text} ${goal.contents.map((content) => content.stem).join(' ')}`, 50);
  const best = hits[0]?.score ?? 1;
  const texts = new Map(hits.map(({ id, score }) => [id, score / best]));
  return tools.cards
    .map((card) => ({ card, score: confidence(goal, card, tools.cards, texts.get(card.name) ?? 0) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

function confidence(goal: Goal, card: ToolCard, cards: readonly ToolCard[], text: number): number {
  const verb = verbScore(goal, card);
  if (verb < 0.3) return 0;
  const known = goal.contents
    .map((content) => ({ ...content, share: knows(card, content.stem, goal, cards) }))
    // What only a value's form says, and the words to search for, may go unmet where the verb is met.
    .filter(({ weight, share }) => share > 0 || weight > TYPE_WEIGHT || goal.head === undefined || verb < 0.8);
  const all = known.reduce((sum, { weight }) => sum + weight, 0);
  const coverage = all === 0 ? 0.5 : known.reduce((sum, { weight, share }) => sum + weight * share, 0) / all;
  // Words that stand only somewhere in a long description say little, unless they are most of what was asked.
  const needed = known.some(({ share }) => share >= 0.75) ? 0.4 : 0.5;
  if (all > 0 && coverage < needed) return 0;
  const said = new Set(goal.contents.map((content) => content.stem));
  const names = card.nouns.filter((noun) => [...said].some((word) => word === noun || verbLikeness(word, noun) >= 0.8));
  const named = card.nouns.length === 0 ? 0.5 : names.length / card.nouns.length;
  // What changes something must be named: by more than a verb and the form of a value.
  if (card.effect !== 'read' && !known.some(({ weight }) => weight >= 1) && named < 1) return 0;
  const sure = 0.45 * coverage + 0.2 * named + 0.25 * verb + 0.1 * text;
  return card.discouraged ? sure * 0.6 : sure;
}

function verbScore(goal: Goal, card: ToolCard): number {
  const { head } = goal;
  if (head === undefined) return card.effect === 'write' ? 0 : card.effect === 'read' ? 0.8 : 0.4;
  const effects = verbEffects(head);
  const likeness = Math.max(0, ...card.verbs.map((verb) => verbLikeness(head, verb)));
  const onlyReads = effects.length > 0 && effects.every((effect) => effect === 'read');
  if (onlyReads) return card.effect === 'write' ? 0 : Math.max(likeness, card.effect === 'unclear' ? 0.3 : 0.4);
  return likeness;
}

/** How well a tool knows a word: by its name, its fields, its description; or through another tool that it builds on. */
function knows(card: ToolCard, word: string, goal: Goal, cards: readonly ToolCard[]): number {
  if (card.nouns.includes(word)) return 1;
  if (card.verbs.some((verb) => verbLikeness(word, verb) >= 0.8)) return 0.9;
  if (card.nouns.some((noun) => verbLikeness(word, noun) >= 0.8)) return 0.8;
  if (card.fieldWords.has(word)) return 0.75;
  if (card.descriptionWords.has(word)) return 0.65;
  const builds = card.fields.some((field) => field.required && field.sort === 'id' && !field.entity.includes(word));
  const other = builds && cards.some((one) => one !== card && one.effect === 'read' && one.nouns.includes(word));
  return other && goal.mood === 'command' ? 0.5 : 0;
}
