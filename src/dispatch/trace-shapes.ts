import type { TraceEvent } from '../contracts/index.ts';
import { isDecision } from './is-decision.ts';

interface Members {
  readonly [name: string]: unknown;
}

/** The last moment that a date can be (ECMA-262, time values). */
const LAST_TIME = 8.64e15;

/** What each type of event promises, as far as its readers rely on it. Files are edited, and sent by others. */
const SHAPES: Readonly<Record<TraceEvent['type'], (event: Members) => boolean>> = {
  run: (event) =>
    hasTexts(event, 'run', 'agent', 'model', 'task') &&
    (event.project === undefined || typeof event.project === 'string'),
  begin: (event) => hasTexts(event, 'conversation', 'model') && isObject(event.config),
  resume: ({ idleMs, again }) =>
    typeof idleMs === 'number' && Array.isArray(again) && again.every((id) => typeof id === 'string'),
  input: ({ content }) => content !== undefined,
  model: (event) => hasTexts(event, 'stopReason') && event.message !== undefined,
  intent: (event) => hasTexts(event, 'callId', 'name') && event.args !== undefined,
  outcome: (event) => hasTexts(event, 'callId') && isOutcome(event.outcome),
  decided: ({ intent }) => isObject(intent) && hasTexts(intent, 'callId') && isDecision(intent.decision),
  question: ({ question }) =>
    isObject(question) && hasTexts(question, 'callId', 'tool') && question.request !== undefined,
  hook: ({ hook }) => isObject(hook) && hasTexts(hook, 'conversation', 'event', 'hook'),
  call: ({ call }) => isObject(call) && isCall(call),
  checked: ({ issues }) => Array.isArray(issues),
  limit: ({ detail }) => detail !== undefined,
  abort: ({ detail }) => detail !== undefined,
  edit: ({ detail }) => detail !== undefined,
  end: (event) => hasTexts(event, 'how'),
};

export function isTraceEvent(value: unknown): value is TraceEvent {
  if (!isObject(value) || value.v !== 1 || typeof value.at !== 'number' || Math.abs(value.at) > LAST_TIME) return false;
  const { type } = value;
  return typeof type === 'string' && Object.hasOwn(SHAPES, type) && SHAPES[type as TraceEvent['type']](value);
}

function isCall(call: Members): boolean {
  const { asked, decision, ms, outcome } = call;
  return (
    hasTexts(call, 'callId', 'name') &&
    typeof ms === 'number' &&
    (asked === undefined || (isObject(asked) && hasTexts(asked, asked.answer === 'parked' ? 'approval' : 'by'))) &&
    (decision === undefined || (isDecision(decision) && decision.reasons.every(isReason))) &&
    isOutcome(outcome)
  );
}

function isOutcome(outcome: unknown): boolean {
  if (!isObject(outcome) || !(outcome.run === undefined || isStartedRun(outcome.run))) return false;
  switch (outcome.kind) {
    case 'ok':
      return isObject(outcome.raw) && hasTexts(outcome.raw, 'text');
    case 'input_required':
      return isObject(outcome.requests) && hasTexts(outcome.requests, 'text');
    case 'unknown_tool':
    case 'invalid':
    case 'denied':
      return Array.isArray(outcome.reasons) && outcome.reasons.every(isReason);
    case 'parked':
      return hasTexts(outcome, 'approval');
    case 'failed':
    case 'cancelled':
      return isFailure(outcome.failure);
    default:
      return false;
  }
}

function isStartedRun(run: unknown): boolean {
  if (!isObject(run) || !hasTexts(run, 'agent', 'conversation') || !isObject(run.usage)) return false;
  const { labels, parked, usage } = run;
  const { inputTokens, outputTokens, costUsd } = usage;
  return (
    Array.isArray(labels) &&
    labels.every((label) => typeof label === 'string') &&
    Array.isArray(parked) &&
    parked.every((call) => isObject(call) && hasTexts(call, 'callId', 'name', 'approval')) &&
    [inputTokens, outputTokens, costUsd ?? 0].every((count) => typeof count === 'number')
  );
}

function isFailure(failure: unknown): boolean {
  if (!isObject(failure) || !hasTexts(failure, 'message')) return false;
  return failure.partial === undefined || (isObject(failure.partial) && hasTexts(failure.partial, 'text'));
}

function isReason(reason: unknown): boolean {
  return isObject(reason) && hasTexts(reason, 'text');
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

function hasTexts(members: Members, ...names: readonly string[]): boolean {
  return names.every((name) => typeof members[name] === 'string');
}
