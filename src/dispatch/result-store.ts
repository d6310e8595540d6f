import type { Identity } from '../contracts/index.ts';
import { canonicalJson, sha256 } from '../tools/index.ts';

/** Whose a kept result is. The same handle in another conversation, or from another caller, doesn't exist. */
export interface ResultOwner {
  readonly who: Identity;
  readonly conversation: string;
}

/** Keeps the whole text of results that were cut for a model, so that the rest can be read. In memory, bounded. */
export interface ResultStore {
  /** Returns the handle. The same text of the same owner has the same handle. */
  keep(owner: ResultOwner, text: string): string;
  /** `undefined` for a handle that was never given to this owner, or whose text had to make room. */
  read(owner: ResultOwner, handle: string): string | undefined;
}

export interface ResultStoreOptions {
  /** Most results kept at a time, over all owners. Default 200. */
  readonly maxResults?: number;
  /** Most characters kept at a time, over all owners. Default 64 million. */
  readonly maxChars?: number;
}

interface Kept {
  readonly owner: string;
  readonly text: string;
}

/** A store in memory that drops what was used longest ago when it is full. */
export function createResultStore(options: ResultStoreOptions = {}): ResultStore {
  const maxResults = options.maxResults ?? 200;
  const maxChars = options.maxChars ?? 64_000_000;
  /** In order of use: a Map iterates in order of insertion, and whatever is used is inserted again. */
  const kept = new Map<string, Kept>();
  let chars = 0;

  const drop = (handle: string) => {
    chars -= kept.get(handle)?.text.length ?? 0;
    kept.delete(handle);
  };
  return {
    keep(owner, text) {
      const key = ownerKey(owner);
      const handle = `res_${sha256(JSON.stringify([key, text])).slice(0, 24)}`;
      drop(handle);
      kept.set(handle, { owner: key, text });
      chars += text.length;
      for (const oldest of kept.keys()) {
        if (kept.size <= maxResults && chars <= maxChars) break;
        drop(oldest);
      }
      return handle;
    },
    read(owner, handle) {
      const entry = kept.get(handle);
      if (!entry || entry.owner !== ownerKey(owner)) return undefined;
      kept.delete(handle);
      kept.set(handle, entry);
      return entry.text;
    },
  };
}

function ownerKey({ who, conversation }: ResultOwner): string {
  return canonicalJson([who.agent, who.user ?? null, who.via, conversation]);
}
