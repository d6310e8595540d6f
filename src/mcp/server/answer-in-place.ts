import type { Failure, JsonObject, Outcome } from '../../contracts/index.ts';
import type { Answers } from './call-context.ts';
import { askAll, lacks, missingCapabilities } from './client-input.ts';
import type { Exchange } from './peer.ts';

/** How often one call of an older client may ask for more before it is given up. */
const MAX_ROUNDS = 8;

/** A client of 2026-07-28 is asked only for what it declared with this request. */
export function assertCanAnswer({ capabilities }: Exchange, result: JsonObject): void {
  const missing = missingCapabilities(result.inputRequests ?? {}, capabilities);
  if (Object.keys(missing).length === 0) return;
  throw lacks(missing);
}

/**
 * The older revisions know no result that asks: what the host wants to know is asked on the call's own stream, and the
 * call made again with the answers, until it has a result.
 */
export async function answerInPlace(
  exchange: Exchange,
  first: Outcome,
  call: (answers: Answers) => Promise<Outcome>,
): Promise<Outcome> {
  let outcome = first;
  for (let round = 0; outcome.kind === 'input_required'; round += 1) {
    const requests = outcome.requests.parse();
    const missing = Object.keys(missingCapabilities(requests, exchange.capabilities));
    if (missing.length > 0) return { kind: 'failed', failure: notAnswered(`this client has no ${missing.join(', ')}`) };
    if (round === MAX_ROUNDS) return { kind: 'failed', failure: notAnswered(`it asked ${MAX_ROUNDS} times`) };
    try {
      const { state } = outcome;
      const responses = await askAll(exchange, requests);
      outcome = await call({ responses, ...(state !== undefined && { state }) });
    } catch (error) {
      return { kind: 'failed', failure: notAnswered(error instanceof Error ? error.message : String(error)) };
    }
  }
  return outcome;
}

function notAnswered(why: string): Failure {
  return {
    category: 'business',
    retryable: false,
    message: `It asked for more input and did not get it: ${why}. Call it again with everything it needs.`,
    executed: 'unknown',
    attempts: [],
  };
}
