import { randomBytes } from 'node:crypto';
import type { Identity } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { principalOf } from './principal.ts';
import { ToolFailure } from './failure.ts';

export interface StateHandlesOptions {
  /** How long a handle that nobody uses is good for, in milliseconds. Default 30 minutes. */
  readonly ttlMs?: number;
  /** Most handles of one caller; the one that was unused longest gives way. Default 100. */
  readonly max?: number;
  /** Most handles of all callers; the one that was unused longest gives way. Default 10,000. */
  readonly maxAll?: number;
  /** What to do where a handle is none, for the model: e.g. `Call open_cart for a new one.` */
  readonly otherwise?: string;
  /** Default `Date.now`. */
  readonly now?: () => number;
}

/**
 * State between calls, each piece under a handle that a tool hands out and takes back as an argument: MCP 2026-07-28 has
 * no sessions. A handle is worth something only for the caller who opened it.
 */
export interface StateHandles<T> {
  /** @returns the handle: opaque, and not to be guessed */
  open(who: Identity, value: T): string;
  /**
   * The value as it was given, not a copy; it then counts for another `ttlMs`.
   *
   * @throws ToolFailure in the same words for a handle that never was, expired, was closed or is another caller's
   */
  read(who: Identity, handle: string): T;
  /** Puts what `change` makes of the value in its place, and returns it. Throws as `read`, or what `change` throws. */
  update(who: Identity, handle: string, change: (value: T) => T): T;
  /** Throws as `read`. */
  close(who: Identity, handle: string): void;
}

interface Entry<T> {
  readonly owner: string;
  readonly value: T;
  readonly until: number;
}

/**
 * Handles to state of this process.
 *
 * @example
 * const carts = stateHandles<string[]>({ otherwise: 'Call open_cart for a new one.' });
 * // open_cart: ({}, { who }) => ({ cart: carts.open(who, []) })
 * // add_item: ({ cart, item }, { who }) => carts.update(who, cart, (items) => [...items, item])
 * @throws BridleError `state_handles_invalid` for a bound that is no whole number from 1
 */
export function stateHandles<T>(options: StateHandlesOptions = {}): StateHandles<T> {
  const { ttlMs = 30 * 60_000, max = 100, maxAll = 10_000, otherwise, now = Date.now } = options;
  for (const [name, value] of Object.entries({ ttlMs, max, maxAll })) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new BridleError('state_handles_invalid', `${name} of state handles is ${value}.`, {
      hint: 'Give a whole number from 1.',
    });
  }
  /** The one that was unused longest first; so are those of each owner. */
  const held = new Map<string, Entry<T>>();
  const ofOwner = new Map<string, Set<string>>();

  const drop = (handle: string, { owner }: Entry<T>) => {
    held.delete(handle);
    const own = ofOwner.get(owner);
    own?.delete(handle);
    if (own?.size === 0) ofOwner.delete(owner);
  };
  const keep = (handle: string, owner: string, value: T) => {
    held.delete(handle);
    held.set(handle, { owner, value, until: now() + ttlMs });
    const own = ofOwner.get(owner) ?? new Set();
    own.delete(handle);
    own.add(handle);
    ofOwner.set(owner, own);
  };
  const prune = () => {
    for (const [handle, entry] of held) {
      if (entry.until > now()) return;
      drop(handle, entry);
    }
  };
  const dropFirst = (handles: Iterable<string> | undefined) => {
    for (const handle of handles ?? []) {
      const entry = held.get(handle);
      if (entry) drop(handle, entry);
      return;
    }
  };
  const find = (who: Identity, handle: string): Entry<T> => {
    prune();
    const entry = held.get(handle);
    if (entry !== undefined && entry.owner === principalOf(who)) return entry;
    const what = 'There is nothing under this handle: it has expired, was closed, or is not one of yours.';
    throw new ToolFailure(otherwise === undefined ? what : `${what} ${otherwise}`, { category: 'validation' });
  };

  return {
    open(who, value) {
      prune();
      const owner = principalOf(who);
      if ((ofOwner.get(owner)?.size ?? 0) >= max) dropFirst(ofOwner.get(owner));
      if (held.size >= maxAll) dropFirst(held.keys());
      const handle = randomBytes(18).toString('base64url');
      keep(handle, owner, value);
      return handle;
    },
    read(who, handle) {
      const { owner, value } = find(who, handle);
      keep(handle, owner, value);
      return value;
    },
    update(who, handle, change) {
      const { owner, value } = find(who, handle);
      const next = change(value);
      keep(handle, owner, next);
      return next;
    },
    close(who, handle) {
      drop(handle, find(who, handle));
    },
  };
}
