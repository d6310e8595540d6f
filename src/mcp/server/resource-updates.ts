import type { Identity, Json, JsonObject, ToolHost } from '../../contracts/index.ts';
import { isObject } from './is-object.ts';
import { ANYONE } from './peer.ts';

/** Most resources that one stream listens for. */
const MAX_LISTENED = 1000;

/** What clients of 2026-07-28 listen for (`subscriptions/listen`), followed at the host. */
export interface ResourceUpdates {
  /**
   * @param message a request; one that doesn't listen is passed on as it is
   * @returns the request without the resources that its caller can't read, whether they are there or not
   */
  open(message: unknown, who: Identity): { readonly message: unknown; close(): void };
}

/**
 * Follows resources for as long as streams listen for them.
 *
 * @param publish tells every stream that listens for this address; called once for updates of one moment
 */
export function resourceUpdates(host: ToolHost, publish: (uri: string) => void): ResourceUpdates {
  const due = new Set<string>();
  const updated = (uri: string) => {
    if (due.size === 0) {
      queueMicrotask(() => {
        const uris = [...due];
        due.clear();
        for (const one of uris) publish(one);
      });
    }
    due.add(uri);
  };
  return {
    open(message, who) {
      const { content } = host;
      const asked = listenedIn(message);
      if (!content || asked === null) return { message, close() {} };
      const uris = asked.uris.slice(0, MAX_LISTENED).filter((uri) => content.has(uri, who));
      const stops = uris.map((uri) => content.subscribe(uri, who, () => updated(uri)));
      return {
        message: asked.withOnly(uris),
        close() {
          for (const stop of stops.splice(0)) stop();
        },
      };
    },
  };
}

function listenedIn(
  message: unknown,
): { readonly uris: readonly string[]; withOnly(uris: readonly string[]): JsonObject } | null {
  if (!isObject(message) || message.method !== 'subscriptions/listen' || !isObject(message.params)) return null;
  const { params } = message;
  if (!isObject(params.notifications)) return null;
  const { resourceSubscriptions: given, ...rest } = params.notifications;
  // What isn't a list of addresses is the SDK's to refuse.
  if (!Array.isArray(given) || !given.every((uri): uri is string => typeof uri === 'string')) return null;
  return {
    uris: [...new Set(given)],
    withOnly: (uris) => ({
      ...message,
      params: {
        ...params,
        notifications: { ...rest, ...(uris.length > 0 && { resourceSubscriptions: [...uris] }) },
      },
    }),
  };
}

/** The one caller's streams of a stdio connection: opened and cancelled by messages that only the SDK answers. */
export function followListening(
  transport: { onmessage?: ((message: never, extra?: never) => void) | undefined },
  updates: ResourceUpdates,
): () => void {
  const open = new Map<Json, { close(): void }>();
  const receive = transport.onmessage as ((message: unknown, extra?: unknown) => void) | undefined;
  transport.onmessage = (message: unknown, extra?: unknown) => {
    let passed = message;
    if (isObject(message) && message.method === 'subscriptions/listen' && message.id !== undefined) {
      open.get(message.id)?.close();
      const listening = updates.open(message, ANYONE);
      open.set(message.id, listening);
      passed = listening.message;
    }
    if (isObject(message) && message.method === 'notifications/cancelled' && isObject(message.params)) {
      const id = message.params.requestId;
      if (id !== undefined) {
        open.get(id)?.close();
        open.delete(id);
      }
    }
    receive?.(passed, extra);
  };
  return () => {
    for (const listening of open.values()) listening.close();
    open.clear();
  };
}
