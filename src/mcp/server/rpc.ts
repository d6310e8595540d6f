import type { Json, JsonObject } from '../../contracts/index.ts';
import { CODES } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import type { KeptText } from './kept-text.ts';

/** What goes wrong with a request as a request of the protocol: answered as a JSON-RPC error, in either era. */
export class RpcError extends Error {
  readonly code: number;
  readonly data?: JsonObject;
  /** @param code JSON-RPC 2.0, section 5.1, or MCP's own */
  constructor(code: number, message: string, data?: JsonObject) {
    super(message);
    this.code = code;
    if (data !== undefined) this.data = data;
  }
}

export type Id = string | number;

/** One message of a client, told apart by what it has and never by what it seems to mean. */
export type Incoming =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'response'; readonly id: Id; readonly result?: Json; readonly error?: Json }
  /** `id` is null where it can't be told. */
  | { readonly kind: 'invalid'; readonly id: Id | null; readonly message: string };

/** An id is said again with each answer and each event. */
const MAX_ID_LENGTH = 1024;

/**
 * MCP, Basic Protocol, Messages: ids are strings or whole numbers, and never null. A number that can't be told from its
 * neighbour would come back as another one.
 */
function isId(value: unknown): value is Id {
  if (typeof value === 'string') return value.length <= MAX_ID_LENGTH;
  return typeof value === 'number' && Number.isSafeInteger(value);
}

/** @param value a message's JSON */
export function readIncoming(value: unknown): Incoming {
  if (!isObject(value)) return { kind: 'invalid', id: null, message: 'Invalid Request: not a JSON-RPC object' };
  const { id, method, params } = value;
  const known = isId(id) ? id : null;
  const invalid = (what: string): Incoming => ({ kind: 'invalid', id: known, message: `Invalid Request: ${what}` });
  if (value.jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"');
  if (method === undefined) {
    const isAnswer = Object.hasOwn(value, 'result') !== Object.hasOwn(value, 'error');
    if (!isAnswer || known === null) return invalid('neither a method nor an answer with an id');
    const { result, error } = value;
    return { kind: 'response', id: known, ...(result !== undefined ? { result } : { error: error as Json }) };
  }
  if (typeof method !== 'string') return invalid('method must be a string');
  if (params !== undefined && !isObject(params)) return invalid('params must be an object');
  if (id === undefined) return { kind: 'notification', method, params: params ?? {} };
  if (known === null) return invalid(`id must be a string of up to ${MAX_ID_LENGTH} characters or a safe integer`);
  return { kind: 'request', id: known, method, params: params ?? {} };
}

/** What stands before and after a result in its message. */
export function resultAround(id: Id): readonly [string, string] {
  return [`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`, '}'];
}

/** @param result JSON text of the result, in one line */
export function resultMessage(id: Id, result: string): string {
  const [before, after] = resultAround(id);
  return `${before}${result}${after}`;
}

/**
 * The answer to a request, of whatever kind.
 *
 * @param result JSON text in one line, or what went wrong
 */
export function answerMessage(id: Id, result: string | KeptText | RpcError): string {
  if (result instanceof RpcError) return errorMessage(id, result);
  return resultMessage(id, typeof result === 'string' ? result : result.text);
}

/** @param id null where the request's could not be read */
export function errorMessage(
  id: Id | null,
  { code, message, data }: Pick<RpcError, 'code' | 'message' | 'data'>,
): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
}

export function notificationMessage(method: string, params?: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) });
}

export function requestMessage(id: Id, method: string, params?: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) });
}

/** A client learns of a fault of ours that there was one, and the person who runs the server what it was. */
export const INTERNAL = new RpcError(CODES.internal, 'Internal error');
