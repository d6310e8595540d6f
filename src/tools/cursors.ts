import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Identity, Json } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { ToolFailure } from './failure.ts';
import { isJsonObject } from './json-object.ts';
import { principalOf } from './principal.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Longest cursor that is looked at, in characters. */
const MAX_LENGTH = 16 * 1024;
/** How many of the last items of a page its cursor knows, so that some may go before the next page is fetched. */
const REMEMBERED = 4;

export interface CursorsOptions {
  /** What this is a list of: a cursor of another list is none of this one. */
  readonly of: string;
  /**
   * What cursors are sealed with: several processes with the same one take each other's. Default, also for an empty one:
   * random, so that cursors end with the process.
   */
  readonly secret?: string;
  /** Items a page. Default 100. */
  readonly size?: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}

/** Pages of one list, by cursors that only this list and the caller who got them can read (MCP, Pagination). */
export interface Cursors {
  /** A position of your own, such as the key of the last row, as an opaque text. */
  seal(who: Identity, position: Json): string;
  /**
   * @returns the position; null where no cursor is given
   * @throws ToolFailure for anything that `seal` didn't give this caller
   */
  open(who: Identity, cursor: string | undefined): Json;
  /**
   * One page of a list that is at hand as a whole. What comes and goes between two pages shifts nothing: the next begins
   * behind the last item given that is still there.
   *
   * @param keyOf what an item is known by, the same each time
   * @throws ToolFailure for a cursor that is none
   */
  page<T>(who: Identity, items: readonly T[], cursor: string | undefined, keyOf: (item: T) => string): Page<T>;
}

/**
 * Cursors over a long list, for a tool's own results.
 *
 * @example
 * const orders = cursors({ of: 'orders', size: 50 });
 * // list_orders: ({ cursor }, { who }) => orders.page(who, all, cursor, (order) => order.id)
 * @throws BridleError `page_size_invalid` for a size that is no whole number from 1
 */
export function cursors({ of, secret = '', size = 100 }: CursorsOptions): Cursors {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new BridleError('page_size_invalid', `A page can't have ${size} items.`, {
      hint: 'Give a whole number from 1.',
    });
  }
  const key = Buffer.from(hkdfSync('sha256', secret === '' ? randomBytes(32) : secret, '', 'bridle cursor', 32));
  const bound = (who: Identity) => Buffer.from(JSON.stringify([of, principalOf(who)]));

  const seal = (who: Identity, position: Json): string => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(who));
    const body = Buffer.concat([cipher.update(JSON.stringify(position), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
  };
  const open = (who: Identity, cursor: string | undefined): Json => {
    if (cursor === undefined) return null;
    const position = opened(key, bound(who), cursor);
    if (position !== undefined) return position;
    throw new ToolFailure('This cursor is none of this list. Leave it out to begin with the first page.', {
      category: 'validation',
    });
  };
  return {
    seal,
    open,
    page(who, items, cursor, keyOf) {
      const from = start(items, open(who, cursor), keyOf);
      const end = from + size;
      const page = items.slice(from, end);
      if (end >= items.length) return { items: page };
      const last = page.slice(-REMEMBERED).reverse().map(keyOf);
      return { items: page, nextCursor: seal(who, { last, at: end }) };
    },
  };
}

function start<T>(items: readonly T[], position: Json, keyOf: (item: T) => string): number {
  if (!isJsonObject(position) || !Array.isArray(position.last) || typeof position.at !== 'number') return 0;
  const { last, at } = position;
  // Mostly the list is as it was.
  const before = items[at - 1];
  if (before !== undefined && keyOf(before) === last[0]) return at;
  const places = new Map(items.map((item, place) => [keyOf(item), place]));
  for (const known of last) {
    const place = places.get(String(known));
    if (place !== undefined) return place + 1;
  }
  return Math.min(at, items.length);
}

function opened(key: Buffer, bound: Buffer, cursor: string): Json | undefined {
  const bytes = Buffer.from(cursor.length > MAX_LENGTH ? '' : cursor, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES)).setAAD(bound);
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const body = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
}
