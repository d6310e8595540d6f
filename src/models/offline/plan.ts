import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson } from '../../tools/index.ts';
import { type Filled, fillArguments, type Known } from './arguments.ts';
import type { Source } from './candidates.ts';
import { isObject, type PastCall, readTurns, type Turn } from './conversation.ts';
import { callsAbout, factsOf } from './facts.ts';
import { sortOf } from './field-sort.ts';
import { type Goal, readGoals } from './goals.ts';
import { findMentions } from './mentions.ts';
import { FITS, indexTools, rankTools, type ToolIndex } from './rank.ts';
import { aboutItself, askFor, nothingFits, smallTalk } from './reply.ts';
import { type Finished, reportOn } from './report.ts';
import { type Field, readCards, type ToolCard } from './tool-card.ts';

export interface PlannedCall {
  readonly name: string;
  readonly input: JsonObject;
  /** Of every value in the input, by JSON Pointer. */
  readonly sources: ReadonlyMap<string, Source>;
}

/** What to do next. */
export type Plan =
  | { readonly kind: 'call'; readonly calls: readonly PlannedCall[] }
  | { readonly kind: 'ask'; readonly text: string; readonly goal: number; readonly field: string }
  | { readonly kind: 'say'; readonly text: string };

/** More calls than any chain needs: an end that doesn't depend on what tools answer. */
const MAX_CALLS = 16;

/**
 * Decides the next step from a Messages API request body alone: which calls to make, what to ask, or what to say.
 * Pure: the same request gives the same plan.
 */
export function plan(request: Json): Plan {
  const body = isObject(request) ? request : {};
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  const all = readCards(body.tools);
  const usable =
    choice.type === 'none' ? [] : choice.type === 'tool' ? all.filter(({ name }) => name === choice.name) : all;
  return planTurns(readTurns(body.messages), indexTools(usable));
}

/** What is being worked on: the request, and the answers to what was asked about it. */
interface Task {
  readonly text: string;
  readonly calls: readonly PastCall[];
  readonly earlier: readonly PastCall[];
  readonly answers: readonly { readonly goal: number; readonly field: string; readonly text: string }[];
}

function planTurns(turns: readonly Turn[], tools: ToolIndex): Plan {
  const task = taskOf(turns, tools);
  if (!task) return { kind: 'say', text: aboutItself(tools.cards) };
  const talk = smallTalk(task.text, tools.cards);
  if (talk !== undefined) return { kind: 'say', text: talk };
  return planTask(task, tools);
}

/** The last turn, joined to the request that it answers a question about. */
function taskOf(turns: readonly Turn[], tools: ToolIndex): Task | undefined {
  const last = turns.at(-1);
  if (!last) return undefined;
  const before = turns.slice(0, -1);
  const fresh: Task = {
    text: last.text,
    calls: last.calls,
    earlier: before.flatMap(({ calls }) => calls),
    answers: [],
  };
  const previous = before.at(-1);
  if (!previous?.reply.trimEnd().endsWith('?')) return fresh;
  // Deterministic, so the question can be recognised by asking it again.
  const asked = planTurns(before, tools);
  const open = taskOf(before, tools);
  if (asked.kind !== 'ask' || asked.text !== previous.reply || !open || standsAlone(last.text, tools)) return fresh;
  return {
    text: open.text,
    calls: [...open.calls, ...last.calls],
    earlier: open.earlier,
    answers: [...open.answers, { goal: asked.goal, field: asked.field, text: last.text }],
  };
}

/** An answer that is a request of its own is taken as one. */
function standsAlone(text: string, tools: ToolIndex): boolean {
  if (/^\s*(?:no|never ?mind|stop|cancel|forget it)\b/i.test(text)) return true;
  return goalsOf(text, tools).some((goal) => {
    if (goal.mood === 'statement') return false;
    const best = rankTools(goal, tools)[0];
    return best !== undefined && best.score >= FITS;
  });
}

function goalsOf(text: string, tools: ToolIndex): Goal[] {
  const verbs = new Set(tools.cards.flatMap(({ verbs }) => verbs[0] ?? []));
  return readGoals(text, (word) => verbs.has(word));
}

function planTask(task: Task, tools: ToolIndex): Plan {
  const spoken = goalsOf(task.text, tools);
  const telling = spoken.some(({ mood }) => mood !== 'statement')
    ? spoken.filter(({ mood }) => mood === 'statement')
    : [];
  const goals = spoken.filter((goal) => !telling.includes(goal));
  const around = telling.flatMap(({ mentions }) => mentions);
  const finished: Finished[] = [];
  const ready: PlannedCall[] = [];
  const unfit: Goal[] = [];
  let from = 0;
  for (const [at, goal] of goals.entries()) {
    const previous = finished.at(-1);
    if (goal.showing && (previous || ready.length > 0)) {
      if (previous) finished[finished.length - 1] = { ...previous, showing: [...previous.showing, goal] };
      continue;
    }
    const answers = task.answers.filter((answer) => answer.goal === at);
    const whole = withAnswers(
      goal,
      goals.slice(0, at),
      answers.map(({ text }) => text),
    );
    const step = nextStep(whole, { task, tools, around, from, answer: answers.at(-1) });
    if (step.kind === 'unfit') {
      unfit.push(goal);
      continue;
    }
    if (step.kind === 'done') {
      finished.push({ goal, card: step.card, call: step.call, showing: [] });
      from = step.next;
      if (step.call.answer.isError) break;
      continue;
    }
    if (step.kind === 'ask') {
      if (ready.length > 0) break;
      const field = step.field.path.join('.');
      const report = finished.length > 0 ? `${reportOn(finished)}\n\n` : '';
      return { kind: 'ask', text: `${report}${askFor(step.field)}`, goal: at, field };
    }
    if (ready.length > 0 && (!step.alone || goal.pronoun)) break;
    ready.push(step.call);
    if (!step.alone) break;
  }
  if (ready.length > 0 && task.calls.length < MAX_CALLS) return { kind: 'call', calls: ready };
  if (finished.length === 0) return { kind: 'say', text: nothingFits(tools.cards) };
  const rest = unfit.map(({ text }) => `I found no tool for “${text}”.`);
  return { kind: 'say', text: [reportOn(finished), ...rest].join('\n\n') };
}

