import { expect, test } from 'vitest';
import type { ToolHost } from '../../contracts/index.ts';
import { givenStates } from './given-states.ts';
import type { Peer } from './peer.ts';

const host = () => ({}) as ToolHost;
const of = (agent: string, { user, tool = 'pay' }: { user?: string; tool?: string } = {}) => {
  const who = { agent, via: 'library' as const, ...(user !== undefined && { user }) };
  const peer: Peer = { who, conversation: 'of this request', era: 'modern' };
  return { peer, tool };
};

test('a state names the leg of a call for whom it was given to, in the conversation that the call began in', () => {
  const states = givenStates(host());
  states.give(of('a'), 'c1', 'S');
  const leg = states.legOf(of('a'), 'S');
  expect(leg).toMatchObject({ conversation: 'c1' });
  expect(states.legOf(of('a'), 'S')).toEqual(leg);
  expect(states.legOf(of('b'), 'S')).toBeUndefined();
  expect(states.legOf(of('a', { user: 'u' }), 'S')).toBeUndefined();
  expect(states.legOf(of('a'), 'T')).toBeUndefined();
});

test('a state that was given out twice names no call: two may both be meant', () => {
  const states = givenStates(host());
  states.give(of('a'), 'c1', 'S');
  states.give(of('a'), 'c2', 'S');
  expect(states.legOf(of('a'), 'S')).toBeUndefined();
});

test('equal states of two tools name a leg of each', () => {
  const states = givenStates(host());
  const [pay, refund] = [of('a'), of('a', { tool: 'refund' })];
  states.give(pay, 'c1', 'S');
  expect(states.legOf(refund, 'S')).toBeUndefined();
  states.give(refund, 'c2', 'S');
  expect(states.legOf(pay, 'S')).toMatchObject({ conversation: 'c1' });
  expect(states.legOf(refund, 'S')).toMatchObject({ conversation: 'c2' });
  expect(states.legOf(refund, 'S')?.redelivery).not.toBe(states.legOf(pay, 'S')?.redelivery);
});

test('a state that is given again for the same leg stays one, and for another leg no longer', () => {
  const states = givenStates(host());
  states.give(of('a'), 'c1', 'S', 'leg 2');
  const leg = states.legOf(of('a'), 'S');
  states.give(of('a'), 'c1', 'S', 'leg 2');
  expect(leg).toBeDefined();
  expect(states.legOf(of('a'), 'S')).toEqual(leg);
  states.give(of('a'), 'c1', 'S', 'leg 2 with other answers');
  expect(states.legOf(of('a'), 'S')).toBeUndefined();
  states.give(of('a'), 'c1', 'S', 'leg 2 with other answers');
  expect(states.legOf(of('a'), 'S')).toBeUndefined();
});

test('what a host gave out is known to all that serve it, and to no other', () => {
  const one = host();
  givenStates(one).give(of('a'), 'c1', 'S');
  expect(givenStates(one).legOf(of('a'), 'S')).toBeDefined();
  expect(givenStates(host()).legOf(of('a'), 'S')).toBeUndefined();
});

test('so many are remembered, and the oldest are forgotten', () => {
  const states = givenStates(host());
  for (let nth = 0; nth < 10_001; nth += 1) states.give(of('a'), 'c', `S${nth}`);
  expect(states.legOf(of('a'), 'S0')).toBeUndefined();
  expect(states.legOf(of('a'), 'S1')).toBeDefined();
});
