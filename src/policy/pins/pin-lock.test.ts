import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { memoryStore } from '../../store/index.ts';
import { defineTool } from '../../tools/index.ts';
import { allowAll } from '../allow-all.ts';
import { who } from '../fixtures.ts';
import { OTHER, SHOP, toolOf } from './fixtures.ts';
import { lockDifferences, type PinLock, pinLock, readPinLock } from './pin-lock.ts';
import { pins } from './pins.ts';
import { withPins } from './with-pins.ts';

const REFUND: JsonObject = { name: 'refund', description: 'Refunds.', inputSchema: { type: 'object' } };
const PAY: JsonObject = { ...REFUND, name: 'pay' };
const SERVER = { server: SHOP, package: 'npm shop@1.2.3', instructions: 'Ask first.' };
const work = defineTool({ name: 'work', description: 'Works.', input: { type: 'object' } }, () => 'done').definition;

const written = (lock: PinLock) => readPinLock(JSON.stringify(lock));
const lock = written(pinLock([toolOf(REFUND), work], [SERVER]));

test('only what is in the lock may be seen and called, tools of the process included', async () => {
  const known = await pins({ lock });
  const policy = withPins(allowAll(), known);
  const effect = (tool: ReturnType<typeof toolOf>) => policy.view(who, tool).effect;
  expect([effect(toolOf(REFUND)), effect(work)]).toEqual(['allow', 'allow']);
  expect(known.verdict(toolOf(PAY))).toMatchObject({ code: 'pin_not_locked' });
  expect(known.verdict(toolOf(REFUND, OTHER))).toMatchObject({ code: 'pin_not_locked' });
  const changed = toolOf({ ...REFUND, description: 'Refunds, and sends it on.' });
  expect(known.verdict(changed)?.text).toContain('description differs');
  expect(effect(changed)).toBe('deny');
  const call = { args: {}, labels: new Set<string>() };
  expect((await policy.decide(who, changed, call)).effect).toBe('deny');
  expect(known.verdict(toolOf(REFUND, { ...SHOP, fingerprint: 'a'.repeat(64) }))).toMatchObject({
    code: 'pin_lock_differs',
  });
});

test.each([
  ['title', { title: 'The work' }],
  ['annotations', { annotations: { destructiveHint: true } }],
  ['outputSchema', { output: { type: 'object' } }],
  ['effect', { effect: 'read' }],
  ['hints', { examples: [{}] }],
  ['hints', { strict: true }],
  ['_meta', { idempotencyKey: ['/id'] }],
  ['_meta', { preview: { tool: 'look', arguments: {} } }],
] as const)('a tool of the process with another %s is another', async (part, more) => {
  const known = await pins({ lock });
  const input = { type: 'object' } as const;
  const changed = defineTool({ name: 'work', description: 'Works.', input, ...more }, () => ({})).definition;
  expect(known.verdict(changed)?.text).toMatch(new RegExp(`is another than in the lock: .*${part}\\b.* differ`));
});

test('instructions that are not in the lock, or others, are not given', async () => {
  const known = await pins({ lock });
  expect(known.instructions(SHOP, 'Ask first.')).toBeUndefined();
  expect(known.instructions(SHOP, 'Ask never.')).toMatchObject({ code: 'pin_lock_differs' });
  const silent = await pins({ lock: pinLock([toolOf(REFUND)]) });
  expect(silent.instructions(SHOP, '')).toBeUndefined();
  expect(silent.instructions(SHOP, 'Ask never.')).toMatchObject({ code: 'pin_not_locked' });
});

test('with a store beside it both have to agree', async () => {
  const store = memoryStore();
  const changed = toolOf({ ...REFUND, description: 'Refunds, and sends it on.' });
  const first = await pins({ store });
  first.verdict(toolOf(REFUND));
  await first.settled();
  const known = await pins({ store, lock: pinLock([changed]) });
  expect(known.verdict(changed)).toMatchObject({ code: 'pin_changed' });
  expect(known.verdict(toolOf(REFUND))).toMatchObject({ code: 'pin_lock_differs' });
});

test('a server may stand in the lock by a fingerprint that does not depend on the machine', async () => {
  const portable = pinLock([toolOf(REFUND)], [{ server: SHOP, fingerprint: 'portable' }]);
  const known = await pins({ lock: portable, lockedAs: () => 'portable' });
  expect(known.verdict(toolOf(REFUND))).toBeUndefined();
  expect((await pins({ lock: portable })).verdict(toolOf(REFUND))).toMatchObject({ code: 'pin_lock_differs' });
});

test('every place is told where a lock and what is there differ', () => {
  expect(lockDifferences(lock, lock)).toEqual([]);
  const now = pinLock(
    [toolOf({ ...REFUND, title: 'Refund' }), toolOf(PAY), toolOf(PAY, OTHER)],
    [{ server: SHOP, package: 'npm shop@1.2.4', fingerprint: 'x', instructions: 'Go on.' }],
  );
  expect(lockDifferences(lock, now).map(({ server, tool, what }) => [server, tool, what])).toEqual([
    ['other', null, 'new'],
    ['shop', null, 'changed'],
    ['shop', null, 'changed'],
    ['shop', null, 'changed'],
    ['shop', 'pay', 'new'],
    ['shop', 'refund', 'changed'],
    [null, 'work', 'gone'],
  ]);
  expect(lockDifferences(lock, now)[5]?.text).toBe('server shop: tool refund is defined otherwise: title');
});

test('names such as __proto__ are names like any other', async () => {
  const odd = toolOf({ ...REFUND, name: '__proto__' }, { ...SHOP, key: 'constructor' });
  const known = await pins({ lock: written(pinLock([odd])) });
  expect(known.verdict(odd)).toBeUndefined();
  const none = await pins({ lock: pinLock([]) });
  expect(none.verdict(odd)).toMatchObject({ code: 'pin_not_locked' });
});

test('what is no lock is named with its file, and anything at all is read or refused', () => {
  for (const text of ['', '{}', '{"version": 2, "servers": {}}', '{"version": 1, "servers": {"a": {}}}']) {
    expect(() => readPinLock(text, '/p/bridle.lock.json')).toThrow('/p/bridle.lock.json');
  }
  fc.assert(
    fc.property(fc.jsonValue(), (servers) => {
      const text = JSON.stringify({ version: 1, servers: servers as Json });
      try {
        expect(lockDifferences(readPinLock(text), pinLock([]))).toBeInstanceOf(Array);
      } catch (error) {
        expect(error).toMatchObject({ code: 'config_lock_unreadable' });
      }
    }),
  );
});

test('pins without a store and without a lock pin nothing, which nobody means', async () => {
  await expect(pins({})).rejects.toMatchObject({ code: 'pins_invalid' });
});
