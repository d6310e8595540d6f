import { describe, expect, test } from 'vitest';
import type { AskQuestion, AskReply } from '../../contracts/index.ts';
import { memoryStore } from '../../store/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { tool } from '../fixtures.ts';
import { ASK_RULE, inboxOf, question, standingClock } from './fixtures.ts';

const HOUR = 3_600_000;
const BY = { by: 'ada' };

function allowed(reply: AskReply): Extract<AskReply, { answer: 'allow' }> {
  if (reply.answer !== 'allow') throw new Error(`expected a yes: ${JSON.stringify(reply)}`);
  return reply;
}

function parked(reply: AskReply): Extract<AskReply, { answer: 'parked' }> {
  if (reply.answer !== 'parked') throw new Error(`expected it to be parked: ${JSON.stringify(reply)}`);
  return reply;
}

function setUp(more: Parameters<typeof inboxOf>[1] = {}) {
  const clock = standingClock();
  const inbox = inboxOf(memoryStore(), { now: clock.now, ...more });
  const ask = (more: Partial<AskQuestion> = {}) => inbox.asker().ask(question(more));
  return { clock, inbox, ask };
}

describe('one call', () => {
  test('is parked, approved, used once, and asked about again after that', async () => {
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask());
    expect(await inbox.show(approval)).toMatchObject({ state: 'waiting', args: { order: 'O-104', amount: 5 } });
    await inbox.approve(approval, BY);
    const reply = allowed(await ask({ callId: 'call-2' }));
    expect(reply).toMatchObject({ by: 'ada', approval });
    expect(await reply.grant?.claim('call-2')).toEqual({ claimed: true });
    expect(await inbox.show(approval)).toMatchObject({ state: 'used', used: { callId: 'call-2' } });
    expect(parked(await ask()).approval).not.toBe(approval);
  });

  test('can be allowed once, however many hold the same permission', async () => {
    const { inbox, ask } = setUp();
    await inbox.approve(parked(await ask()).approval, BY);
    const grants = [allowed(await ask()).grant, allowed(await ask()).grant, allowed(await ask()).grant];
    const claims = await Promise.all(grants.map((grant, nth) => grant?.claim(`call-${nth}`)));
    expect(claims.filter((claim) => claim?.claimed)).toHaveLength(1);
    const refused = claims.find((claim) => claim?.claimed === false);
    expect(refused).toMatchObject({ why: expect.stringContaining('was used by the call call-') });
  });

  test('that is asked about twice at once waits as one question', async () => {
    const { inbox, ask } = setUp();
    const replies = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(replies.map((reply) => parked(reply).approval)).size).toBe(1);
    expect(await inbox.list()).toHaveLength(1);
  });

  test.each<[string, Partial<AskQuestion>]>([
    ['another agent', { who: { agent: 'other', user: 'mina', via: 'terminal' } }],
    ['another user', { who: { agent: 'main', user: 'bo', via: 'terminal' } }],
    ['no user', { who: { agent: 'main', via: 'terminal' } }],
    ['other arguments', { args: { order: 'O-104', amount: 6 } }],
    ['arguments of another type', { args: { order: 'O-104', amount: '5' } }],
    ['another tool', { tool: tool('shop', 'refund_all') }],
    ['another server', { tool: tool('shop2', 'refund') }],
    ['a tool of this process', { tool: tool(null, 'refund') }],
    ['facts that nobody saw', { facts: { amount: 5 } }],
    ['facts that could not be had', { factsMissing: 'The preview failed.' }],
  ])('of %s is not the one that was approved', async (_what, other) => {
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask());
    await inbox.approve(approval, BY);
    expect(parked(await ask(other)).approval).not.toBe(approval);
  });

  test('is the same whatever the order of its arguments and the version of the policy', async () => {
    const { inbox, ask } = setUp();
    await inbox.approve(parked(await ask()).approval, BY);
    const decision = { ...question().decision, policyVersion: 'p2' };
    expect((await ask({ args: { amount: 5, order: 'O-104' }, decision })).answer).toBe('allow');
  });

  test('in another place is another one', async () => {
    const store = memoryStore();
    const here = inboxOf(store);
    await here.approve(parked(await here.asker().ask(question())).approval, BY);
    const there = inboxOf(store, { place: '/elsewhere' });
    expect((await there.asker().ask(question())).answer).toBe('parked');
    expect((await here.asker().ask(question())).answer).toBe('allow');
  });
});

