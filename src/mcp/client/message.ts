import type { Json, JsonObject, RawJson } from '../../contracts/index.ts';
import { elementSlices, memberSlices } from '../wire/index.ts';

/** A JSON-RPC 2.0 message of a peer: its envelope read, everything else as received. */
export type Message =
  | { readonly kind: 'result'; readonly id: Json; readonly result: RawJson }
  | {
      readonly kind: 'error';
      readonly id: Json;
      readonly code: number;
      readonly message: string;
      readonly data?: RawJson;
    }
  | {
      readonly kind: 'request';
      readonly id: string | number;
      readonly method: string;
      readonly params: RawJson;
      /** The whole request. */
      readonly raw: RawJson;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: RawJson };

function asReceived(text: string, value: Json): RawJson {
  return { text, parse: () => value };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member of a JSON object, as received; undefined when it isn't there. */
export function rawMember(raw: RawJson, name: string): RawJson | undefined {
  const value = raw.parse();
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
  const slice = memberSlices(raw.text).get(name);
  return slice && asReceived(raw.text.slice(slice.start, slice.end), value[name] as Json);
}

/** The elements of a JSON array, each as received; empty when it isn't an array. */
export function rawElements(raw: RawJson): RawJson[] {
  const value = raw.parse();
  if (!Array.isArray(value)) return [];
  return elementSlices(raw.text).map(({ start, end }, index) =>
    asReceived(raw.text.slice(start, end), value[index] as Json),
  );
}

function readOne(raw: RawJson): Message | null {
  const value = raw.parse();
  if (!isObject(value) || value.jsonrpc !== '2.0') return null;
  const params = () => rawMember(raw, 'params') ?? asReceived('{}', {});
  const id = Object.hasOwn(value, 'id') ? value.id : undefined;
  if (typeof value.method === 'string') {
    if (id === undefined) return { kind: 'notification', method: value.method, params: params() };
    if (typeof id !== 'string' && typeof id !== 'number') return null;
    return { kind: 'request', id, method: value.method, params: params(), raw };
  }
  const result = rawMember(raw, 'result');
  if (result && id !== undefined) return { kind: 'result', id, result };
  const error = rawMember(raw, 'error');
  if (!error) return null;
  const detail = error.parse();
  if (!isObject(detail)) {
    // Not as it should be, but there is no doubt that the request is over.
    return { kind: 'error', id: id ?? null, code: 0, message: typeof detail === 'string' ? detail : error.text };
  }
  const data = rawMember(error, 'data');
  return {
    kind: 'error',
    id: id ?? null,
    code: typeof detail.code === 'number' ? detail.code : 0,
    message: typeof detail.message === 'string' ? detail.message : '',
    ...(data && { data }),
  };
}

/**
 * Reads one line. A JSON array is a batch (revision 2025-03-26), read element by element.
 *
 * @returns null when the line is no JSON-RPC 2.0: a banner, a log line, broken JSON
 */
export function readMessages(line: string): readonly Message[] | null {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return null;
  }
  const raw = asReceived(line, value);
  if (!Array.isArray(value)) {
    const message = readOne(raw);
    return message && [message];
  }
  // What isn't a message in a batch doesn't cost the answers beside it.
  const messages = rawElements(raw)
    .map(readOne)
    .filter((message) => message !== null);
  return messages.length > 0 ? messages : null;
}
