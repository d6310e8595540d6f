import type { CallContext, Json, JsonObject, Outcome, RawJson } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { askHost } from './ask-host.ts';
import type { Call, Path, Permitted } from './call-path.ts';
import { cancelled, errorText, failed } from './outcomes.ts';
import { backoffMs } from './retry.ts';
import { withinLimits } from './within-limits.ts';

/** What the second leg of an `input_required` exchange carries. */
export type InputAnswers = NonNullable<CallContext['answers']>;

/** Most times that one call may ask for input. */
const MOST_ROUNDS = 8;
/** Most questions of one round; more isn't something that a person answers in the middle of a call. */
const MOST_REQUESTS = 20;

interface Legs {
  /** Hands the call to its source, with these answers. */
  leg(answers: InputAnswers | undefined): Promise<Outcome>;
  /** Told how long the host was waited for, in milliseconds. */
  onWaited(ms: number): void;
}

/**
 * Runs a call to an end that isn't a question (MCP 2026-07-28, Multi Round-Trip Requests): what an `input_required`
 * result asks for is put to the host, and the call made again with the answers and with the state as received. It stays
 * one call, with one id, one decision and one record. Where the host takes no requests, the question is the outcome.
 */
export async function answered(path: Path, call: Call, permit: Permitted, legs: Legs): Promise<Outcome> {
  let outcome = await legs.leg(call.ctx.answers);
  if (call.request.profile !== 'agent' || !call.ctx.input) return outcome;
  for (let round = 1; outcome.kind === 'input_required'; round += 1) {
    if (round > MOST_ROUNDS) return notAnswered(`it asked more than ${MOST_ROUNDS} times`);
    const { requests, state } = outcome;
    if (state === undefined && isEmpty(requests)) return notAnswered('it asked for nothing');
    const startedAt = path.clock.now();
    const run = await withinLimits((scope) => collect(path, call, permit, { requests, round, signal: scope.signal }), {
      signal: call.signal,
      clock: path.clock,
    });
    legs.onWaited(path.clock.now() - startedAt);
    switch (run.end) {
      case 'settled':
        outcome = await legs.leg({ responses: run.value, ...(state !== undefined && { state }) });
        break;
      case 'threw':
        return notAnswered(errorText(run.error));
      case 'limit':
        return notAnswered(`no answer within ${run.ms} ms`);
      case 'cancelled':
        return cancelled(call.signal, 'unknown');
    }
  }
  return outcome;
}

/** One after another: they are questions to one person. Each answer stands under the key of its request. */
async function collect(
  path: Path,
  call: Call,
  permit: Permitted,
  { requests, round, signal }: { readonly requests: RawJson; readonly round: number; readonly signal: AbortSignal },
): Promise<JsonObject> {
  const entries = requestsOf(requests);
  if (entries === null) throw new Error('its questions are no object');
  // A state alone says: come back with it, but not at once.
  if (entries.length === 0) await new Promise<void>((resolve) => void path.clock.after(backoffMs(round), resolve));
  if (entries.length > MOST_REQUESTS) throw new Error(`it asked ${entries.length} questions at once`);
  const { server, tool } = permit.tool.ref;
  const answers: [string, Json][] = [];
  for (const [key, request] of entries) {
    signal.throwIfAborted();
    const answer = await askHost(path, call, rawFrom(request), { callId: call.ctx.callId, server, tool, signal });
    answers.push([key, answer ?? null]);
  }
  return Object.fromEntries(answers);
}

function requestsOf(requests: RawJson): [string, Json][] | null {
  const asked = requests.parse();
  return typeof asked === 'object' && asked !== null && !Array.isArray(asked) ? Object.entries(asked) : null;
}

/** Without a question and without a state the next leg would be the same call once more. */
function isEmpty(requests: RawJson): boolean {
  return requestsOf(requests)?.length === 0;
}

function notAnswered(why: string): Outcome {
  const text = `The tool asked for more input and did not get it: ${why}. Call it again only with everything it needs.`;
  return failed(text, 'unknown', { category: 'business' });
}
