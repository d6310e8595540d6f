import type { Json } from '../../contracts/index.ts';
import { isSearchEntry } from '../../tools/index.ts';
import { isObject, list, type PastCall, readTurns, type Turn } from './conversation.ts';
import { answerFrom, type GivenDocument } from './documents.ts';
import { type Goal, readGoals } from './goals.ts';
import { findMentions } from './mentions.ts';
import { type Answer, nextStep, type PlannedCall, spread } from './next-step.ts';
import { FITS, rankTools, type ToolIndex, toolIndexer } from './rank.ts';
import { aboutItself, askFor, nothingDone, smallTalk, tooManyCalls } from './reply.ts';
import { type Finished, reportOn } from './report.ts';

/** What to do next. */
export type Plan =
  | { readonly kind: 'call'; readonly calls: readonly PlannedCall[] }
  | { readonly kind: 'ask'; readonly text: string; readonly about: Question }
  | { readonly kind: 'say'; readonly text: string };

/** Which goal waits for which field of which tool, and what that field is about. */
export interface Question {
  readonly goal: number;
  readonly tool: string;
  readonly field: string;
  readonly cues: readonly string[];
}

/** A request is read no further than this many characters: what is longer is a document, not a request. */
const MAX_REQUEST = 8000;

/** More calls than any chain needs: an end that doesn't depend on what tools answer. */
const MAX_CALLS = 16;

/**
 * Decides the next step from a Messages API request body alone: which calls to make, what to ask, or what to say. The
 * same request always gives the same plan.
 *
 * @param index reads the request's tools (see `toolIndexer`)
 */
export function plan(request: Json, index = toolIndexer()): Plan {
  const body = isObject(request) ? request : {};
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  const isUsable = (tool: Json) =>
    choice.type !== 'none' && (choice.type !== 'tool' || (isObject(tool) && tool.name === choice.name));
  const usable = list(body.tools).filter(isUsable);
  const search = usable.find(isSearchEntry);
  return planTurns(readTurns(body.messages), {
    ...index(usable.filter((tool) => tool !== search)),
    finder: search?.name,
  });
}

/** The request's tools, and the name of the one that finds more of them, which is none to do anything with. */
type Tools = ToolIndex & { readonly finder: string | undefined };

/** What is being worked on: the request, and the answers to what was asked about it. */
interface Task {
  readonly text: string;
  /** Given with the request. */
  readonly documents: readonly GivenDocument[];
  readonly calls: readonly PastCall[];
  readonly earlier: readonly PastCall[];
  readonly answers: readonly (Answer & Question)[];
}

/** How many questions in a row about one request are remembered. */
const MAX_QUESTIONS = 8;

function planTurns(turns: readonly Turn[], tools: Tools): Plan {
  let from = turns.length - 1;
  while (from > 0 && turns.length - from <= MAX_QUESTIONS && turns[from - 1]?.reply.trimEnd().endsWith('?')) from--;
  let task: Task | undefined;
  for (let at = Math.max(from, 0); at < turns.length; at++) {
    const turn = turns[at];
    if (!turn) break;
    // Deterministic, so the planner's own question can be recognised by asking it again.
    const asked = task && planTask(task, tools);
    const isAnswer = asked?.kind === 'ask' && asked.text === turns[at - 1]?.reply && !standsAlone(turn.text, tools);
    task = task && isAnswer ? answered(task, asked.about, turn) : fresh(turns, at, turn);
  }
  return task ? planTask(task, tools) : { kind: 'say', text: aboutItself(tools.cards) };
}

function fresh(turns: readonly Turn[], at: number, { text, documents, calls }: Turn): Task {
  const earlier = turns.slice(0, at).flatMap((turn) => turn.calls);
  return { text: text.slice(0, MAX_REQUEST), documents, calls, earlier, answers: [] };
}