describe('what changed since', () => {
  const redefined = (of = tool('shop', 'refund')) => ({
    ...of,
    ref: { ...of.ref, fingerprint: 'another' },
    raw: rawFrom({ description: 'new' }),
  });

  test('a new definition of the tool voids what was approved, and says so', async () => {
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask());
    await inbox.approve(approval, BY);
    const again = parked(await ask({ tool: redefined() }));
    expect(again.reason).toContain(`The approval ${approval} is void`);
    expect(again.reason).toContain('definition changed');
    expect(await inbox.show(approval)).toMatchObject({ state: 'void' });
    expect(parked(await ask()).approval).not.toBe(approval);
  });

  test('other facts for the same arguments void it', async () => {
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask({ facts: { amount: 5 } }));
    await inbox.approve(approval, BY);
    expect(parked(await ask({ facts: { amount: 5000 } })).reason).toContain('facts');
    expect(await inbox.show(approval)).toMatchObject({ state: 'void' });
    expect(allowedOrNot(await ask({ facts: { amount: 5 } }))).toBe('parked');
  });

  test('a permission that is void can not be claimed', async () => {
    const { inbox, ask } = setUp();
    await inbox.approve(parked(await ask()).approval, BY);
    const { grant } = allowed(await ask());
    await grant?.void('the facts of the call changed');
    expect(await grant?.claim('call-2')).toMatchObject({ claimed: false, why: expect.stringContaining('void') });
  });
});

function allowedOrNot(reply: AskReply): AskReply['answer'] {
  return reply.answer;
}

describe('a no', () => {
  test('is told with its words, and stands for its time', async () => {
    const { inbox, ask, clock } = setUp();
    const { approval } = parked(await ask());
    await inbox.deny(approval, { by: 'ada', reason: 'The customer keeps it.' });
    const reply = await ask();
    expect(reply).toMatchObject({
      answer: 'deny',
      by: 'ada',
      reason: expect.stringContaining('The customer keeps it.'),
    });
    clock.move(25 * HOUR);
    expect(parked(await ask()).reason).toContain('expired');
  });

  test('takes back what was approved, also after somebody got the permission', async () => {
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask());
    await inbox.approve(approval, BY);
    const { grant } = allowed(await ask());
    await inbox.deny(approval, { by: 'bo' });
    expect(await grant?.claim('call-2')).toEqual({ claimed: false, why: 'it was taken back' });
    expect(await inbox.show(approval)).toMatchObject({
      state: 'denied',
      decisions: [
        { answer: 'approve', by: 'ada' },
        { answer: 'deny', by: 'bo' },
      ],
    });
  });

  test('can become a yes, but nothing that was used can be decided on', async () => {
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask());
    await inbox.deny(approval, BY);
    await inbox.approve(approval, BY);
    await allowed(await ask()).grant?.claim('call-2');
    await expect(inbox.deny(approval, BY)).rejects.toMatchObject({ code: 'approval_over' });
    await expect(inbox.approve(approval, BY)).rejects.toMatchObject({ code: 'approval_over' });
  });
});

