import type { Identity, ToolHost } from '../../contracts/index.ts';
import { cursors, type Page, ToolFailure } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { RpcError } from './rpc.ts';

/**
 * One page of what a list holds for a caller (MCP, Pagination).
 *
 * @throws RpcError -32602 for a cursor that wasn't given to this caller for this list
 */
export type PageOf<T> = (who: Identity, items: readonly T[], cursor: unknown) => Page<T>;

const INVALID = 'Invalid cursor';

/**
 * @param method whose cursors are no other list's
 * @throws BridleError `page_size_invalid`
 */
export function pagesOf<T>({ pages }: ToolHost, method: string, keyOf: (item: T) => string): PageOf<T> {
  const list = pages && cursors({ of: method, ...pages });
  return (who, items, cursor) => {
    if (cursor !== undefined && (!list || typeof cursor !== 'string')) throw new RpcError(CODES.invalidParams, INVALID);
    if (!list) return { items };
    try {
      return list.page(who, items, cursor as string | undefined, keyOf);
    } catch (error) {
      throw ToolFailure.is(error) ? new RpcError(CODES.invalidParams, INVALID) : error;
    }
  };
}
