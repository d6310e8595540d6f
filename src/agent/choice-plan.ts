/**
 * Rule of this file: what a developer wishes the model to choose becomes, once at the start of a run, what is sent turn by
 * turn. A wish that can't be sent is not dropped: it is put in words, and said.
 */
import type { JsonObject, Model, Reason } from '../contracts/index.ts';
import { modelTraits } from '../models/index.ts';
import { BridleError } from '../tools/index.ts';
import { isObject } from './blocks.ts';
import type { LoopTool } from './state.ts';

/** Messages API `tool_choice`. */
export type ToolChoice =
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'none' };

/** One turn's choice; the words stand for the type alone. */
export type TurnToolChoice = ToolChoice | 'auto' | 'any' | 'none';

/** "First this, then free": what the model may choose, turn by turn. */
export interface ToolChoicePlan {
  /** Of the first turn, or a list with one for each of the first turns. */
  readonly first?: TurnToolChoice | readonly TurnToolChoice[];
  /** Of every turn after those. It can't force a call, since the run would never end. Default `auto`. */
  readonly after?: TurnToolChoice;
  /** Of the last turn that `limits.turns` allows: the model answers with what it has, and calls nothing that won't run. */
  readonly last?: 'none';
}

/** What one turn gets: all of it is JSON, and stands in the journal. */
interface TurnChoice {
  /** Absent: the model's own default, which is `auto`. */
  readonly tool_choice?: JsonObject;
  /** What the model is told in its place. */
  readonly instruction?: string;
}

/** A plan as the loop goes by it. */
export interface ChoicePlan {
  readonly first: readonly TurnChoice[];
  readonly after: TurnChoice;
  readonly last?: TurnChoice;
}

export interface PlannedChoice {
  readonly plan?: ChoicePlan;
  /** What is otherwise than it was wished. */
  readonly notices: readonly Reason[];
}

const PLAN_FORM = "toolChoice: { first: …, after: 'auto' }";

/** The choices of a wish, whole. */
function choicesOf(wish: TurnToolChoice | ToolChoicePlan): {
  readonly first: readonly ToolChoice[];
  readonly after: ToolChoice;
  readonly last?: ToolChoice;
} {
  if (!isPlan(wish)) return { first: [], after: whole(wish) };
  const { first = [], after = 'auto', last } = wish;
  return {
    first: (Array.isArray(first) ? first : [first]).map(whole),
    after: whole(after),
    ...(last !== undefined && { last: whole(last) }),
  };
}

function isPlan(wish: TurnToolChoice | ToolChoicePlan): wish is ToolChoicePlan {
  return typeof wish === 'object' && !('type' in wish);
}

function whole(choice: TurnToolChoice): ToolChoice {
  return typeof choice === 'string' ? { type: choice } : choice;
}

function isForced(choice: ToolChoice): boolean {
  return choice.type === 'any' || choice.type === 'tool';
}

/** The tools that a wish names. */
export function namedIn(wish: TurnToolChoice | ToolChoicePlan | undefined): readonly string[] {
  if (typeof wish !== 'object' || wish === null) return [];
  const { first, after, last } = choicesOf(wish);
  const all: readonly (ToolChoice | undefined)[] = [...first, after, last];
  return all.flatMap((choice) => (choice?.type === 'tool' ? [choice.name] : []));
}

/**
 * @param turns most replies of the run
 * @throws BridleError `tool_choice_invalid`, `tool_choice_unknown`, `tool_choice_never_ends`
 */
export function checkToolChoice(
  wish: TurnToolChoice | ToolChoicePlan | undefined,
  tools: readonly LoopTool[],
  turns: number,
): void {
  if (wish === undefined) return;
  const { first, after, last } = choicesOf(wish);
  for (const choice of [...first, after, ...(last === undefined ? [] : [last])]) checkOne(choice, tools);
  if (!isForced(after) || (first.length + 1 >= turns && last === undefined)) return;
  throw neverEnds(`toolChoice forces a call of ${wordsOf(after)} on every turn`);
}

/** @param what forces it, as the beginning of a sentence */
function neverEnds(what: string): BridleError {
  return new BridleError('tool_choice_never_ends', `${what}, so the run would never end.`, {
    hint: `Force it for a turn and then let the model choose: ${PLAN_FORM}.`,
  });
}

