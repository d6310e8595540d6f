import type { JsonObject } from '../../contracts/index.ts';
import type { Negotiated } from './era.ts';
import { isObject } from './message.ts';
import type { Session } from './session.ts';

const AGAIN_MS = 1000;
const MAX_REOPENED = 5;

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
 * Asks a modern server to tell when its lists change (MCP 2026-07-28, Subscriptions). A legacy server tells unasked. A
 * stream that the server closes in good order is opened again, a few times; one that it refuses is left alone: the lists
 * then stay as they were first read.
 */
export function listenForChanges(session: Session, negotiated: Negotiated): void {
  if (negotiated.kind !== 'modern') return;
  const notifications = filterFor(negotiated.capabilities);
  if (Object.keys(notifications).length === 0) return;
  let reopened = 0;
  const listen = () => {
    if (session.ended) return;
    session.request('subscriptions/listen', { notifications }, {}, { housekeeping: true }).then(
      () => {
        reopened += 1;
        if (reopened <= MAX_REOPENED) setTimeout(listen, AGAIN_MS * reopened).unref();
      },
      () => {},
    );
  };
  listen();
}
