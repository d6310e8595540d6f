/**
 * Rule of this file: calls of one reply don't depend on each other, unless the agent's rules for siblings say so. Only
 * these, a stop of the run, or a limit, keep a call from being run; whatever isn't run is answered, and the model told why.
 */
import type { CallOrigin, JsonObject, LoopEffect, LoopEvent, Outcome } from '../contracts/index.ts';
import { canonicalJson, outcomeToToolResult, rawFrom } from '../tools/index.ts';
import { answeredByTool } from './answer-tools.ts';
import { askedOf } from './ask-user.ts';
import type { TriedCall } from './events.ts';
import { finish, leave, type Next, still } from './finish.ts';
import { foundBy, leavesOutDeferred } from './found-tools.ts';
import { reached } from './limits.ts';
import { invalidInput, type PendingCall } from './reply.ts';
import { request } from './request.ts';
import {
  askedResult,
  emptyQuestionResult,
  invalidInputResult,
  notRunResult,
  strayMemberResult,
  toolsetResult,
} from './results.ts';
import { siblingReason, type Trouble, troubleOf } from './siblings.ts';
import type { Ending, LoopState, LoopTool } from './state.ts';
import { summary } from './summary.ts';
import { isStray, memberTool, notExecutedResult } from './toolsets.ts';
import { answerCall, unanswered } from './transcript.ts';
import { addStarted } from './usage.ts';

/** Answers what the loop can answer itself, and gives out the first of the rest. */
export function beginCalls(state: LoopState, at: number): Next {
  let now = state;
  let why: string | null = null;
  const todo: PendingCall[] = [];
  const left: PendingCall[] = [];
  /** Toolsets of which a member can't run: those after it don't either. */
  const stopped = new Set<string>();
  for (const meant of unanswered(state.transcript)) {
    const member = meant.toolset === undefined ? undefined : memberTool(state.tools, meant);
    // From here on a member goes by the name that rules and records know.
    const call = member === undefined ? meant : { ...meant, name: member.name };
    const refusal = refusalOf(state, call, member);
    if (why !== null) now = skipped(now, call, why);
    else if (call.toolset !== undefined && stopped.has(call.toolset)) now = notExecuted(now, call);
    else if (refusal !== null) {
      now = refused(now, call, refusal);
      if (call.toolset !== undefined) stopped.add(call.toolset);
      if (actOn(state, 'failed') !== 'go_on') why = siblingReason(call, 'failed');
    } else if (call.toolset === undefined && call.name === state.config.askTool) now = onQuestion(now, call);
    else if (state.calls + todo.length < state.config.limits.toolCalls) todo.push(call);
    else left.push(call);
  }
  if (left.length === 0) return goOn({ ...now, todo, waitingFor: 'calls' }, at);
  const { limit, message } = reached('toolCalls', state.config.limits.toolCalls);
  const stopping: Ending = { how: 'limit', reason: limit, message };
  now = leave({ ...now, todo, waitingFor: 'calls' }, left, stopping);
  return goOn({ ...now, stopping }, at);
}

/** The answer to a call that can't be given to anybody, or null. */
function refusalOf(state: LoopState, call: PendingCall, member: LoopTool | undefined): JsonObject | null {
  const badInput = invalidInput(call.input);
  if (badInput !== null) return invalidInputResult(call, badInput);
  if (call.toolset !== undefined) return member === undefined ? toolsetResult(call) : null;
  if (isStray(state.tools, call)) return strayMemberResult(call);
  return call.name === state.config.askTool && askedOf(call.input) === null ? emptyQuestionResult(call) : null;
}

function actOn({ config }: LoopState, trouble: Trouble) {
  return config.siblings?.[trouble] ?? 'go_on';
}

function onQuestion(state: LoopState, call: PendingCall): LoopState {
  const asked = askedOf(call.input);
  if (asked === null) return state;
  const now = answered(state, call, askedResult(call), { outcome: 'ok' });
  if (now.question === null) return { ...now, question: asked.question, options: asked.options };
  // Options of one question say nothing about another.
  return { ...now, question: `${now.question}\n${asked.question}`, options: [] };
}

/** Calls of tools that run side by side do so where they stand together; any other runs alone. The next begin when these are back. */
function goOn(state: LoopState, at: number): Next {
  if (state.running.length > 0) return still(state);
  const [first] = state.todo;
  if (first === undefined) return afterCalls(state, at);
  const together = (call: PendingCall) =>
    call.toolset === undefined && state.tools.some((tool) => tool.name === call.name && isSideBySide(tool));
  let many = 1;
  if (together(first)) {
    const other = state.todo.findIndex((call) => !together(call));
    many = Math.min(other === -1 ? state.todo.length : other, Math.max(1, state.config.parallel));
  }
  const running = state.todo.slice(0, many);
  return {
    state: { ...state, running, todo: state.todo.slice(many), calls: state.calls + running.length },
    effects: running.map(({ id, name, input, ...call }) => ({
      type: 'call',
      callId: id,
      name,
      args: rawFrom(input),
      ...originOf(call),
    })),
  };
}

function isSideBySide({ effect, sideBySide }: LoopTool): boolean {
  return sideBySide ?? effect === 'read';
}

function originOf({ toolset, caller }: CallOrigin): CallOrigin {
  return { ...(toolset !== undefined && { toolset }), ...(caller !== undefined && { caller }) };
}

