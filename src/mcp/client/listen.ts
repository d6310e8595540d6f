import type { JsonObject } from '../../contracts/index.ts';
import type { Negotiated } from './era.ts';
import { McpError } from './errors.ts';
import { isObject } from './message.ts';
import type { Session } from './session.ts';

const AGAIN_MS = 1000;
const MAX_AGAIN_MS = 60_000;
/** A stream that stood this long was in good order: the next one is opened without a longer pause. */
const STOOD_MS = 30_000;

/** What a server's capabilities say that it can tell of, as the filter of `subscriptions/listen`. */
function filterFor(capabilities: JsonObject): JsonObject {
  const tells = (name: string) => {
    const capability = capabilities[name];
    return isObject(capability) && capability.listChanged === true;
  };
  return {
    ...(tells('tools') && { toolsListChanged: true }),
    ...(tells('prompts') && { promptsListChanged: true }),
    ...(tells('resources') && { resourcesListChanged: true }),
  };
}

/**
 * Asks a modern server to tell when its lists change (MCP 2026-07-28, Subscriptions). A legacy server tells unasked.
 *
 * @param missed told when a stream is opened again: nobody told what changed in between
 */
export function listenForChanges(session: Session, negotiated: Negotiated, missed: () => void): void {
  if (negotiated.kind !== 'modern') return;
  const notifications = filterFor(negotiated.capabilities);
  if (Object.keys(notifications).length > 0) keepListening(session, () => notifications, missed);
}

/**
 * Holds a stream of notifications open. One that ends is opened again, with growing pauses; one that the server refuses
 * is left alone: what it would have told then isn't told.
 *
 * @param filter what is to be told, asked at each opening
 * @param signal ends it
 */
export function keepListening(
  session: Session,
  filter: () => JsonObject,
  missed: () => void,
  signal?: AbortSignal,
): void {
  let pause = AGAIN_MS;
  const listen = (again: boolean) => {
    if (session.ended || signal?.aborted) return;
    const from = Date.now();
    const reopen = () => {
      if (session.ended || signal?.aborted) return;
      if (Date.now() - from >= STOOD_MS) pause = AGAIN_MS;
      setTimeout(() => listen(true), pause).unref();
      pause = Math.min(pause * 2, MAX_AGAIN_MS);
    };
    const context = signal ? { signal } : {};
    session
      .request('subscriptions/listen', { notifications: filter() }, context, { housekeeping: true })
      .then(reopen, (error) => {
        if (error instanceof McpError && error.passing) reopen();
      });
    if (again) missed();
  };
  listen(false);
}
