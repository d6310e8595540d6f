import { afterEach, expect, test, vi } from 'vitest';
import { isBridleError } from '../tools/index.ts';
import { resolveModel } from './resolve-model.ts';

afterEach(() => vi.unstubAllEnvs());

async function codeAndHint(spec: string) {
  const error: unknown = await resolveModel(spec).catch((reason: unknown) => reason);
  return isBridleError(error) ? { code: error.code, hint: error.hint ?? '' } : { code: undefined, hint: '' };
}

test.each([
  ['claude-opus-5-5', 'claude-opus-5-5'],
  ['anthropic:claude-next', 'claude-next'],
  ['openai:gpt-x', 'openai:gpt-x'],
  ['openai:qwen3:8b@http://localhost:11434/v1', 'openai:qwen3:8b'],
  ['openai:org/model@rev@https://host/v1', 'openai:org/model@rev'],
])('%s names the model %s', async (spec, id) => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'k');
  expect((await resolveModel(spec)).id).toBe(id);
});

test('a Claude model without a key is refused before anything starts', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', '');
  vi.stubEnv('ANTHROPIC_AUTH_TOKEN', '');
  expect((await codeAndHint('claude-opus-5-5')).code).toBe('model_no_key');
});

test.each(['', 'gpt-5', 'openai:', 'constructor'])('%j is unknown, and the forms are listed', async (spec) => {
  const { code, hint } = await codeAndHint(spec);
  expect(code).toBe('model_unknown');
  for (const form of ['offline', 'claude-', 'openai:ID@URL']) expect(hint).toContain(form);
});
