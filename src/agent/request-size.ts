import type { Json, JsonObject } from '../contracts/index.ts';

/** How much a request says, in characters of its JSON, and what tells whether its beginning is the one before's. */
export interface RequestSize {
  readonly tools: number;
  readonly definitions: number;
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
  return {
    tools: tools.length,
    definitions: sum(tools),
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
