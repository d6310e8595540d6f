import type { JsonObject } from '../../contracts/index.ts';
import { canonicalJson } from '../../tools/index.ts';
import { type Filled, fillArguments, type Known } from './arguments.ts';
import type { Source } from './candidates.ts';
import type { PastCall } from './conversation.ts';
import { callsAbout, factsOf } from './facts.ts';
import { sortOf } from './field-sort.ts';
import type { Goal } from './goals.ts';
import type { Mention } from './mentions.ts';
import { FITS, rankTools, type ToolIndex } from './rank.ts';
import type { Field, ToolCard } from './tool-card.ts';

export interface PlannedCall {
  readonly name: string;
  readonly input: JsonObject;
  /** Of every value in the input, by JSON Pointer. */
  readonly sources: ReadonlyMap<string, Source>;
}

/** What the user said when asked for a value. */
export interface Answer {
  /** The tool that was settled on when the question was asked. */
  readonly tool: string;
  /** The field asked for, as its path joined by dots. */
  readonly field: string;
  readonly text: string;
}

export interface Setting {
  readonly tools: ToolIndex;
  /** Values said in the sentences around the goal. */
  readonly around: readonly Mention[];
  /** Calls made for this request, in order. */
  readonly calls: readonly PastCall[];
  /** Calls made for earlier requests. */
  readonly earlier: readonly PastCall[];
  /** Calls of this request before this one belong to goals that are done. */
  readonly from: number;
  readonly answer: Answer | undefined;
}

export type Step =
  | { readonly kind: 'unfit' }
  | { readonly kind: 'ask'; readonly tool: string; readonly field: Field }
  | { readonly kind: 'done'; readonly card: ToolCard; readonly call: PastCall; readonly next: number }
  /** `together`: other calls may be made in the same turn. */
  | { readonly kind: 'call'; readonly call: PlannedCall; readonly together: boolean };

/** The next step towards one goal: its call, a call that finds what is missing for it, a question, or its end. */
export function nextStep(goal: Goal, setting: Setting): Step {
  const { tools, calls, from, answer } = setting;
  // What this goal's own calls return must not change which tool it is for.
  const before = { ...setting, calls: calls.slice(0, from) };
  const card =
    tools.cards.find(({ name }) => name === answer?.tool) ?? choose(goal, tools, knownTo(goal, before), before);
  if (!card) return { kind: 'unfit' };
  const at = calls.findIndex(({ name }, index) => index >= from && name === card.name);
  const call = calls[at];
  if (call) return { kind: 'done', card, call, next: at + 1 };
  const known = knownTo(goal, setting);
  const filled = fillArguments(card, goal, known);
  const [missing] = filled.missing;
  if (missing) return chain(goal, card, missing, known, setting);
  return { kind: 'call', call: planned(card, filled), together: card.effect === 'read' };
}

/** Results that may fill this goal's calls: those about the things it names, else those of the same request. */
function knownTo(goal: Goal, { tools, calls, earlier, around, answer }: Setting): Known {
  const things = [...goal.mentions, ...around].filter(({ kind }) => kind === 'id' || kind === 'path');
  const named = new Set(things.map(({ text }) => text));
  const recent = goal.pronoun ? [...earlier.slice(-4), ...calls] : calls;
  const about = named.size > 0 ? callsAbout([...earlier, ...calls], named) : recent;
  return { around, facts: about.flatMap(factsOf), claims: tools.claims, ...(answer && { answer }) };
}

function planned(card: ToolCard, filled: Filled): PlannedCall {
  return { name: card.name, input: filled.input, sources: filled.sources };
}

/** The best tool, judged by what was asked and by whether what was said is what it needs. */
function choose(goal: Goal, tools: ToolIndex, known: Known, setting: Setting): ToolCard | undefined {
  let best: { card: ToolCard; score: number } | undefined;
  const lastServer = serverOf(setting.calls.at(-1) ?? setting.earlier.at(-1), tools);
  for (const { card, score } of rankTools(goal, tools).slice(0, 25)) {
    const filled = fillArguments(card, goal, known);
    const given = goal.mentions.length;
    const used = filled.used.filter((mention) => goal.mentions.includes(mention)).length;
    const needed = card.fields.filter(({ required }) => required).length;
    const complete = needed === 0 ? 1 : 1 - filled.missing.length / needed;
    const chainable = filled.missing.some((field) => sortOf(field) === 'id');
    const fromWords = given === 0 ? 0 : 0.25 * (used / given) - (chainable ? 0 : 0.12);
    // With no noun to go by, only the values can tell that the tool is meant.
    if (goal.contents.every(({ weight }) => weight < 1) && (filled.missing.length > 0 || used === 0)) continue;
    const near = card.server !== '' && card.server === lastServer ? 0.04 : 0;
    const total = score + 0.2 * complete + fromWords + near - 0.1;
    if (score < FITS - 0.1 || total < FITS) continue;
    if (!best || total > best.score + 1e-9) best = { card, score: total };
  }
  return best?.card;
}

function serverOf(call: PastCall | undefined, tools: ToolIndex): string | undefined {
  return tools.cards.find(({ name }) => name === call?.name)?.server;
}

/** A value is missing: ask a tool that only reads and that may know it; else ask the user. */
function chain(goal: Goal, card: ToolCard, field: Field, known: Known, { calls, tools }: Setting): Step {
  const words = new Set([
    ...goal.contents.map(({ stem }) => stem),
    ...goal.mentions.flatMap(({ cues }) => cues.slice(0, 1)),
  ]);
  const helpers = tools.cards
    .filter((one) => one !== card && one.effect === 'read' && sortOf(field) === 'id')
    .map((one) => {
      const mine = fillArguments(one, goal, known);
      const tells = field.entity.some((word) => one.descriptionWords.has(word) || one.nouns.includes(word));
      const named = mine.used.length > 0 && one.nouns.some((noun) => words.has(noun));
      return { one, mine, worth: (named ? 2 : mine.used.length > 0 ? 1 : 0) + (tells ? 1 : 0) };
    });
  const tried = new Map(calls.map((call) => [`${call.name} ${canonicalJson(call.input)}`, call]));
  const able = helpers
    .filter(({ mine, worth }) => mine.missing.length === 0 && worth >= 2)
    .sort((a, b) => b.worth - a.worth);
  for (const { one, mine } of able) {
    const call = tried.get(`${one.name} ${canonicalJson(mine.input)}`);
    if (!call) return { kind: 'call', call: planned(one, mine), together: false };
    if (call.answer.isError) return { kind: 'done', card: one, call, next: calls.indexOf(call) + 1 };
  }
  // Ask for what the user has spoken of: the order, not the payment behind it.
  const wanted = helpers.flatMap(({ one, mine }) =>
    one.nouns.some((noun) => words.has(noun))
      ? mine.missing.filter(({ entity }) => entity.some((word) => words.has(word)))
      : [],
  );
  return {
    kind: 'ask',
    tool: card.name,
    field: (field.entity.some((word) => words.has(word)) ? undefined : wanted[0]) ?? field,
  };
}