describe('time', () => {
  test('a question that nobody answers expires, and stays so when the clock goes back', async () => {
    const { inbox, ask, clock } = setUp();
    const { approval } = parked(await ask());
    clock.move(25 * HOUR);
    expect(await inbox.show(approval)).toMatchObject({ state: 'expired' });
    clock.move(-25 * HOUR);
    await expect(inbox.approve(approval, BY)).rejects.toMatchObject({ code: 'approval_over' });
    expect(parked(await ask()).approval).not.toBe(approval);
  });

  test('a yes that is not used in time can not be used, whoever holds it', async () => {
    const { inbox, ask, clock } = setUp();
    const { approval } = parked(await ask());
    await inbox.approve(approval, BY);
    const { grant } = allowed(await ask());
    clock.move(25 * HOUR);
    expect(await grant?.claim('call-2')).toEqual({ claimed: false, why: 'it has expired' });
    clock.move(-25 * HOUR);
    expect(await grant?.claim('call-2')).toMatchObject({ claimed: false });
    expect(parked(await ask()).reason).toContain(`The approval ${approval} expired`);
  });

  test('no lifetime is longer than the longest', async () => {
    const { inbox, ask, clock } = setUp({ waitingMs: 1_000 * HOUR * 24 });
    expect((await inbox.show(parked(await ask()).approval)).expiresAt).toBe(clock.now() + 30 * 24 * HOUR);
  });

  test('what is long over is removed when the next question comes', async () => {
    const { inbox, ask, clock } = setUp();
    await ask();
    clock.move(25 * HOUR);
    await inbox.list();
    clock.move(31 * 24 * HOUR);
    await ask({ args: { order: 'another' } });
    expect(await inbox.list()).toHaveLength(1);
  });
});

describe('who may decide', () => {
  test('the client that made a call does not approve it, unless it is told that it may', async () => {
    const own = { name: 'a client', identity: { agent: 'main', user: 'mina', via: 'gateway' as const } };
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask());
    await expect(inbox.approve(approval, { by: own })).rejects.toMatchObject({ code: 'approval_own_call' });
    await expect(inbox.approve(approval, { by: 'main' })).rejects.toMatchObject({ code: 'approval_own_call' });
    await expect(inbox.approve(approval, { by: own, always: true })).rejects.toMatchObject({
      code: 'approval_own_call',
    });
    expect(await inbox.standing()).toEqual([]);
    const other = { ...own, identity: { ...own.identity, agent: 'the admin page' } };
    expect(await inbox.approve(approval, { by: other })).toMatchObject({ state: 'approved' });

    const lenient = setUp({ ownCalls: true });
    const asked = parked(await lenient.ask()).approval;
    expect(await lenient.inbox.approve(asked, { by: own })).toMatchObject({ state: 'approved' });
  });

  test('changed arguments are checked against the tool and kept', async () => {
    const { inbox, ask } = setUp();
    const inputSchema = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };
    const checked = { tool: { ...tool('shop', 'refund'), inputSchema } };
    const { approval } = parked(await ask(checked));
    const refused = inbox.approve(approval, { by: 'ada', args: { amount: 'much' } });
    await expect(refused).rejects.toMatchObject({ code: 'approval_args_invalid' });
    await expect(inbox.approve(approval, { by: 'ada', args: [] })).rejects.toMatchObject({
      code: 'approval_args_invalid',
    });
    await inbox.approve(approval, { by: 'ada', args: { amount: 3 } });
    expect(await ask(checked)).toMatchObject({ answer: 'allow', args: { amount: 3 } });
  });
});

describe('bounds', () => {
  test('an agent has no more open questions than it may, and others are not kept from theirs', async () => {
    const { inbox, ask } = setUp({ mostWaiting: 3 });
    for (const order of ['1', '2', '3']) await ask({ args: { order } });
    await expect(ask({ args: { order: '4' } })).rejects.toMatchObject({ code: 'approvals_full' });
    expect((await ask({ args: { order: '3' } })).answer).toBe('parked');
    expect((await ask({ who: { agent: 'other', via: 'terminal' } })).answer).toBe('parked');
    await inbox.deny(parked(await ask({ args: { order: '1' } })).approval, BY);
    expect((await ask({ args: { order: '4' } })).answer).toBe('parked');
  });

  test('a call that nobody could read is not put to anybody', async () => {
    const { ask } = setUp();
    await expect(ask({ args: { text: 'x'.repeat(300_000) } })).rejects.toMatchObject({ code: 'approval_too_large' });
  });

  test('settings that can not be meant are refused', () => {
    for (const wrong of [{ key: 'short' }, { mostWaiting: 0 }, { waitingMs: Number.NaN }]) {
      expect(() => inboxOf(memoryStore(), wrong)).toThrow(expect.objectContaining({ code: 'approvals_invalid' }));
    }
  });

  test('an id may be given in part, where no other has it', async () => {
    const { inbox, ask } = setUp();
    const { approval } = parked(await ask());
    await ask({ args: {} });
    expect((await inbox.show(approval.slice(-8))).id).toBe(approval);
    await expect(inbox.show(approval.slice(0, 4))).rejects.toMatchObject({ code: 'approval_not_found' });
    await expect(inbox.show('')).rejects.toMatchObject({ code: 'approval_not_found' });
  });
});

