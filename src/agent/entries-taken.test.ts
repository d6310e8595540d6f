import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { entriesTaken } from './entries-taken.ts';

const CODE = { type: 'code_execution_20260120', name: 'code_execution' };
const byCode = ['direct', 'code_execution_20260120'];

function tool(name: string, more: JsonObject = {}): JsonObject {
  return { name, input_schema: { type: 'object', additionalProperties: false }, ...more };
}

function refused(entries: readonly JsonObject[], model: string, noCode = false): readonly string[] {
  const tools = entriesTaken(entries, noCode);
  return checkMessagesRequest({ model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }], tools });
}

describe('the entries of a request', () => {
  test('are what they were where they go together', () => {
    const entries = [CODE, tool('a', { allowed_callers: byCode }), tool('b', { cache_control: { type: 'ephemeral' } })];
    expect(entriesTaken(entries, false)).toEqual(entries);
    expect(refused(entries, 'claude-opus-5-5')).toEqual([]);
  });

  test('name no caller of code where the model has none, and one that only code may call is left out', () => {
    const entries = [CODE, tool('a', { allowed_callers: byCode }), tool('b', { allowed_callers: byCode.slice(1) })];
    expect(entriesTaken(entries, true)).toEqual([CODE, tool('a')]);
    expect(refused(entries, 'claude-haiku-4-5', true)).toEqual([]);
  });

  test('name no caller of code where no code execution is declared, or only one that calls no tools', () => {
    for (const others of [[], [{ type: 'code_execution_20250522', name: 'code_execution' }]]) {
      const entries = [...others, tool('a', { allowed_callers: byCode })];
      expect(entriesTaken(entries, false)).toEqual([...others, tool('a')]);
    }
    expect(refused([tool('a', { allowed_callers: byCode })], 'claude-opus-5-5')).toEqual([]);
  });

  test('are not strict where code may call them', () => {
    const entries = [CODE, tool('a', { allowed_callers: byCode, strict: true }), tool('b', { strict: true })];
    expect(entriesTaken(entries, false)).toEqual([CODE, tool('a', { allowed_callers: byCode }), entries[2]]);
    expect(refused(entries, 'claude-opus-5-5')).toEqual([]);
  });

  test('are not strict where their schema refers to a part by its $id', () => {
    const schema = { type: 'object', properties: { a: { $ref: 'part' } }, additionalProperties: false };
    const part = { $id: 'part', type: 'string' };
    const entry = tool('a', { strict: true, input_schema: { ...schema, $defs: { part } } });
    const { strict: _, ...loose } = entry;
    expect(entriesTaken([entry], false)).toEqual([loose]);
    expect(refused([entry], 'claude-opus-5-5')).toEqual([]);
  });

  test('that are deferred are no cache breakpoints, and are not deferred where all would be', () => {
    const later = tool('a', { defer_loading: true, cache_control: { type: 'ephemeral' } });
    expect(entriesTaken([later], false)).toEqual([tool('a')]);
    expect(entriesTaken([later, tool('b')], false)).toEqual([tool('a', { defer_loading: true }), tool('b')]);
    expect(refused([later], 'claude-opus-5-5')).toEqual([]);
  });

  test('have at most four cache breakpoints, none of an hour behind one of five minutes', () => {
    const ttls = ['1h', '1h', undefined, '1h', '1h', undefined];
    const entries = ttls.map((ttl, at) =>
      tool(`t${at}`, { cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } }),
    );
    const marks = entriesTaken(entries, false).map((entry) => (entry as JsonObject).cache_control ?? null);
    const short = { type: 'ephemeral' };
    expect(marks).toEqual([null, null, short, short, short, short]);
    expect(refused(entries, 'claude-opus-5-5')).toEqual([]);
  });
});
