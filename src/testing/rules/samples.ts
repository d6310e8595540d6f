import type { Json, JsonObject } from '../../contracts/index.ts';

/** The least that a request needs. A model that takes most of what there is. */
export const ASK: JsonObject = {
  model: 'claude-haiku-4-5',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hi' }],
};

export const ask = (more: JsonObject): JsonObject => ({ ...ASK, ...more });
/** With a model of a later generation, which forbids more and knows more. */
export const askOpus = (more: JsonObject): JsonObject => ({ ...ASK, model: 'claude-opus-5', ...more });
export const said = (...messages: readonly JsonObject[]): JsonObject => ({ ...ASK, messages: [...messages] });
export const saidWith = (tools: readonly Json[], ...messages: readonly JsonObject[]): JsonObject => ({
  ...ASK,
  tools: [...tools],
  messages: [...messages],
});

export const text = (words: string, more: JsonObject = {}): JsonObject => ({ type: 'text', text: words, ...more });
export const user = (content: Json): JsonObject => ({ role: 'user', content });
export const assistant = (content: Json): JsonObject => ({ role: 'assistant', content });
export const system = (content: Json): JsonObject => ({ role: 'system', content });
export const call = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_use',
  id,
  name: 'look',
  input: {},
  ...more,
});
export const result = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
});
export const tool = (more: JsonObject = {}): JsonObject => ({
  name: 'look',
  description: 'Looks.',
  input_schema: { type: 'object' },
  ...more,
});
/** A tool with a schema, strict. */
export const strict = (schema: JsonObject, more: JsonObject = {}): JsonObject =>
  tool({ strict: true, input_schema: { type: 'object', additionalProperties: false, ...schema }, ...more });

export const HI: JsonObject = user('Hi');
export const WEB_SEARCH: JsonObject = { type: 'web_search_20250305', name: 'web_search' };
export const CODE: JsonObject = { type: 'code_execution_20260120', name: 'code_execution' };
export const MARK: JsonObject = { cache_control: { type: 'ephemeral' } };
export const IMAGE: JsonObject = {
  type: 'image',
  source: {
    type: 'base64',
    media_type: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  },
};