function checkOne(choice: ToolChoice, tools: readonly LoopTool[]): void {
  const known = typeof choice === 'object' && choice !== null && ['auto', 'any', 'tool', 'none'].includes(choice.type);
  if (!known) {
    throw new BridleError('tool_choice_invalid', `toolChoice holds ${JSON.stringify(choice)}, which is no choice.`, {
      hint: `It is 'auto', 'any', 'none', { type: 'tool', name: '…' }, or a plan of these: ${PLAN_FORM}.`,
    });
  }
  // The API takes no choice of a toolset, or of a member of one.
  const nameable = tools.filter(({ toolset }) => toolset === undefined);
  if (choice.type !== 'tool' || nameable.some((tool) => tool.name === choice.name)) return;
  throw new BridleError('tool_choice_unknown', `toolChoice names "${choice.name}", which this agent doesn't have.`, {
    hint: `Name one of: ${nameable.map((tool) => tool.name).join(', ') || '(it has no tools)'}.`,
  });
}

/** Why this model takes no `tool_choice` that forces a call; null when it does, or nothing is known against it. */
export function whyNotForced(model: Model): string | null {
  if (model.cannotForce !== undefined) return model.cannotForce;
  return modelTraits(model.id)?.forcing === false ? `${model.id} refuses a forced call` : null;
}

/**
 * A wish as what is sent, turn by turn.
 *
 * @param noForce why no call can be forced; null when one can
 * @param noParallel no turn may call more than one tool
 * @param turns most replies of the run
 */
export function planChoice(
  wish: TurnToolChoice | ToolChoicePlan | undefined,
  tools: readonly LoopTool[],
  {
    noForce,
    noParallel,
    turns,
  }: { readonly noForce: string | null; readonly noParallel: boolean; readonly turns: number },
): PlannedChoice {
  if (wish === undefined && !noParallel) return { notices: [] };
  const { first, after, last } = choicesOf(wish ?? 'auto');
  const notices: Reason[] = [];
  const turn = (wished: ToolChoice, at: string): TurnChoice => {
    const choice = noParallel && wished.type !== 'none' ? { ...wished, disable_parallel_tool_use: true } : wished;
    const why = isForced(choice) ? (noForce ?? whyNotNamed(choice, tools)) : null;
    if (why === null) return { tool_choice: { ...choice } };
    const text =
      `toolChoice wants a call of ${wordsOf(choice)} ${at}, but ${why}: the model is asked for it in words, and may ` +
      'answer without a call.';
    notices.push({ room: 'agent', code: 'tool_choice_in_words', text });
    const single = choice.type !== 'none' && choice.disable_parallel_tool_use === true;
    return {
      tool_choice: { type: 'auto', ...(single && { disable_parallel_tool_use: true }) },
      instruction: instructionOf(choice),
    };
  };
  const steps = first
    .slice(0, last === undefined ? turns : turns - 1)
    .map((choice, at) => turn(choice, `on turn ${at + 1}`));
  const rest = turn(after, first.length > 0 ? 'on the turns after' : 'on every turn');
  return {
    plan: {
      first: steps,
      after: isDefault(rest) ? {} : rest,
      ...(last !== undefined && { last: { tool_choice: { ...last } } }),
    },
    notices,
  };
}

/** The default needn't be sent: a choice that comes and goes is a change, though it says the same. */
function isDefault({ tool_choice, instruction }: TurnChoice): boolean {
  return instruction === undefined && tool_choice?.type === 'auto' && Object.keys(tool_choice).length === 1;
}

/** Why the API takes no `tool_choice` of that name, for a tool that the agent has. */
function whyNotNamed(choice: ToolChoice, tools: readonly LoopTool[]): string | null {
  if (choice.type !== 'tool') return null;
  const entry = tools.find(({ name }) => name === choice.name)?.entry;
  if (!isObject(entry) || entry.name !== choice.name) return 'a member of a toolset can be forced by no name';
  const callers = entry.allowed_callers;
  return Array.isArray(callers) && !callers.includes('direct') ? "the tool's allowedCallers lack 'direct'" : null;
}

function wordsOf(choice: ToolChoice): string {
  return choice.type === 'tool' ? `"${choice.name}"` : 'any tool';
}

function instructionOf(choice: ToolChoice): string {
  return choice.type === 'tool'
    ? `Call the tool ${choice.name} before you answer.`
    : 'Call at least one of your tools before you answer.';
}
