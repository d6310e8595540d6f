import type { Json, JsonObject } from '../contracts/index.ts';
import { isObject } from './blocks.ts';
import { referencedIn } from './found-tools.ts';
import { toldOfTools } from './tool-changes.ts';

/** How much a request says, in characters of its JSON, and what tells whether its beginning is the one before's. */
export interface RequestSize {
  /** Tools that are before the model: those that are deferred only once they were found. */
  readonly tools: number;
  /** Definitions at its beginning. */
  readonly definitions: number;
  /** Definitions of deferred tools that the conversation refers to: they stand where it does. */
  readonly found: number;
  readonly system: number;
  readonly conversation: number;
  readonly messages: number;
  /** `tool_choice` as it was sent. */
  readonly choice: string;
}

/** Messages and definitions are the same objects from request to request: each is measured once. */
const known = new WeakMap<object, number>();

/** @param body a Messages API request, whose blocks nobody changes afterwards */
export function requestSize(body: JsonObject): RequestSize {
  const tools = listOf(body.tools);
  const messages = listOf(body.messages);
  const whole = tools.filter((tool) => !isDeferred(tool));
  const names = whole.length === tools.length ? new Set() : new Set(messages.flatMap(mentionsOf));
  const found = tools.filter((tool) => isDeferred(tool) && isObject(tool) && names.has(tool.name));
  return {
    tools: whole.length + found.length,
    definitions: sum(whole),
    found: sum(found),
    system: lengthOf(body.system),
    conversation: sum(messages),
    messages: messages.length,
    choice: JSON.stringify(body.tool_choice ?? null),
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function sum(values: readonly Json[]): number {
  return values.reduce<number>((total, value) => total + lengthOf(value), 0);
}

function lengthOf(value: Json | undefined): number {
  if (value === undefined) return 0;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value).length;
  const length = known.get(value) ?? JSON.stringify(value).length;
  known.set(value, length);
  return length;
}

function isDeferred(tool: Json): boolean {
  return isObject(tool) && tool.defer_loading === true;
}

const mentioned = new WeakMap<object, readonly string[]>();

/** Tools that a message refers to. */
function mentionsOf(message: Json): readonly string[] {
  if (!isObject(message)) return [];
  const names = mentioned.get(message) ?? [
    ...referencedIn([message]),
    ...[...toldOfTools([message])].flatMap(([name, type]) => (type === 'tool_addition' ? [name] : [])),
  ];
  mentioned.set(message, names);
  return names;
}
