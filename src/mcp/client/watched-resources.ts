import type { Negotiated } from './era.ts';
import { keepListening } from './listen.ts';
import { isObject } from './message.ts';
import type { Session } from './session.ts';

/** Longest wait for an answer to `resources/subscribe`, in milliseconds; nobody waits for it. */
const SUBSCRIBE_MS = 30_000;

/** The resources whose changes somebody wants to be told of, whatever becomes of the link to their server. */
export interface WatchedResources {
  /** Counted: a resource is watched until each watch on it was given up. */
  watch(uri: string): () => void;
  /** There is a link, the first or another one. */
  linked(session: Session, negotiated: Negotiated): void;
  /** Each of them may have changed without a word. */
  missed(): void;
}

/** One stream of a modern server, and what it was opened for. */
interface Stream {
  readonly uris: Set<string>;
  readonly stop: AbortController;
}

/**
 * Subscribes to resources in the way of the server's era: `resources/subscribe` for each one (MCP 2025-11-25), or
 * `subscriptions/listen` (2026-07-28). There, those of one moment share a stream and later ones get another, so that no
 * stream is ever closed while something is still awaited on it.
 *
 * @param told of each resource that may have changed unseen
 */
export function watchedResources(told: (uri: string) => void): WatchedResources {
  const counts = new Map<string, number>();
  const streams = new Set<Stream>();
  let link: { readonly session: Session; readonly negotiated: Negotiated } | null = null;
  let linkedBefore = false;
  let fresh = new Set<string>();

  const live = () => (link && !link.session.ended && canSubscribe(link.negotiated) ? link : null);

  const ask = (uris: ReadonlySet<string>) => {
    const now = live();
    if (!now || uris.size === 0) return;
    if (now.negotiated.kind === 'legacy') {
      for (const uri of uris) send(now.session, 'resources/subscribe', uri);
      return;
    }
    const stream: Stream = { uris: new Set(uris), stop: new AbortController() };
    streams.add(stream);
    const missed = () => {
      for (const uri of stream.uris) told(uri);
    };
    keepListening(now.session, () => ({ resourceSubscriptions: [...stream.uris] }), missed, stream.stop.signal);
  };

  const drop = (uri: string) => {
    fresh.delete(uri);
    const now = live();
    if (now?.negotiated.kind === 'legacy') send(now.session, 'resources/unsubscribe', uri);
    for (const stream of streams) {
      if (!stream.uris.delete(uri) || stream.uris.size > 0) continue;
      streams.delete(stream);
      stream.stop.abort();
    }
  };

  const self: WatchedResources = {
    watch(uri) {
      const count = counts.get(uri) ?? 0;
      counts.set(uri, count + 1);
      if (count === 0) {
        // Those that are watched in one go are asked for in one go.
        if (fresh.size === 0) {
          queueMicrotask(() => {
            const uris = fresh;
            fresh = new Set();
            ask(uris);
          });
        }
        fresh.add(uri);
      }
      let watched = true;
      return () => {
        if (!watched) return;
        watched = false;
        const left = (counts.get(uri) ?? 1) - 1;
        if (left > 0) {
          counts.set(uri, left);
          return;
        }
        counts.delete(uri);
        drop(uri);
      };
    },
    linked(session, negotiated) {
      for (const { stop } of streams) stop.abort();
      streams.clear();
      link = { session, negotiated };
      fresh.clear();
      ask(new Set(counts.keys()));
      if (linkedBefore) self.missed();
      linkedBefore = true;
    },
    missed() {
      for (const uri of [...counts.keys()]) told(uri);
    },
  };
  return self;
}

function canSubscribe({ capabilities }: Negotiated): boolean {
  return isObject(capabilities.resources) && capabilities.resources.subscribe === true;
}

/** A server that won't say what changes is read all the same. */
function send(session: Session, method: string, uri: string): void {
  const limits = { idleMs: SUBSCRIBE_MS, hardMs: SUBSCRIBE_MS };
  session.request(method, { uri }, limits, { housekeeping: true }).catch(() => {});
}
