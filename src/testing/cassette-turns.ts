import type { CassettePlayer } from '../cassette/index.ts';
import type { JsonObject } from '../contracts/index.ts';
import type { TurnSource } from './turn-source.ts';

/** What a client adds to the body that was recorded. */
const OF_THE_CLIENT: ReadonlySet<string> = new Set(['model', 'stream', 'betas']);

/**
 * The replies of a cassette, each to the request that it was recorded for.
 *
 * @throws (from `next`) BridleError `cassette_diverged` for a request that was not recorded
 */
export function cassetteTurns(cassette: Pick<CassettePlayer, 'model'>): TurnSource {
  const model = cassette.model();
  return {
    async next(request, { signal }) {
      const body = Object.fromEntries(Object.entries(request).filter(([name]) => !OF_THE_CLIENT.has(name)));
      const { message } = await model.respond(body, { signal });
      return { message: message as JsonObject };
    },
  };
}
