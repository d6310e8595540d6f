import type { Json } from '../contracts/index.ts';
import { isObject } from './blocks.ts';

/** The provider's container in which its code runs; later requests that name it find its files and variables there. */
export interface Container {
  readonly id: string;
  /** ISO 8601 date and time. */
  readonly expiresAt?: string;
}

/** The container that a reply ran code in, or the one before. */
export function containerAfter(before: Container | null, message: Json): Container | null {
  const container = isObject(message) ? message.container : null;
  if (!isObject(container) || typeof container.id !== 'string' || container.id === '') return before;
  const { id, expires_at: expiresAt } = container;
  return { id, ...(typeof expiresAt === 'string' && { expiresAt }) };
}

/**
 * The container while it is there; a request that names one which has expired is refused.
 *
 * @param at Unix ms
 */
export function liveContainer(container: Container | null, at: number): Container | null {
  if (container?.expiresAt === undefined) return container;
  const end = Date.parse(container.expiresAt);
  return Number.isNaN(end) || end > at ? container : null;
}
