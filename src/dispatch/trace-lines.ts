import type { CallOutcomeRecord, IntentRecord, Json, Outcome, RawJson, TraceEvent } from '../contracts/index.ts';
import { rawFrom, rawJson, sha256 } from '../tools/index.ts';
import { isTraceEvent } from './trace-shapes.ts';

/** Longest arguments or facts, as JSON text, that a trace keeps whole, in characters. */
const MOST_ARGS = 64_000;
/** Longest result that the line of a call keeps whole. The loop's own events keep results whole: they are resumed from. */
const MOST_RESULT = 256_000;
const HEAD = 1_000;

/**
 * One event as one line of JSON, without the newline. Raw JSON is written as `{"text": …}`: its text, as received.
 */
export function traceLine(event: TraceEvent): string {
  if (event.type === 'call') return JSON.stringify({ ...event, call: boundedCall(event.call) });
  if (event.type === 'decided') return JSON.stringify({ ...event, intent: boundedIntent(event.intent) });
  if (event.type === 'question') {
    const { request, answer } = event.question;
    const ends = answer === undefined ? {} : { answer: bounded(answer) };
    return JSON.stringify({ ...event, question: { ...event.question, request: bounded(request), ...ends } });
  }
  if (event.type === 'hook' && event.hook.answer !== undefined) {
    return JSON.stringify({ ...event, hook: { ...event.hook, answer: bounded(event.hook.answer) } });
  }
  return JSON.stringify(event);
}

function boundedIntent(intent: IntentRecord): IntentRecord {
  const facts = intent.facts === undefined ? {} : { facts: bounded(intent.facts) };
  return { ...intent, args: bounded(intent.args), ...facts };
}

function boundedCall(call: CallOutcomeRecord): CallOutcomeRecord {
  const facts = call.facts === undefined ? {} : { facts: bounded(call.facts) };
  return { ...call, args: bounded(call.args), ...facts, outcome: boundedOutcome(call.outcome) };
}

/** The value, or where it is too long a note of what stood there. */
function bounded(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= MOST_ARGS ? value : cutNote(text);
}

function cutNote(text: string): Json {
  return { 'bridle/cut': { characters: text.length, sha256: sha256(text), head: text.slice(0, HEAD) } };
}

/** `content` is made from `raw`, and isn't written a second time. */
function boundedOutcome(outcome: Outcome): Outcome {
  if (outcome.kind === 'ok') {
    const { content: _shaped, ...rest } = outcome;
    return { ...rest, raw: boundedRaw(rest.raw) };
  }
  if ('failure' in outcome && outcome.failure.partial) {
    return { ...outcome, failure: { ...outcome.failure, partial: boundedRaw(outcome.failure.partial) } };
  }
  return outcome;
}

function boundedRaw(raw: RawJson): RawJson {
  if (raw.text.length <= MOST_RESULT) return raw;
  const text = `${raw.text.length} characters, not kept in this trace`;
  return rawFrom({ content: [{ type: 'text', text }], _meta: cutNote(raw.text) });
}

/** Reads one line. `undefined` when it is torn, isn't an event, or is of a version that this code doesn't know. */
export function readTraceLine(line: string): TraceEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isTraceEvent(value) ? withRaw(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Gives raw JSON its `parse` back, where the types say that there is raw JSON. */
function withRaw(event: TraceEvent): TraceEvent {
  if (event.type === 'call') return { ...event, call: { ...event.call, outcome: outcomeWithRaw(event.call.outcome) } };
  if (event.type === 'outcome') return { ...event, outcome: outcomeWithRaw(event.outcome) };
  return event;
}

function outcomeWithRaw(outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'ok':
      return { ...outcome, raw: rawJson(outcome.raw.text) };
    case 'input_required':
      return { ...outcome, requests: rawJson(outcome.requests.text) };
    case 'failed':
    case 'cancelled': {
      const { partial } = outcome.failure;
      return partial ? { ...outcome, failure: { ...outcome.failure, partial: rawJson(partial.text) } } : outcome;
    }
    default:
      return outcome;
  }
}