describe('waiting', () => {
  test('a decision made elsewhere ends the wait', async () => {
    const { inbox } = setUp();
    const asked = inbox.asker({ waitMs: 600_000 }).ask(question());
    const id = await new Promise<string>((resolve) => void inbox.watch(({ id }) => resolve(id)));
    await inbox.approve(id, BY);
    expect(allowed(await asked)).toMatchObject({ by: 'ada', approval: id });
  });

  test('cancelling the call ends the wait, and the question stays', async () => {
    const { inbox } = setUp();
    const cancel = new AbortController();
    const asked = inbox.asker({ waitMs: 600_000 }).ask(question({ signal: cancel.signal }));
    await new Promise<void>((resolve) => void inbox.watch(() => resolve()));
    cancel.abort();
    expect((await asked).answer).toBe('parked');
    expect(await inbox.list({ state: 'waiting' })).toHaveLength(1);
  });

  test('somebody at hand is asked when nothing is stored, and only then', async () => {
    const { inbox, ask } = setUp();
    const asked: string[] = [];
    const otherwise = {
      async ask({ callId }: AskQuestion) {
        asked.push(callId);
        return { answer: 'deny', by: 'person' } as const;
      },
    };
    const asker = inbox.asker({ otherwise });
    expect(await asker.ask(question())).toEqual({ answer: 'deny', by: 'person' });
    expect(await inbox.list()).toEqual([]);
    await inbox.approve(parked(await ask()).approval, BY);
    expect((await asker.ask(question({ callId: 'call-9' }))).answer).toBe('allow');
    expect(asked).toEqual(['call-1']);
  });
});

test('the outcome is kept with the approval that it used, and only with its own', async () => {
  const { inbox, ask } = setUp();
  const { approval } = parked(await ask());
  await inbox.approve(approval, BY);
  const mine = allowed(await ask()).grant;
  const late = allowed(await ask()).grant;
  await mine?.claim('call-2');
  await late?.claim('call-3');
  late?.settle({ kind: 'denied', reasons: [] });
  await inbox.flush();
  expect((await inbox.show(approval)).used).not.toHaveProperty('outcome');
  mine?.settle({ kind: 'ok', raw: rawFrom({}), isError: false });
  await inbox.flush();
  expect((await inbox.show(approval)).used).toMatchObject({ callId: 'call-2', outcome: { kind: 'ok' } });
});

test('a yes can be taken back however often somebody changed their mind', async () => {
  const { inbox, ask } = setUp();
  const { approval } = parked(await ask());
  for (let nth = 0; nth < 20; nth += 1) await inbox.approve(approval, BY);
  await expect(inbox.approve(approval, BY)).rejects.toMatchObject({ code: 'approval_over' });
  expect((await inbox.deny(approval, BY)).state).toBe('denied');
  expect((await ask()).answer).toBe('deny');
});

test('a letter or two of an id are none', async () => {
  const { inbox, ask } = setUp();
  const { approval } = parked(await ask());
  for (const part of ['', approval.slice(-1), approval.slice(0, 3)]) {
    await expect(inbox.approve(part, BY)).rejects.toMatchObject({ code: 'approval_not_found' });
  }
  expect(await inbox.show(approval.slice(-4))).toMatchObject({ id: approval, state: 'waiting' });
});

test('an ask rule keeps a call from being allowed always', async () => {
  const { inbox, ask } = setUp();
  const { approval } = parked(await ask({ decision: ASK_RULE }));
  const refused = inbox.approve(approval, { by: 'ada', always: true });
  await expect(refused).rejects.toMatchObject({ code: 'approval_always_refused' });
  expect(await inbox.show(approval)).toMatchObject({ state: 'waiting' });
});
