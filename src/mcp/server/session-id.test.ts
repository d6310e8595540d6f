import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SessionFacts, sessionIds } from './session-id.ts';

const FACTS: SessionFacts = {
  conversation: 'c-1',
  caller: 'digest',
  revision: '2025-11-25',
  capabilities: { elicitation: { form: {} } },
};

test('an id holds its session, and is another one each time', () => {
  const ids = sessionIds('secret');
  const [one, two] = [ids.seal(FACTS), ids.seal(FACTS)];
  expect(one).not.toBe(two);
  expect(one).toMatch(/^[\w-]+$/);
  expect(sessionIds('secret').open(one)).toEqual(FACTS);
  expect(one).not.toContain(Buffer.from('digest').toString('base64url'));
});

test('an id of another key, of no key, or changed in any place is none', () => {
  const ids = sessionIds('secret');
  const id = ids.seal(FACTS);
  expect(sessionIds('Secret').open(id)).toBeNull();
  expect(sessionIds().open(id)).toBeNull();
  for (let at = 0; at < id.length; at += 1) {
    const changed = `${id.slice(0, at)}${id[at] === 'A' ? 'B' : 'A'}${id.slice(at + 1)}`;
    expect(ids.open(changed), `at ${at}`).toBeNull();
  }
  for (let end = 0; end < id.length; end += 1) expect(ids.open(id.slice(0, end))).toBeNull();
});

test('an id has one spelling', () => {
  const ids = sessionIds('secret');
  const id = ids.seal(FACTS);
  for (const other of [`${id}=`, `${id}==`, ` ${id}`, `${id}\t`, `${id.slice(0, 9)}.${id.slice(9)}`]) {
    expect(ids.open(other), JSON.stringify(other)).toBeNull();
  }
});

test('text that nobody sealed is no id, whatever it is', () => {
  const ids = sessionIds('secret');
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => ids.open(text) === null));
  expect(ids.open('A'.repeat(100_000))).toBeNull();
  expect(ids.open('__proto__')).toBeNull();
});

test('an id is good for a week', () => {
  let now = 0;
  const ids = sessionIds('secret', () => now);
  const id = ids.seal(FACTS);
  now = 7 * 24 * 3_600_000 - 1;
  expect(ids.open(id)).toEqual(FACTS);
  now += 1;
  expect(ids.open(id)).toBeNull();
});

test('a client that declares a book is remembered by what matters, and its id fits into a header', () => {
  const ids = sessionIds('secret');
  const long = 'x'.repeat(100_000);
  const capabilities = {
    experimental: { long },
    elicitation: { form: { long }, url: {} },
    sampling: { tools: { long }, [long]: {} },
    roots: { listChanged: true, long },
  };
  const id = ids.seal({ ...FACTS, capabilities });
  expect(id.length).toBeLessThan(4096);
  expect(ids.open(id)?.capabilities).toEqual({
    elicitation: { form: {}, url: {} },
    sampling: { tools: {}, ['x'.repeat(32)]: {} },
    roots: { listChanged: true },
  });
});
