import type { Json, RawJson } from '../../contracts/index.ts';
import { cutAt, isJsonObject } from '../../tools/index.ts';

/** Longest attribute that holds content, in characters. */
const MOST = 32_000;

/** A value as the text of an attribute. */
export function contentText(value: Json): string {
  return bounded(JSON.stringify(value));
}

/** A result as it was received. */
export function resultText(raw: RawJson): string {
  return bounded(raw.text);
}

/** A message in the shape that the conventions give to messages. Of what isn't text or a call only the type is told. */
export function messageText(role: 'user' | 'assistant', content: Json, finish?: string): string {
  const parts = typeof content === 'string' ? [textPart(content)] : Array.isArray(content) ? content.map(part) : [];
  return contentText([{ role, parts, ...(finish !== undefined && { finish_reason: finish }) }]);
}

function part(block: Json): Json {
  if (!isJsonObject(block)) return { type: 'unknown' };
  const { type, text, id, name, input } = block;
  if (type === 'text' && typeof text === 'string') return textPart(text);
  if (type === 'tool_use') return { type: 'tool_call', id: id ?? null, name: name ?? null, arguments: input ?? null };
  return { type: typeof type === 'string' ? type : 'unknown' };
}

function textPart(content: string): Json {
  return { type: 'text', content };
}

function bounded(text: string): string {
  return text.length > MOST ? `${cutAt(text, MOST)}…` : text;
}
