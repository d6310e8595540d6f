import type { Json, RawJson } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import { isObject } from './message.ts';

/** Results that may be kept (MCP 2026-07-28, Caching). `server/discover` is asked once a link and needs none. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);
/** Whatever a server says, nothing is kept longer. Milliseconds. */
const MAX_TTL_MS = 24 * 60 * 60 * 1000;
const MAX_ENTRIES = 500;
/** Most characters kept of one server. */
const MAX_CHARS = 16_000_000;

interface Entry {
  readonly result: RawJson;
  /** By the clock below. */
  readonly until: number;
}

/** What is kept of one address, by whom it may be given to. */
interface Shelf {
  readonly entries: Map<string, Entry>;
  chars: number;
  /** Open connections; with the last one all is forgotten. */
  users: number;
  /** Counts what made everything stale, so that an answer that was on its way meanwhile isn't kept. */
  generation: number;
}

/** What a connection may take from earlier answers of its server. */
export interface ResultCache {
  /** The kept answer to this request, while the server's word for it holds. */
  get(method: string, params: Json): RawJson | undefined;
  /** To be called before the request is sent; the function takes the answer. */
  asking(method: string, params: Json): (result: RawJson) => void;
  /** The server's lists or contents changed, or may have. */
  drop(): void;
  close(): void;
}

const shelves = new Map<string, Shelf>();

/**
 * Keeps answers as long as the server says (`ttlMs`), and no longer than a change of them goes unheard. One that is
 * `public` serves every connection of this process to the same address; a `private` one, and one that doesn't say, only
 * those that send the same headers.
 *
 * @param headers what is sent now; whoever changes it drops what is kept
 * @param now milliseconds of a clock that never goes back
 */
export function resultCache(
  url: string,
  headers: () => Readonly<Record<string, string>>,
  now: () => number = () => performance.now(),
): ResultCache {
  const shelf = shelves.get(url) ?? { entries: new Map(), chars: 0, users: 0, generation: 0 };
  shelves.set(url, shelf);
  shelf.users += 1;
  let isOpen = true;
  let hashed: { readonly headers: object; readonly hash: string } | undefined;
  const credential = () => {
    const now = headers();
    if (hashed?.headers !== now) hashed = { headers: now, hash: sha256(canonicalJson(now)) };
    return hashed.hash;
  };
  const keyOf = (scope: 'public' | 'private', method: string, params: Json) =>
    JSON.stringify([scope, scope === 'public' ? '' : credential(), method, canonicalJson(withoutMeta(params))]);
  const remove = (key: string) => {
    shelf.chars -= shelf.entries.get(key)?.result.text.length ?? 0;
    shelf.entries.delete(key);
  };
  const drop = () => {
    shelf.generation += 1;
    shelf.entries.clear();
    shelf.chars = 0;
  };

  return {
    get(method, params) {
      if (!isCacheable(method, params)) return undefined;
      for (const scope of ['private', 'public'] as const) {
        const key = keyOf(scope, method, params);
        const entry = shelf.entries.get(key);
        if (!entry) continue;
        if (entry.until > now()) return entry.result;
        remove(key);
      }
      return undefined;
    },
    asking(method, params) {
      const { generation } = shelf;
      return (result) => {
        if (!isOpen || generation !== shelf.generation || !isCacheable(method, params)) return;
        const hints = hintsOf(result);
        if (hints === null || result.text.length > MAX_CHARS) return;
        const key = keyOf(hints.scope, method, params);
        remove(key);
        shelf.entries.set(key, { result, until: now() + hints.ttlMs });
        shelf.chars += result.text.length;
        for (const oldest of shelf.entries.keys()) {
          if (shelf.entries.size <= MAX_ENTRIES && shelf.chars <= MAX_CHARS) break;
          remove(oldest);
        }
      };
    },
    drop,
    close() {
      if (!isOpen) return;
      isOpen = false;
      shelf.users -= 1;
      if (shelf.users === 0) shelves.delete(url);
    },
  };
}

/** An answer that depends on what somebody was asked in between belongs to no other request. */
function isCacheable(method: string, params: Json): boolean {
  return CACHEABLE.has(method) && !(isObject(params) && ('inputResponses' in params || 'requestState' in params));
}

function withoutMeta(params: Json): Json {
  if (!isObject(params)) return params;
  const { _meta, ...rest } = params;
  return rest;
}

/** Null: not to be kept. */
function hintsOf(result: RawJson): { readonly ttlMs: number; readonly scope: 'public' | 'private' } | null {
  const value = result.parse();
  if (!isObject(value) || (value.resultType !== undefined && value.resultType !== 'complete')) return null;
  const { ttlMs, cacheScope } = value;
  if (typeof ttlMs !== 'number' || !Number.isFinite(ttlMs) || ttlMs <= 0) return null;
  return { ttlMs: Math.min(ttlMs, MAX_TTL_MS), scope: cacheScope === 'public' ? 'public' : 'private' };
}
