import type { Json, JsonObject } from '../../contracts/index.ts';
import { isJsonObject } from '../../tools/index.ts';
import type { Attributes } from './types.ts';

const OPENAI = 'openai:';

/** Which model is asked, in the conventions' words. The provider says whose API it speaks, not who runs it. */
export function modelAttributes(id: string): Attributes {
  if (id.startsWith(OPENAI)) {
    return { 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': id.slice(OPENAI.length) };
  }
  const provider = id === 'offline' ? 'bridle' : /^claude/.test(id) ? 'anthropic' : '_OTHER';
  return { 'gen_ai.provider.name': provider, 'gen_ai.request.model': id };
}

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly attributes: Attributes;
}

/** A reply's `usage` (Messages API). Input counts what was read from and written to the cache too, as the conventions do. */
export function tokensOf(usage: Json): Tokens | undefined {
  if (!isJsonObject(usage)) return undefined;
  const count = (name: string) => {
    const value = usage[name];
    return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
  };
  const created = count('cache_creation_input_tokens');
  const read = count('cache_read_input_tokens');
  const input = count('input_tokens') + created + read;
  const output = count('output_tokens');
  return {
    input,
    output,
    attributes: {
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': output,
      ...(created > 0 && { 'gen_ai.usage.cache_creation.input_tokens': created }),
      ...(read > 0 && { 'gen_ai.usage.cache_read.input_tokens': read }),
    },
  };
}

/** What the reply itself says of where it came from. */
export function replyAttributes(message: Json, stopReason: string): Attributes {
  const { id, model }: JsonObject = isJsonObject(message) ? message : {};
  return {
    'gen_ai.response.finish_reasons': [stopReason],
    ...(typeof id === 'string' && { 'gen_ai.response.id': id }),
    ...(typeof model === 'string' && { 'gen_ai.response.model': model }),
  };
}
