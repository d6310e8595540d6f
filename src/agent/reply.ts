import type { CallOrigin, Json, JsonObject } from '../contracts/index.ts';
import { isBlank, isBlock, isObject, serverCallId } from './blocks.ts';

/** A `tool_use` block that waits for its answer. */
export interface PendingCall extends CallOrigin {
  /** As it stands in the transcript: the model's own, unless that couldn't be repeated. */
  readonly id: string;
  /** As the model wrote it. */
  readonly name: string;
  readonly input: JsonObject;
}

interface SoundReply {
  readonly content: readonly Json[];
  readonly calls: readonly PendingCall[];
}

const FIT_ID = /^[a-zA-Z0-9_-]+$/;
const FIT_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** The key under which the Messages API takes back an input that wasn't JSON. */
const INVALID_JSON = 'INVALID_JSON';

/** Blocks that only the user's side, or a system message, may hold: in a reply they can't be sent back. */
const NOT_A_MODELS: ReadonlySet<string> = new Set([
  'tool_result',
  'image',
  'document',
  'search_result',
  'tool_addition',
  'tool_removal',
]);

/**
 * A reply's blocks as they may be sent back, and the calls among them. Blocks that we don't know are kept; those that are
 * no model's to give, and calls of the provider's that no result could ever answer, are left out. An id that
 * was used before gets a tail, since two calls with one id can't both be answered; a name that the API wouldn't take is
 * cleaned; an input that isn't an object is wrapped.
 *
 * @param taken `tool_use` ids of the conversation so far
 */
export function soundReply(content: readonly Json[], taken: ReadonlySet<string>): SoundReply {
  const ids = new Set<string>();
  const calls: PendingCall[] = [];
  const kept: Json[] = [];
  for (const block of content) {
    if (!isObject(block) || typeof block.type !== 'string' || isBlank(block)) continue;
    if (block.type !== 'tool_use') {
      if (!NOT_A_MODELS.has(block.type) && !isNameless(block)) kept.push(block);
      continue;
    }
    const id = freshId(block.id, (candidate) => taken.has(candidate) || ids.has(candidate));
    ids.add(id);
    const name = typeof block.name === 'string' ? block.name : '';
    const input = isObject(block.input) ? block.input : { [INVALID_JSON]: invalidText(block.input) };
    const { caller, toolset_name: toolset } = block;
    const odd = [
      ...(caller === undefined || isCaller(caller) ? [] : ['caller']),
      ...(toolset === undefined || toolset === null || typeof toolset === 'string' ? [] : ['toolset_name']),
    ];
    const fit = id === block.id && FIT_NAME.test(name) && input === block.input && odd.length === 0;
    kept.push(fit ? block : { ...without(block, odd), id, name: fitName(name), input });
    calls.push({
      id,
      name,
      input,
      ...(typeof toolset === 'string' && { toolset }),
      ...(caller !== undefined && !odd.includes('caller') && { caller }),
    });
  }
  return { content: kept, calls };
}

/** The text that a call has in place of arguments when the model's weren't a JSON object, else null. */
export function invalidInput(input: JsonObject): string | null {
  const keys = Object.keys(input);
  const text = input[INVALID_JSON];
  return keys.length === 1 && keys[0] === INVALID_JSON && typeof text === 'string' ? text : null;
}

/** The API takes back the model itself, or a call of code execution. */
function isCaller(caller: Json): boolean {
  if (!isObject(caller) || typeof caller.type !== 'string') return false;
  return caller.type === 'direct' || (caller.type.startsWith('code_execution_') && typeof caller.tool_id === 'string');
}

function without(block: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(block).filter(([field]) => !fields.includes(field)));
}

/** A call of the provider's without an id: nothing could say that it has ended. */
function isNameless(block: JsonObject): boolean {
  return (isBlock(block, 'server_tool_use') || isBlock(block, 'mcp_tool_use')) && !serverCallId(block);
}

function invalidText(input: Json | undefined): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? null);
}

function freshId(id: Json | undefined, isTaken: (id: string) => boolean): string {
  const own = typeof id === 'string' ? id : '';
  if (FIT_ID.test(own) && !isTaken(own)) return own;
  const base = FIT_ID.test(own) ? own : 'toolu_unnamed';
  let count = 2;
  while (isTaken(`${base}-${count}`)) count += 1;
  return `${base}-${count}`;
}

function fitName(name: string): string {
  if (FIT_NAME.test(name)) return name;
  const cleaned = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 128);
  return cleaned === '' ? 'unnamed' : cleaned;
}
