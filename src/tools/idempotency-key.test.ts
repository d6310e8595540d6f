import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json, ServerRef } from '../contracts/index.ts';
import { defineTool, definitionFromMcp, definitionToMcp, rawFrom } from './index.ts';

const shop = (trustAnnotations: boolean): ServerRef => ({
  key: 'shop',
  scope: 'user',
  fingerprint: 'f',
  trustAnnotations,
});

function read(entry: Json, trust = true) {
  const result = definitionFromMcp(shop(trust), rawFrom(entry));
  if (!('tool' in result)) throw new Error(JSON.stringify(result));
  return result;
}

const named = (said: Json): Json => ({
  name: 'pay',
  inputSchema: { type: 'object' },
  _meta: { 'bridle/idempotencyKey': said },
});

const pay = defineTool(
  {
    name: 'pay',
    description: 'Pays.',
    input: z.object({ order: z.string(), line: z.number().optional(), note: z.string().optional() }),
    idempotencyKey: ['/order', '/line'],
  },
  () => 'paid',
).definition;

describe('an idempotency key as pointers', () => {
  test('is the same where the named arguments are, whatever the others say', () => {
    const key = pay.idempotencyKey;
    expect(key?.({ order: 'a', line: 1, note: 'x' })).toBe(key?.({ note: 'y', line: 1, order: 'a' }));
    expect(key?.({ order: 'a', line: 1 })).not.toBe(key?.({ order: 'a', line: 2 }));
    expect(key?.({ order: 'a', line: 1 })).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is none where one of them is not given', () => {
    expect(pay.idempotencyKey?.({ order: 'a' })).toBeNull();
    expect(pay.idempotencyKey?.({ order: 'a', line: null })).toBeNull();
  });

  test('goes over MCP, and is read back from a trusted server as the same', () => {
    const entry = definitionToMcp(pay);
    expect(entry).toHaveProperty(['_meta', 'bridle/idempotencyKey'], ['/order', '/line']);
    const args = { order: 'a', line: 1 };
    expect(read(entry).tool.idempotencyKey?.(args)).toBe(pay.idempotencyKey?.(args));
  });

  test('does not count from a server that is not trusted', () => {
    const { tool, notes } = read(named(['/order']), false);
    expect(tool.idempotencyKey).toBeUndefined();
    expect(notes).toEqual([]);
  });

  test.each<[string, Json]>([
    ['no list', '/order'],
    ['an empty list', []],
    ['a name', ['order']],
    ['a broken escape', ['/a~2']],
    ['a number', [7]],
    ['too many', Array.from({ length: 33 }, (_, nth) => `/${nth}`)],
  ])('that is %s is ignored with a note from a server, and refused from an author', (_, said) => {
    const { tool, notes } = read(named(said));
    expect(tool.idempotencyKey).toBeUndefined();
    expect(notes).toMatchObject([{ code: 'idempotency_key_ignored' }]);
    const define = () =>
      defineTool(
        { name: 'pay', description: 'Pays.', input: z.object({}), idempotencyKey: said as unknown as string[] },
        () => 'paid',
      );
    expect(define).toThrow(/list of JSON Pointers/);
  });

  test('can be the whole arguments', () => {
    const { idempotencyKey } = read(named([''])).tool;
    expect(idempotencyKey?.({ a: 1, b: 2 })).toBe(idempotencyKey?.({ b: 2, a: 1 }));
  });
});
