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
  ['openai:org/model@20250101', 'openai:org/model@20250101'],
  ['openai:@host/model-v1.5', 'openai:@host/model-v1.5'],
])('%s names the model %s', async (spec, id) => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'k');
  vi.stubEnv('OPENAI_API_KEY', 'k');
  expect((await resolveModel(spec)).id).toBe(id);
});

test('a Claude model without a key is refused before anything starts', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', '');
  vi.stubEnv('ANTHROPIC_AUTH_TOKEN', '');
  expect((await codeAndHint('claude-opus-5-5')).code).toBe('model_no_key');
});

test("a model of OpenAI's own without a key is refused before anything starts, one of another server isn't", async () => {
  vi.stubEnv('OPENAI_API_KEY', '');
  vi.stubEnv('OPENAI_BASE_URL', '');
  expect((await codeAndHint('openai:gpt-x')).code).toBe('model_no_key');
  expect((await codeAndHint('openai:x@http://localhost:11434/v1')).code).toBeUndefined();
});

test.each([
  'x@localhost:11434/v1',
  'x@localhost',
  'x@127.0.0.1:8080',
  'x@10.0.0.7/v1',
  'x@llm.example.com/v1',
  'x@box:80',
  'x@ws://h',
])('an address without its scheme is no part of the name: openai:%s', async (spec) => {
  vi.stubEnv('OPENAI_API_KEY', 'k');
  const { code, hint } = await codeAndHint(`openai:${spec}`);
  expect(code).toBe('model_bad_url');
  expect(hint).toContain('http://');
});

test.each(['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL'])('a bad %s is refused before anything starts', async (name) => {
  vi.stubEnv('ANTHROPIC_API_KEY', 'k');
  vi.stubEnv('OPENAI_API_KEY', 'k');
  vi.stubEnv(name, 'nowhere');
  const spec = name.startsWith('OPENAI') ? 'openai:gpt-x' : 'claude-opus-5-5';
  expect((await codeAndHint(spec)).code).toBe('model_bad_url');
});

test.each(['', 'gpt-5', 'openai:', 'constructor'])('%j is unknown, and the forms are listed', async (spec) => {
  const { code, hint } = await codeAndHint(spec);
  expect(code).toBe('model_unknown');
  for (const form of ['offline', 'claude-', 'openai:ID@URL']) expect(hint).toContain(form);
});

test('a short name is not guessed, but said whole', async () => {
  await expect(resolveModel('Sonnet')).rejects.toThrow(/"Sonnet"\. Did you mean claude-sonnet-\d/);
  await expect(resolveModel('gpt')).rejects.toThrow(/"gpt"\.$/);
});
