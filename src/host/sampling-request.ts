/**
 * Rule of this file: reading is pure. What a server wants to have answered by the model (MCP
 * `sampling/createMessage`) is read into a request of this host's own: cleaned, capped, and without tools.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { printable } from '../tools/index.ts';

const MOST_MESSAGES = 50;
/** Characters of all messages and the server's system prompt together. */
const MOST_CHARACTERS = 50_000;
/** Before the model has counted: bytes of text to a token, on the low side, and tokens of an image, on the high one. */
const BYTES_A_TOKEN = 3;
const TOKENS_AN_IMAGE = 1_600;

export interface SamplingRequest {
  readonly system?: string;
  /** Messages API messages. */
  readonly messages: readonly JsonObject[];
  /** Tokens that the server wants at most. */
  readonly maxTokens: number;
}

/** @returns the request, or in words why it can't be answered */
export function readSampling(params: Json | undefined): SamplingRequest | { readonly problem: string } {
  if (!isObject(params) || !Array.isArray(params.messages)) return { problem: 'it has no messages' };
  if (params.messages.length === 0) return { problem: 'it has no messages' };
  if (params.messages.length > MOST_MESSAGES) return { problem: `it has ${params.messages.length} messages` };
  if (params.tools !== undefined) return { problem: 'it brings tools, and lent models get none' };
  const { maxTokens } = params;
  if (typeof maxTokens !== 'number' || !Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    return { problem: 'its maxTokens is no positive whole number' };
  }
  const messages: JsonObject[] = [];
  for (const message of params.messages) {
    const read = readMessage(message);
    if (!read) return { problem: 'a message of it is neither text nor an image' };
    messages.push(read);
  }
  const system = typeof params.systemPrompt === 'string' ? clean(params.systemPrompt) : undefined;
  const length = messages.reduce((sum, message) => sum + textsOf(message).length, system?.length ?? 0);
  if (length > MOST_CHARACTERS) return { problem: `it has ${length} characters, and ${MOST_CHARACTERS} may be sent` };
  return { messages, maxTokens, ...(system !== undefined && system !== '' && { system }) };
}

/** The whole request as a person reads it; of images, their type and size. */
export function samplingText({ system, messages, maxTokens }: SamplingRequest): string {
  const lines = messages.map((message) => `${String(message.role)}: ${textsOf(message)}`);
  return [...(system === undefined ? [] : [`system: ${system}`]), ...lines, `(at most ${maxTokens} tokens)`].join('\n');
}

/** What a request costs before it is answered, in tokens; an estimate, rather too high than too low. */
export function roughTokens({ system, messages }: Pick<SamplingRequest, 'system' | 'messages'>): number {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return blocks.reduce<number>(
    (sum, block) =>
      sum + (isObject(block) && block.type === 'text' ? tokensOfText(String(block.text)) : TOKENS_AN_IMAGE),
    tokensOfText(system ?? ''),
  );
}

/** As `roughTokens` counts. */
export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}

function readMessage(message: Json): JsonObject | null {
  if (!isObject(message) || (message.role !== 'user' && message.role !== 'assistant')) return null;
  const given = Array.isArray(message.content) ? message.content : [message.content ?? null];
  const content: JsonObject[] = [];
  for (const block of given) {
    if (!isObject(block)) return null;
    if (block.type === 'text' && typeof block.text === 'string') {
      const text = clean(block.text);
      if (text !== '') content.push({ type: 'text', text });
    } else if (block.type === 'image' && typeof block.data === 'string' && typeof block.mimeType === 'string') {
      const { mimeType: media_type, data } = block;
      content.push({ type: 'image', source: { type: 'base64', media_type, data } });
    } else return null;
  }
  return content.length === 0 ? null : { role: message.role, content };
}

function textsOf({ content }: JsonObject): string {
  const blocks = Array.isArray(content) ? content : [];
  return blocks
    .map((block) => (isObject(block) && block.type === 'text' ? String(block.text) : imageNote(block)))
    .join('\n');
}

function imageNote(block: Json): string {
  const source = isObject(block) && isObject(block.source) ? block.source : {};
  return `[image ${printable(String(source.media_type), { maxLength: 40 })}, ${String(source.data).length} characters]`;
}

function clean(text: string): string {
  return printable(text, { newlines: true }).trim();
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
