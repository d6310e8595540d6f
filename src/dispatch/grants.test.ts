import { expect, test } from 'vitest';
import type { Grant, Json, Outcome } from '../contracts/index.ts';
import { askerOf, bench, decision, definition, fakeSource, ok, policyOf } from './fixtures.ts';
import { memoryRecorder } from './recorders.ts';

const REFUND = definition('refund');

/** A permission that writes down what happens to it, together with what else happens. */
function grantOf(log: string[], claim: Grant['claim'] = async () => ({ claimed: true })): Grant {
  return {
    id: 'A-7',
    claim: (callId) => {
      log.push(`claim ${callId}`);
      return claim(callId);
    },
    void: async (why) => void log.push(`void: ${why}`),
    settle: (outcome: Outcome) => void log.push(`settle ${outcome.kind}`),
  };
}

function setUp(grant: Grant, log: string[], more: { readonly facts?: Json[]; readonly args?: Json } = {}) {
  const facts = [...(more.facts ?? [])];
  const tool = more.facts ? definition('refund', { preview: { kind: 'author' } }) : REFUND;
  const refund = () => {
    log.push('run');
    return ok('refunded');
  };
  const source = fakeSource({ refund }, more.facts ? { preview: async () => facts.shift() ?? null } : {});
  const recorder = memoryRecorder();
  const reply = { answer: 'allow', by: 'Ada', grant, ...(more.args !== undefined && { args: more.args }) } as const;
  const { call } = bench([tool], source, {
    policy: policyOf(() => decision('ask')),
    asker: askerOf(reply).asker,
    recorder: {
      async intent(record) {
        log.push('intent');
        await recorder.intent(record);
      },
      outcome: (record) => recorder.outcome(record),
    },
  });
  return { call, recorder };
}

test('a permission is taken when the intent is recorded and before anything runs, and told how it ended', async () => {
  const log: string[] = [];
  const { call, recorder } = setUp(grantOf(log), log);
  expect((await call('refund')).kind).toBe('ok');
  expect(log).toEqual(['intent', 'claim call-1', 'run', 'settle ok']);
  expect(recorder.intents[0]?.asked).toEqual({ answer: 'allow', by: 'Ada' });
  expect(recorder.outcomes[0]?.asked).toEqual({ answer: 'allow', by: 'Ada' });
});

test.each([
  ['is taken already', async () => ({ claimed: false, why: 'it was used by another call' }) as const, 'another call'],
  ['cannot be read', () => Promise.reject(new Error('the disk is gone')), 'the disk is gone'],
  ['answers nonsense', async () => 'yes' as never, 'not granted'],
])('a permission that %s keeps the call from running', async (_how, claim, words) => {
  const log: string[] = [];
  const { call } = setUp(grantOf(log, claim), log);
  expect(await call('refund')).toMatchObject({
    kind: 'failed',
    failure: { executed: 'not_executed', category: 'permission', message: expect.stringContaining(words) },
  });
  expect(log).toEqual(['intent', 'claim call-1', 'settle failed']);
});

test('facts that changed after the yes void the permission', async () => {
  const log: string[] = [];
  const { call } = setUp(grantOf(log), log, { facts: [{ amount: 10 }, { amount: 99 }] });
  expect(await call('refund')).toMatchObject({ kind: 'failed', failure: { executed: 'not_executed' } });
  expect(log).toEqual(['void: the facts of the call changed']);
});

test("an approver's arguments that don't fit the tool void the permission", async () => {
  const log: string[] = [];
  const { call } = setUp(grantOf(log), log, { args: ['not an object'] });
  expect((await call('refund')).kind).toBe('denied');
  expect(log).toEqual(["void: the approver's arguments don't fit the tool"]);
});

test('a parked question says why it waits', async () => {
  const asker = askerOf({ answer: 'parked', approval: 'A-7', reason: 'The one before expired.' }).asker;
  const { call } = bench([REFUND], fakeSource({}), { policy: policyOf('ask'), asker });
  const outcome = await call('refund');
  expect(outcome).toMatchObject({ kind: 'parked', approval: 'A-7' });
  expect(JSON.stringify(outcome)).toContain('The one before expired.');
});
