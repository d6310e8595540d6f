import { expect, test } from 'vitest';
import type { Dispatcher, Outcome } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { callGate } from './call-gate.ts';
import { readGatewayConfig } from './gateway-config.ts';

const DONE: Outcome = { kind: 'ok', raw: rawFrom({ content: [] }), isError: false };

function requestOf(agent: string): Parameters<Dispatcher['call']>[0] {
  const signal = new AbortController().signal;
  const ctx = { callId: 'c', who: { agent, via: 'gateway' as const }, signal, idleMs: 1, hardMs: 1 };
  return { name: 'x', args: rawFrom({}), profile: 'relay', conversation: 'c', ctx };
}

function gate(limits: { callsPerMinute?: number; concurrentCalls?: number }) {
  const waiting: (() => void)[] = [];
  let at = 0;
  const { agents } = readGatewayConfig({ agents: { a: { limits }, b: { limits } } }, 'f');
  const call = () => new Promise<Outcome>((resolve) => void waiting.push(() => resolve(DONE)));
  const gated = callGate(call, agents, () => at);
  return {
    gated,
    ends: () => waiting.shift()?.(),
    pass: (ms: number) => {
      at += ms;
    },
  };
}

test('each agent has as many calls under way as it may have, whatever the others do', async () => {
  const { gated, ends } = gate({ concurrentCalls: 1 });
  const first = gated.call(requestOf('a'));
  expect(await gated.call(requestOf('a'))).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed' } });
  const other = gated.call(requestOf('b'));
  expect(gated.counts()).toMatchObject({ underWay: 2, calls: 2, refused: 1 });
  ends();
  expect(await first).toBe(DONE);
  const next = gated.call(requestOf('a'));
  ends();
  ends();
  expect(await other).toBe(DONE);
  expect(await next).toBe(DONE);
  expect(gated.counts()).toEqual({ underWay: 0, calls: 3, refused: 1, isDraining: false });
});

test('calls of the last minute are counted, and the refusal says when there is room again', async () => {
  const { gated, ends, pass } = gate({ callsPerMinute: 2 });
  const made = async () => {
    const call = gated.call(requestOf('a'));
    ends();
    return (await call).kind;
  };
  expect(await made()).toBe('ok');
  pass(30_000);
  expect(await made()).toBe('ok');
  pass(20_000);
  expect(await gated.call(requestOf('a'))).toMatchObject({
    failure: { retryable: true, message: expect.stringContaining('in 10 seconds') },
  });
  pass(10_000);
  expect(await made()).toBe('ok');
  expect(await made()).toBe('failed');
});

test('draining lets nothing in and waits for what is under way, but no longer than it is told to', async () => {
  const { gated, ends } = gate({});
  const first = gated.call(requestOf('a'));
  const drained = gated.drain(600_000);
  expect(await gated.call(requestOf('a'))).toMatchObject({
    failure: { retryable: true, message: expect.stringContaining('about to end') },
  });
  ends();
  await drained;
  expect(await first).toBe(DONE);
  const stuck = gate({});
  void stuck.gated.call(requestOf('a'));
  await stuck.gated.drain(1);
  expect(stuck.gated.counts().underWay).toBe(1);
});