/** The goal together with what was answered about it, and with what "it" stands for. */
function withAnswers(goal: Goal, before: readonly Goal[], answers: readonly string[]): Goal {
  const said = answers.flatMap((text) => findMentions(text).map((mention) => ({ ...mention, cues: [] })));
  const own = [...goal.mentions, ...said];
  const meant =
    own.length === 0 && goal.pronoun ? (before.findLast(({ mentions }) => mentions.length > 0)?.mentions ?? []) : [];
  return { ...goal, mentions: [...own, ...meant.slice(0, 1)] };
}

interface Setting {
  readonly task: Task;
  readonly tools: ToolIndex;
  readonly around: Known['around'];
  /** Calls before this one belong to goals that are done. */
  readonly from: number;
  readonly answer: { readonly field: string; readonly text: string } | undefined;
}

type Step =
  | { readonly kind: 'unfit' }
  | { readonly kind: 'ask'; readonly field: Field }
  | { readonly kind: 'done'; readonly card: ToolCard; readonly call: PastCall; readonly next: number }
  /** `alone`: others may be called in the same turn. */
  | { readonly kind: 'call'; readonly call: PlannedCall; readonly alone: boolean };

function nextStep(goal: Goal, setting: Setting): Step {
  const known = knownTo(goal, setting);
  const choice = choose(goal, setting.tools, known);
  if (!choice) return { kind: 'unfit' };
  const { card, filled } = choice;
  const { calls } = setting.task;
  const at = calls.findIndex(({ name }, index) => index >= setting.from && name === card.name);
  const call = calls[at];
  if (call) return { kind: 'done', card, call, next: at + 1 };
  if (filled.missing.length === 0) {
    return { kind: 'call', call: planned(card, filled), alone: card.effect === 'read' };
  }
  return chain(goal, card, filled, known, setting);
}

/** Results that may fill this goal's calls: those about the values it names, else those of the same request. */
function knownTo(goal: Goal, { task, around, answer }: Setting): Known {
  const named = new Set([...goal.mentions, ...around].filter(({ kind }) => kind === 'id').map(({ text }) => text));
  const recent = goal.pronoun ? [...task.earlier.slice(-4), ...task.calls] : task.calls;
  const calls = named.size > 0 ? callsAbout([...task.earlier, ...task.calls], named) : recent;
  return { around, facts: calls.flatMap(factsOf), ...(answer && { answer }) };
}

function planned(card: ToolCard, filled: Filled): PlannedCall {
  return { name: card.name, input: filled.input, sources: filled.sources };
}

/** The best tool, judged by what was asked and by whether what was said is what it needs. */
function choose(goal: Goal, tools: ToolIndex, known: Known): { card: ToolCard; filled: Filled } | undefined {
  let best: { card: ToolCard; filled: Filled; score: number } | undefined;
  for (const { card, score } of rankTools(goal, tools).slice(0, 25)) {
    const filled = fillArguments(card, goal, known);
    const given = goal.mentions.length;
    const used = filled.used.filter((mention) => goal.mentions.includes(mention)).length;
    const needed = card.fields.filter(({ required }) => required).length;
    const complete = needed === 0 ? 1 : 1 - filled.missing.length / needed;
    const chainable = filled.missing.some((field) => sortOf(field) === 'id');
    const fit = 0.2 * complete + (given === 0 ? 0 : 0.25 * (used / given) - (chainable ? 0 : 0.12));
    // With no noun to go by, only the values can tell that the tool is meant.
    if (goal.contents.every(({ weight }) => weight < 1) && (filled.missing.length > 0 || used === 0)) continue;
    const total = score + fit - 0.1;
    if (score >= FITS - 0.1 && total >= FITS && (!best || total > best.score + 1e-9))
      best = { card, filled, score: total };
  }
  return best;
}

/** A value is missing: ask a tool that only reads and that may know it; else ask the user. */
function chain(goal: Goal, card: ToolCard, filled: Filled, known: Known, { task, tools }: Setting): Step {
  const [field] = filled.missing;
  if (!field) return { kind: 'unfit' };
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
  const tried = new Map(task.calls.map((call) => [`${call.name} ${canonicalJson(call.input)}`, call]));
  const able = helpers
    .filter(({ mine, worth }) => mine.missing.length === 0 && worth >= 2)
    .sort((a, b) => b.worth - a.worth);
  for (const { one, mine } of able) {
    const call = tried.get(`${one.name} ${canonicalJson(mine.input)}`);
    if (!call) return { kind: 'call', call: planned(one, mine), alone: false };
    if (call.answer.isError) return { kind: 'done', card: one, call, next: task.calls.indexOf(call) + 1 };
  }
  // Ask for what the user has spoken of: the order, not the payment behind it.
  const wanted = helpers.flatMap(({ one, mine }) =>
    one.nouns.some((noun) => words.has(noun))
      ? mine.missing.filter(({ entity }) => entity.some((word) => words.has(word)))
      : [],
  );
  return { kind: 'ask', field: (field.entity.some((word) => words.has(word)) ? undefined : wanted[0]) ?? field };
}
