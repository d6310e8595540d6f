import type { Json, JsonObject } from '../../contracts/index.ts';

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function arrayOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

export function isString(value: Json | undefined): value is string {
  return typeof value === 'string';
}

/** A block with where it stands, e.g. `messages.2.content.0`. */
export interface Placed {
  readonly path: string;
  readonly block: JsonObject;
}

export interface PlacedMessage {
  readonly path: string;
  readonly index: number;
  readonly role: Json | undefined;
  readonly content: Json | undefined;
  /** The content's blocks; a string is none. */
  readonly blocks: readonly Placed[];
}

/** The objects of an array with where they stand. */
export function placed(path: string, value: Json | undefined): readonly Placed[] {
  return arrayOf(value).flatMap((block, index) => (isObject(block) ? [{ path: `${path}.${index}`, block }] : []));
}

let pass: { readonly body: JsonObject; readonly messages: readonly PlacedMessage[] } | undefined;

/** Checks one body by many rules, each of which would read its messages anew. */
export function inOnePass<T>(body: JsonObject, check: () => T): T {
  pass = { body, messages: readMessages(body) };
  try {
    return check();
  } finally {
    pass = undefined;
  }
}

export function messagesOf(body: JsonObject): readonly PlacedMessage[] {
  return pass?.body === body ? pass.messages : readMessages(body);
}

function readMessages(body: JsonObject): readonly PlacedMessage[] {
  return placed('messages', body.messages).map(({ path, block }, index) => ({
    path,
    index,
    role: block.role,
    content: block.content,
    blocks: placed(`${path}.content`, block.content),
  }));
}

export function blocksOfType(message: PlacedMessage | undefined, type: string): readonly Placed[] {
  return message?.blocks.filter(({ block }) => block.type === type) ?? [];
}