/** The request that was asked about, joined by what the user answered. */
function answered(task: Task, about: Question, { text, calls }: Turn): Task {
  const answer = { ...about, text: text.slice(0, MAX_REQUEST) };
  return { ...task, calls: [...task.calls, ...calls], answers: [...task.answers, answer] };
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

function planTask({ calls: made, earlier, ...asked }: Task, tools: Tools): Plan {
  const isSearch = ({ name }: PastCall) => name === tools.finder;
  // What was searched for is no result to go by: what it found is among the tools.
  const task: Task = {
    ...asked,
    calls: made.filter((call) => !isSearch(call)),
    earlier: earlier.filter((call) => !isSearch(call)),
  };
  const talk = smallTalk(task.text, tools.cards);
  if (talk !== undefined) return { kind: 'say', text: talk };
  const spoken = goalsOf(task.text, tools);
  const telling = spoken.some(({ mood }) => mood !== 'statement')
    ? spoken.filter(({ mood }) => mood === 'statement')
    : [];
  const around = telling.flatMap(({ mentions }) => mentions);
  const start = { ...task, tools, around, calls: [], from: 0, answers: [] };
  const read = answerFrom(
    task.documents,
    spoken.filter((goal) => !telling.includes(goal)),
    task.text,
  );
  if (read !== undefined) return { kind: 'say', text: read };
  const goals = spoken.filter((goal) => !telling.includes(goal)).flatMap((goal) => spread(goal, start));
  const finished: Finished[] = [];
  const ready: PlannedCall[] = [];
  const unfit: Goal[] = [];
  let from = 0;
  let undone: readonly Goal[] = [];
  for (const [at, goal] of goals.entries()) {
    const previous = finished.at(-1);
    if (goal.showing && (previous || ready.length > 0)) {
      if (previous) finished[finished.length - 1] = { ...previous, showing: [...previous.showing, goal] };
      continue;
    }
    const answers = task.answers.filter((answer) => answer.goal === at);
    const whole = withAnswers(goal, goals.slice(0, at), answers);
    const step = nextStep(whole, { ...task, tools, around, from, answers });
    if (step.kind === 'unfit') {
      unfit.push(goal);
      continue;
    }
    if (step.kind === 'done') {
      finished.push({ goal, card: step.card, call: step.call, showing: [] });
      from = step.next;
      undone = step.call.answer.isError ? goals.slice(at + 1).filter(({ showing }) => !showing) : [];
      if (step.call.answer.isError) break;
      continue;
    }
    if (step.kind === 'ask') {
      if (ready.length > 0) break;
      const field = step.field.path.join('.');
      const report = finished.length > 0 ? `${reportOn(finished)}\n\n` : '';
      const about = { goal: at, tool: step.tool, field, cues: step.field.entity };
      return { kind: 'ask', text: `${report}${askFor(step.field, step.options)}`, about };
    }
    if (ready.length > 0 && (!step.together || goal.pronoun)) break;
    ready.push(step.call);
    if (!step.together) break;
  }
  const searches = searchesFor(unfit, made, tools.finder);
  if (searches.length > 0) return { kind: 'call', calls: searches };
  if (ready.length > 0 && task.calls.length < MAX_CALLS) return { kind: 'call', calls: ready };
  if (finished.length === 0)
    return { kind: 'say', text: ready.length > 0 ? tooManyCalls(MAX_CALLS) : nothingDone(task.text, tools.cards) };
  const rest = [
    ...unfit.map(({ text }) => `I found no tool for “${text}”.`),
    ...undone.map(({ text }) => `I did not go on to “${text}”.`),
    ...(ready.length > 0 ? [tooManyCalls(MAX_CALLS)] : []),
  ];
  return { kind: 'say', text: [reportOn(finished), ...rest].join('\n\n') };
}

/** For what no tool fits, one is searched for, once. */
function searchesFor(unfit: readonly Goal[], made: readonly PastCall[], finder: string | undefined): PlannedCall[] {
  if (finder === undefined) return [];
  const done = new Set(made.flatMap(({ name, input }) => (name === finder ? [input.query] : [])));
  const queries = unfit.filter(({ mood }) => mood !== 'statement').map(({ text }) => text);
  return [...new Set(queries)]
    .filter((query) => !done.has(query))
    .map((query) => ({
      name: finder,
      input: { query },
      sources: new Map([['/query', { from: 'conversation', text: query } as const]]),
    }));
}

/** The goal together with what was answered about it, and with what "it" stands for. */
function withAnswers(goal: Goal, before: readonly Goal[], answers: readonly (Answer & Question)[]): Goal {
  const said = answers.flatMap(({ text, cues }) => findMentions(text).map((mention) => ({ ...mention, cues })));
  const own = [...goal.mentions, ...said];
  const meant =
    own.length === 0 && goal.pronoun ? (before.findLast(({ mentions }) => mentions.length > 0)?.mentions ?? []) : [];
  return { ...goal, mentions: [...own, ...meant.slice(0, 1)] };
}
