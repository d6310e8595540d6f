import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallContext, InputOrigin, Json, JsonObject, RawJson, SourceResult } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import type { ContentCaller } from './content-places.ts';

/** Longest silence and longest time of one request, in milliseconds. */
const IDLE_MS = 60_000;
const HARD_MS = 120_000;
/** As for the calls of tools. */
const MOST_ROUNDS = 8;
const MOST_REQUESTS = 20;
/** Wait before a server that asked for nothing but to be asked again, times the round. Milliseconds. */
const AGAIN_MS = 500;

/**
 * Makes a person's request to a server, to an end that isn't a question. What the server wants to know meanwhile is put
 * to the host, and told where it comes from; an `input_required` result (MCP 2026-07-28, Multi Round-Trip Requests) is
 * answered by making the request again. Where the host takes no questions, the question is the result. Never rejects.
 *
 * @param what the resource's address, or the prompt
 */
export async function answered(
  server: InputOrigin['server'],
  what: Required<Pick<InputOrigin, 'part' | 'tool'>>,
  { who, signal, input }: ContentCaller,
  request: (ctx: CallContext) => Promise<SourceResult>,
): Promise<SourceResult> {
  const callId = randomUUID();
  const ask = input && ((asked: RawJson) => input(asked, { callId, server, signal, ...what }));
  const ctx: CallContext = { callId, who, signal, idleMs: IDLE_MS, hardMs: HARD_MS, ...(ask && { input: ask }) };
  let result = await request(ctx);
  if (!ask) return result;
  for (let round = 1; result.kind === 'input_required'; round += 1) {
    if (round > MOST_ROUNDS) return notAnswered(`it asked more than ${MOST_ROUNDS} times`);
    const { requests, state } = result;
    try {
      const entries = questionsOf(requests);
      if (entries.length === 0 && state === undefined) return notAnswered('it asked for nothing');
      if (entries.length === 0) await pause(AGAIN_MS * round, undefined, { signal });
      const responses: [string, Json][] = [];
      // One after another: they are questions to one person.
      for (const [key, question] of entries) {
        signal.throwIfAborted();
        responses.push([key, (await ask(rawFrom(question))) ?? null]);
      }
      signal.throwIfAborted();
      const answers = { responses: Object.fromEntries(responses), ...(state !== undefined && { state }) };
      result = await request({ ...ctx, answers });
    } catch (error) {
      return notAnswered(error instanceof Error ? error.message : String(error));
    }
  }
  return result;
}

function questionsOf(requests: RawJson): [string, Json][] {
  const asked = requests.parse();
  const isTable = typeof asked === 'object' && asked !== null && !Array.isArray(asked);
  if (!isTable) throw new Error('its questions are no object');
  const entries = Object.entries(asked satisfies JsonObject);
  if (entries.length > MOST_REQUESTS) throw new Error(`it asked ${entries.length} questions at once`);
  return entries;
}

function notAnswered(why: string): SourceResult {
  const message = `its server asked for more first and did not get it: ${why}.`;
  const failure = { category: 'business', retryable: false, message, executed: 'unknown', attempts: [] } as const;
  return { kind: 'failure', failure };
}