/** A call came back. */
export function onOutcome(state: LoopState, event: Extract<LoopEvent, { readonly type: 'outcome' }>): Next {
  const call = state.running.find((each) => each.id === event.callId);
  if (call === undefined) return still(state);
  const { outcome } = event;
  const told = summary(outcome);
  const search = foundBy(state, call, outcome);
  let now = answered(state, call, search?.result ?? outcomeToToolResult(call.id, outcome), told);
  if (search !== null && leavesOutDeferred(state.config)) now = { ...now, found: [...now.found, ...search.names] };
  now = { ...now, running: now.running.filter((each) => each.id !== call.id) };
  if ('run' in outcome && outcome.run) {
    const { usage, parked } = outcome.run;
    now = { ...now, usage: addStarted(now.usage, usage), parked: [...now.parked, ...parked] };
  }
  if (outcome.kind === 'parked') {
    const parked = { callId: call.id, name: call.name, approval: outcome.approval };
    now = { ...now, parked: [...now.parked, parked] };
  }
  now = isFailure(outcome) ? countFailure(now, call) : forgetFailures(now, call);
  const trouble = troubleOf(outcome);
  if (call.toolset !== undefined && (trouble !== null || outcome.kind === 'cancelled')) {
    now = dropMembers(now, call.toolset);
  }
  const act = trouble === null ? 'go_on' : actOn(state, trouble);
  if (trouble === null || act === 'go_on') return goOn(now, event.at);
  const why = siblingReason(call, trouble);
  const next = goOn({ ...now.todo.reduce((kept, each) => skipped(kept, each, why), now), todo: [] }, event.at);
  if (act === 'skip') return next;
  const cancels = now.running.map(({ id }): LoopEffect => ({ type: 'cancel', callId: id, reason: why }));
  return { ...next, effects: [...cancels, ...next.effects] };
}

/** Answered as not run, as another call of the reply went wrong. It has not failed itself. */
function skipped(state: LoopState, call: PendingCall, why: string): LoopState {
  const result = notRunResult(call, why, 'Call it again if it is still wanted.');
  return answered(state, call, result, { outcome: 'not_run', detail: why });
}

/** What would have acted on what the member that went wrong was to bring about. */
function dropMembers(state: LoopState, toolset: string): LoopState {
  const dropped = state.todo.filter((call) => call.toolset === toolset);
  const todo = state.todo.filter((call) => call.toolset !== toolset);
  return dropped.reduce(notExecuted, { ...state, todo });
}

function notExecuted(state: LoopState, call: PendingCall): LoopState {
  const why = 'an earlier action of the same toolset failed';
  return answered(state, call, notExecutedResult(call), { outcome: 'not_run', detail: why });
}

/** Once a reply, however often it holds the call: only a model that saw it fail repeats it. */
function countFailure(state: LoopState, call: PendingCall): LoopState {
  const key = keyOf(call);
  if (state.failedNow.has(key)) return state;
  return {
    ...state,
    failures: new Map(state.failures).set(key, (state.failures.get(key) ?? 0) + 1),
    failedNow: new Set(state.failedNow).add(key),
  };
}

function forgetFailures(state: LoopState, call: PendingCall): LoopState {
  const key = keyOf(call);
  if (!state.failures.has(key)) return state;
  const failures = new Map(state.failures);
  failures.delete(key);
  return { ...state, failures };
}

function keyOf(call: PendingCall): string {
  return canonicalJson([call.name, call.input]);
}

function isFailure(outcome: Outcome): boolean {
  return outcome.kind === 'ok' ? outcome.isError : outcome.kind !== 'parked' && outcome.kind !== 'cancelled';
}

/** Every call of the reply has its answer. */
function afterCalls(state: LoopState, at: number): Next {
  const repeats = state.config.limits.identicalFailures;
  const stuck = [...state.failedNow].some((key) => (state.failures.get(key) ?? 0) >= repeats);
  const now = { ...state, failedNow: new Set<string>() };
  if (state.stopping !== null) return finish(now, state.stopping);
  const answer = answeredByTool(now);
  if (answer !== null) return finish(now, answer);
  if (stuck) {
    const { limit, message } = reached('identicalFailures', repeats);
    return finish(now, { how: 'limit', reason: limit, message });
  }
  const { denials } = state.config.limits;
  if (Number.isFinite(denials) && state.tried.filter(({ category }) => category === 'permission').length >= denials) {
    const { limit, message } = reached('denials', denials);
    return finish(now, { how: 'limit', reason: limit, message });
  }
  if (state.question !== null) return finish(now, { how: 'asked', reason: 'ask_user', message: '' });
  return request(now, at);
}

/** Answered by the loop as a call that can't be run. */
function refused(state: LoopState, call: PendingCall, result: JsonObject): LoopState {
  return countFailure(answered(state, call, result, { outcome: 'invalid', category: 'validation' }), call);
}

function answered(
  state: LoopState,
  call: PendingCall,
  result: JsonObject,
  told: Omit<TriedCall, 'callId' | 'name' | 'args'>,
): LoopState {
  if (state.transcript.state !== 'open') return state;
  const tried: TriedCall = { callId: call.id, name: call.name, args: call.input, ...told };
  const echoed = call.toolset === undefined ? result : { ...result, toolset_name: call.toolset };
  return { ...state, transcript: answerCall(state.transcript, call.id, echoed), tried: [...state.tried, tried] };
}
