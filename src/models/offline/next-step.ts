import type { JsonObject } from '../../contracts/index.ts';
import { canonicalJson } from '../../tools/index.ts';
import { type Filled, fillArguments, type Known, optionsFor } from './arguments.ts';
import type { Source } from './candidates.ts';
import type { PastCall } from './conversation.ts';
import { callsAbout, factsOf } from './facts.ts';
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
  readonly answers: readonly Answer[];
}

export type Step =
  | { readonly kind: 'unfit' }
  /** `options`: values that earlier results offer. */
  | { readonly kind: 'ask'; readonly tool: string; readonly field: Field; readonly options: readonly string[] }
  | { readonly kind: 'done'; readonly card: ToolCard; readonly call: PastCall; readonly next: number }
  /** `together`: other calls may be made in the same turn. */
  | { readonly kind: 'call'; readonly call: PlannedCall; readonly together: boolean };

/** The next step towards one goal: its call, a call that finds what is missing for it, a question, or its end. */
export function nextStep(goal: Goal, setting: Setting): Step {
  const { tools, calls, from, answers } = setting;
  // What this goal's own calls return must not change which tool it is for.
  const before = { ...setting, calls: calls.slice(0, from) };
  const card = tools.cards.find(({ name }) => name === answers[0]?.tool) ?? choose(goal, before);
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
function knownTo(goal: Goal, { tools, calls, earlier, around, answers }: Setting): Known {
  const things = [...goal.mentions, ...around].filter(({ kind }) => kind === 'id' || kind === 'path');
  const named = new Set(things.map(({ text }) => text));
  const recent = goal.pronoun ? [...earlier.slice(-4), ...calls] : calls;
  const about = named.size > 0 ? callsAbout([...earlier, ...calls], named) : recent;
  return { around, facts: about.flatMap(factsOf), claims: tools.claims, answers };
}

function planned(card: ToolCard, filled: Filled): PlannedCall {
  return { name: card.name, input: filled.input, sources: filled.sources };
}

/** The best tool, judged by what was asked and by whether what was said is what it needs. */
function choose(goal: Goal, setting: Setting): ToolCard | undefined {
  const { tools } = setting;
  // "3 and 4." asks for nothing.
  if (goal.mood === 'statement' && !goal.contents.some(({ weight }) => weight >= 1)) return undefined;
  const known = knownTo(goal, setting);
  let best: { card: ToolCard; score: number } | undefined;
  const lastServer = serverOf(setting.calls.at(-1) ?? setting.earlier.at(-1), tools);
  for (const { card, score } of rankTools(goal, tools).slice(0, 25)) {
    const filled = fillArguments(card, goal, known);
    const given = goal.mentions.length;
    const used = filled.used.filter((mention) => goal.mentions.includes(mention)).length;
    const needed = card.fields.filter(({ required }) => required).length;
    const complete = needed === 0 ? 1 : 1 - filled.missing.length / needed;
    const chainable = filled.missing.some((field) => field.sort === 'id');
    const fromWords = given === 0 ? 0 : 0.25 * (used / given) - (chainable ? 0 : 0.12);
    // With no noun to go by, only the values can tell that the tool is meant.
    if (goal.contents.every(({ weight }) => weight < 1) && !saysWhat(goal, filled, used)) continue;
    const near = card.server !== '' && card.server === lastServer ? 0.04 : 0;
    const plural = given < 2 && card.fields.some(({ required, many }) => required && many) ? 0.03 : 0;
    const total = score + 0.2 * complete + fromWords + near - plural - 0.1;
    if (score < FITS - 0.1 || total < FITS) continue;
    if (!best || total > best.score + 1e-9) best = { card, score: total };
  }
  return best?.card;
}

function saysWhat(goal: Goal, { input }: Filled, used: number): boolean {
  return used > 0 || (goal.rest !== undefined && Object.values(input).includes(goal.rest));
}

/**
 * Things said in a row, "in Oslo and in Rome", for a tool that takes one of them: a goal for each.
 *
 * @param setting as it was before anything was called
 */
export function spread(goal: Goal, setting: Setting): Goal[] {
  const row = rowOf(goal);
  const card = row.length > 1 ? choose(goal, setting) : undefined;
  if (!card) return [goal];
  const { used } = fillArguments(card, goal, knownTo(goal, setting));
  if (row.filter((mention) => used.includes(mention)).length !== 1) return [goal];
  return row.map((one) => ({
    ...goal,
    mentions: goal.mentions.filter((mention) => mention === one || !row.includes(mention)),
  }));
}

/** The longest run of like mentions with nothing but commas and small words between them. */
function rowOf({ mentions, text }: Goal): readonly Mention[] {
  let best: Mention[] = [];
  let run: Mention[] = [];
  for (const mention of mentions) {
    const last = run.at(-1);
    const joined = last && /^[\s,]*(?:\b(?:and|or|in|for|of)\b[\s,]*)*$/i.test(text.slice(last.end, mention.start));
    run = joined && last.kind === mention.kind && mention.kind !== 'number' ? [...run, mention] : [mention];
    if (run.length > best.length) best = run;
  }
  return best;
}

function serverOf(call: PastCall | undefined, tools: ToolIndex): string | undefined {
  return tools.cards.find(({ name }) => name === call?.name)?.server;
}

const MAX_CHAIN = 3;

/** A value is missing: ask a tool that only reads and that may know it; else ask the user. */
function chain(goal: Goal, card: ToolCard, field: Field, known: Known, setting: Setting): Step {
  const words = new Set([
    ...goal.contents.map(({ stem }) => stem),
    ...goal.mentions.flatMap(({ cues }) => cues.slice(0, 1)),
  ]);
  const found = findOut(goal, [card], field, known, setting, words);
  if (found) return found;
  // Ask for what the user has spoken of: the order, not the payment behind it.
  const spokenOf = (one: Field) => one.entity.some((word) => words.has(word));
  const wanted = helpersFor([card], field, goal, known, setting.tools, words)
    .filter(({ one }) => one.nouns.some((noun) => words.has(noun)))
    .flatMap(({ mine }) => mine.missing.filter(spokenOf));
  const options = optionsFor(field, goal, known);
  const asked = options.length > 1 || spokenOf(field) ? field : (wanted[0] ?? field);
  return { kind: 'ask', tool: card.name, field: asked, options: asked === field ? options : [] };
}

/** The call that may tell a field's value, or that tells what is needed for that call; undefined when there is none. */
function findOut(
  goal: Goal,
  path: readonly ToolCard[],
  field: Field,
  known: Known,
  setting: Setting,
  words: ReadonlySet<string>,
): Step | undefined {
  const helpers = helpersFor(path, field, goal, known, setting.tools, words);
  for (const { one, mine, worth } of helpers) {
    if (mine.missing.length > 0 || worth < 2) continue;
    const call = setting.calls.find(({ name, input }) => {
      return name === one.name && canonicalJson(input) === canonicalJson(mine.input);
    });
    if (!call) return { kind: 'call', call: planned(one, mine), together: false };
    if (call.answer.isError) return { kind: 'done', card: one, call, next: setting.calls.indexOf(call) + 1 };
  }
  if (path.length >= MAX_CHAIN) return undefined;
  for (const { one, mine, tells } of helpers) {
    const [missing] = mine.missing;
    const step = missing && tells ? findOut(goal, [...path, one], missing, known, setting, words) : undefined;
    if (step) return step;
  }
  return undefined;
}

interface HelpingTool {
  readonly one: ToolCard;
  readonly mine: Filled;
  /** It speaks of the thing whose id is missing. */
  readonly tells: boolean;
  readonly worth: number;
}

/** Tools that only read, those first that speak of what is missing and take what the user named. */
function helpersFor(
  path: readonly ToolCard[],
  field: Field,
  goal: Goal,
  known: Known,
  { cards }: ToolIndex,
  words: ReadonlySet<string>,
): HelpingTool[] {
  if (field.sort !== 'id') return [];
  return cards
    .filter((one) => one.effect === 'read' && !path.includes(one))
    .map((one) => {
      const mine = fillArguments(one, goal, known);
      const tells = field.entity.some((word) => one.descriptionWords.has(word) || one.nouns.includes(word));
      const takesAny = [...mine.sources.values()].some(({ from }) => from === 'conversation' || from === 'result');
      // Without a word of what is missing, only a near tool that takes the very thing that was named is worth a try.
      const near = one.server === path[0]?.server && one.nouns.some((noun) => words.has(noun));
      const takesIt = near && mine.used.some(({ kind }) => kind === 'id' || kind === 'email');
      const takes = takesIt ? 2 : takesAny ? 1 : 0;
      return { one, mine, tells, worth: takes + (tells ? 1 : 0) };
    })
    .sort((a, b) => b.worth - a.worth);
}
