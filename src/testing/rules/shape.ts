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

/** A block with the message that it stands in. */
export interface InMessage extends Placed {
  readonly message: PlacedMessage;
}

/** What was read of the body that is being checked, by what it is. */
let pass: { readonly body: JsonObject; readonly read: Map<string, unknown> } | undefined;

/** Checks one body by many rules, each of which would read its messages anew. */
export function inOnePass<T>(body: JsonObject, check: () => T): T {
  pass = { body, read: new Map() };
  try {
    return check();
  } finally {
    pass = undefined;
  }
}

/** Reads something of a body, once in a pass. */
export function readOnce<T>(body: JsonObject, what: string, read: () => T): T {
  if (pass?.body !== body) return read();
  const known = pass.read;
  if (!known.has(what)) known.set(what, read());
  return known.get(what) as T;
}

export function messagesOf(body: JsonObject): readonly PlacedMessage[] {
  return readOnce(body, 'messages', () => readMessages(body));
}

/** The blocks of these types in all messages; those inside results not among them. */
export function blocksIn(body: JsonObject, ...types: readonly string[]): readonly InMessage[] {
  const byType = readOnce(body, 'blocks by type', () => {
    const found = new Map<Json, InMessage[]>();
    for (const message of messagesOf(body)) {
      for (const at of message.blocks) {
        const type = at.block.type ?? null;
        const list = found.get(type) ?? [];
        list.push({ ...at, message });
        found.set(type, list);
      }
    }
    return found;
  });
  return types.flatMap((type) => byType.get(type) ?? []);
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

/** A turn that stopped in the middle and is sent back as it was: it waits for the provider, or was compacted. */
export function isResumed(body: JsonObject): boolean {
  const messages = messagesOf(body);
  // The assistant's messages in a row are one turn.
  const turn = messages.slice(messages.findLastIndex(({ role }) => role !== 'assistant') + 1);
  const blocks = turn.flatMap((message) => message.blocks);
  const answered = new Set(blocks.map(({ block }) => block.tool_use_id));
  return blocks.some(
    ({ block }) =>
      block.type === 'compaction' ||
      (isString(block.type) && block.type.endsWith('_tool_result')) ||
      ((block.type === 'server_tool_use' || block.type === 'mcp_tool_use') && !answered.has(block.id)),
  );
}
