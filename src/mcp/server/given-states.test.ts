import { expect, test } from 'vitest';
import type { ToolHost } from '../../contracts/index.ts';
import { givenStates } from './given-states.ts';
import type { Peer } from './peer.ts';

const host = () => ({}) as ToolHost;
const peer = (agent: string, user?: string): Peer => ({
  who: { agent, via: 'library', ...(user !== undefined && { user }) },
  conversation: 'of this request',
  era: 'modern',
});

test('a state names the leg of a call for whom it was given to, in the conversation that the call began in', () => {
  const states = givenStates(host());
  states.give(peer('a'), 'c1', 'S');
  const leg = states.legOf(peer('a'), 'S');
  expect(leg).toMatchObject({ conversation: 'c1' });
  expect(states.legOf(peer('a'), 'S')).toEqual(leg);
  expect(states.legOf(peer('b'), 'S')).toBeUndefined();
  expect(states.legOf(peer('a', 'u'), 'S')).toBeUndefined();
  expect(states.legOf(peer('a'), 'T')).toBeUndefined();
});

test('a state that was given out twice names no call: two may both be meant', () => {
  const states = givenStates(host());
  states.give(peer('a'), 'c1', 'S');
  states.give(peer('a'), 'c2', 'S');
  expect(states.legOf(peer('a'), 'S')).toBeUndefined();
});

test('what a host gave out is known to all that serve it, and to no other', () => {
  const one = host();
  givenStates(one).give(peer('a'), 'c1', 'S');
  expect(givenStates(one).legOf(peer('a'), 'S')).toBeDefined();
  expect(givenStates(host()).legOf(peer('a'), 'S')).toBeUndefined();
});

test('so many are remembered, and the oldest are forgotten', () => {
  const states = givenStates(host());
  for (let nth = 0; nth < 10_001; nth += 1) states.give(peer('a'), 'c', `S${nth}`);
  expect(states.legOf(peer('a'), 'S0')).toBeUndefined();
  expect(states.legOf(peer('a'), 'S1')).toBeDefined();
});
