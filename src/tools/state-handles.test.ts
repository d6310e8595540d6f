import { expect, test } from 'vitest';
import type { Identity } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { ToolFailure } from './failure.ts';
import { stateHandles } from './state-handles.ts';

const ada: Identity = { agent: 'a', user: 'ada', via: 'gateway' };
const bob: Identity = { agent: 'a', user: 'bob', via: 'gateway' };

function said(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (ToolFailure.is(error)) return JSON.stringify(error.failure);
    throw error;
  }
  throw new Error('it went well');
}

test('a handle gives its opener the value, changed or not, until it is closed', () => {
  const carts = stateHandles<string[]>();
  const cart = carts.open(ada, ['tea']);
  expect(carts.update(ada, cart, (items) => [...items, 'milk'])).toEqual(['tea', 'milk']);
  expect(carts.read({ ...ada, scopes: ['more'] }, cart)).toEqual(['tea', 'milk']);
  carts.close(ada, cart);
  expect(() => carts.read(ada, cart)).toThrow(ToolFailure);
});

test('what is foreign, expired, closed or was never there is refused word for word alike', () => {
  let time = 0;
  const states = stateHandles<number>({ ttlMs: 10, otherwise: 'Call begin again.', now: () => time });
  const [expired, foreign, closed] = [states.open(ada, 1), states.open(bob, 2), states.open(ada, 3)];
  states.close(ada, closed);
  const absent = said(() => states.read(ada, 'never'));
  expect(absent).toContain('Call begin again.');
  expect(said(() => states.read(ada, foreign))).toBe(absent);
  expect(said(() => states.update(ada, foreign, () => 9))).toBe(absent);
  expect(said(() => states.close(ada, foreign))).toBe(absent);
  expect(said(() => states.read(ada, closed))).toBe(absent);
  expect(states.read(bob, foreign)).toBe(2);
  time = 10;
  expect(said(() => states.read(ada, expired))).toBe(absent);
});

test('use makes a handle last, and a change that throws changes nothing', () => {
  let time = 0;
  const states = stateHandles<number>({ ttlMs: 10, now: () => time });
  const handle = states.open(ada, 1);
  time = 9;
  states.read(ada, handle);
  time = 18;
  const fail = () => {
    throw new Error('no');
  };
  expect(() => states.update(ada, handle, fail)).toThrow('no');
  expect(states.read(ada, handle)).toBe(1);
});

test('of one caller, and of all, the one that was unused longest gives way', () => {
  const states = stateHandles<number>({ max: 2, maxAll: 3 });
  const first = states.open(ada, 1);
  const second = states.open(ada, 2);
  states.read(ada, first);
  const third = states.open(ada, 3);
  expect(() => states.read(ada, second)).toThrow(ToolFailure);
  expect([states.read(ada, first), states.read(ada, third)]).toEqual([1, 3]);
  const his = states.open(bob, 4);
  const another = states.open(bob, 5);
  expect(() => states.read(ada, first)).toThrow(ToolFailure);
  expect([states.read(ada, third), states.read(bob, his), states.read(bob, another)]).toEqual([3, 4, 5]);
});

test.each([0, 1.5, Number.NaN])('a bound of %s is refused', (ttlMs) => {
  expect(() => stateHandles({ ttlMs })).toThrow(BridleError);
});
