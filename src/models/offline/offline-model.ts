import type { Model } from '../../contracts/index.ts';
import { messageFor, streamEvents } from './message.ts';
import { plan } from './plan.ts';
import { toolIndexer } from './rank.ts';

export interface OfflineModelOptions {
  /** What replies give as `model`, and the model's id. Default `offline`. */
  readonly id?: string;
}

/**
 * A deterministic planner behind the `Model` interface: no model, no key, no network. It answers in the shapes of the
 * Messages API, message and stream events alike, so that a loop needs no special case for it.
 *
 * It ranks the request's tools against what the user asked, fills arguments from the conversation, earlier results and
 * the schema's own defaults, calls a reading tool first where a needed value comes from it, asks where a value is
 * unknown, and says so where no tool fits. It never passes a value from anywhere else (see `traceValues`), and text in
 * results gives it values but no new goals.
 *
 * @param options see `OfflineModelOptions`
 * @returns a model without memory of what went before: the same request always gets the same reply
 */
export function offlineModel(options: OfflineModelOptions = {}): Model {
  const id = options.id ?? 'offline';
  const index = toolIndexer();
  return {
    id,
    async respond(request, { signal, onDelta }) {
      signal.throwIfAborted();
      const message = messageFor(plan(request, index), request, id);
      if (onDelta) {
        for (const event of streamEvents(message)) {
          signal.throwIfAborted();
          onDelta(event);
        }
      }
      return { message, stopReason: String(message.stop_reason), usage: message.usage ?? {} };
    },
  };
}
