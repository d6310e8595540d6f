import { expect, test } from 'vitest';
import type { AskQuestion } from '../../contracts/index.ts';
import { memoryStore } from '../../store/index.ts';
import { tool } from '../fixtures.ts';
import { ASK_RULE, HOOK_ASKS, inboxOf, question, standingClock } from './fixtures.ts';

const HOUR = 3_600_000;

/** An inbox in which Ada allowed refunds of the order O-104 always, with these patterns. */
async function allowing(when?: Readonly<Record<string, string>>) {
  const clock = standingClock();
  const inbox = inboxOf(memoryStore(), { now: clock.now });
  const ask = (more: Partial<AskQuestion> = {}) => inbox.asker().ask(question(more));
  const answer = async (more: Partial<AskQuestion> = {}) => (await ask(more)).answer;
  const first = await ask();
  if (first.answer !== 'parked') throw new Error('The first call was not parked.');
  await inbox.approve(first.approval, { by: 'ada', always: when === undefined ? true : { when } });
  return { clock, inbox, ask, answer, first: first.approval };
}

test('an always allows later calls of the same tool by the same agent, and says whose word it was', async () => {
  const { ask, answer, inbox } = await allowing();
  const [standing] = await inbox.standing();
  expect(await ask({ args: { order: 'O-7' } })).toEqual({
    answer: 'allow',
    by: 'ada, always',
    always: 'project',
    approval: standing?.id,
  });
  expect(await answer({ tool: tool('shop', 'refund_all') })).toBe('parked');
  expect(await answer({ tool: tool('other', 'refund'), args: {} })).toBe('parked');
  expect(await answer({ who: { agent: 'other', user: 'mina', via: 'terminal' }, args: {} })).toBe('parked');
  expect(await answer({ decision: ASK_RULE, args: {} })).toBe('parked');
});

test('what a hook wants asked about is asked about each time', async () => {
  const { answer, inbox } = await allowing();
  expect(await answer({ decision: HOOK_ASKS, args: { order: 'O-7' } })).toBe('parked');
  await expect(inbox.allowAlways(question({ decision: HOOK_ASKS }), { by: 'ada' })).rejects.toMatchObject({
    code: 'approval_always_refused',
  });
});

test('its patterns bound the arguments', async () => {
  const { answer } = await allowing({ '/order': 'O-1*', '/amount': '5' });
  expect(await answer({ args: { order: 'O-199', amount: 5 } })).toBe('allow');
  for (const args of [
    { order: 'O-2', amount: 5 },
    { order: 'O-199', amount: 50 },
    { order: 'O-199' },
    { order: { id: 'O-199' }, amount: 5 },
    { order: ['O-199'], amount: 5 },
  ]) {
    expect(await answer({ args })).toBe('parked');
  }
});

test.each(['notes/../../.ssh/id', '..', 'notes\\..\\x', '../notes/a'])('a star is no way up: %s', async (path) => {
  const inbox = inboxOf(memoryStore());
  await inbox.allowAlways(question({ args: { path: 'notes/a' } }), { by: 'ada', when: { '/path': '*' } });
  expect((await inbox.asker().ask(question({ args: { path: 'notes/b' } }))).answer).toBe('allow');
  expect((await inbox.asker().ask(question({ args: { path } }))).answer).toBe('parked');
});

test('it answers those that wait already and that it covers', async () => {
  const inbox = inboxOf(memoryStore());
  const waiting = async (args: AskQuestion['args'], more: Partial<AskQuestion> = {}) => {
    const reply = await inbox.asker().ask(question({ args, ...more }));
    return reply.answer === 'parked' ? reply.approval : '';
  };
  const [first, second, other, ruled] = [
    await waiting({ path: 'notes/a' }),
    await waiting({ path: 'notes/b' }),
    await waiting({ path: 'keys/c' }),
    await waiting({ path: 'notes/d' }, { decision: ASK_RULE }),
  ];
  await inbox.approve(first, { by: 'ada', always: { when: { '/path': 'notes/*' } } });
  const states = await Promise.all([first, second, other, ruled].map(async (id) => (await inbox.show(id)).state));
  expect(states).toEqual(['approved', 'approved', 'waiting', 'waiting']);
  const [standing] = await inbox.standing();
  expect((await inbox.show(second)).decisions).toMatchObject([{ by: 'ada', always: standing?.id }]);
});

test('it is void once the tool is defined anew, also for the old definition', async () => {
  const { answer, inbox } = await allowing();
  const changed = tool('shop', 'refund');
  const redefined = { ...changed, ref: { ...changed.ref, fingerprint: 'another' } };
  expect(await answer({ tool: redefined, args: {} })).toBe('parked');
  expect(await answer({ args: { order: 'O-8' } })).toBe('parked');
  expect(await inbox.standing()).toMatchObject([
    { state: 'void', ended: { why: expect.stringContaining('definition') } },
  ]);
});

test('it expires for good', async () => {
  const { answer, clock } = await allowing();
  clock.move(31 * 24 * HOUR);
  expect(await answer({ args: { order: 'O-8' } })).toBe('parked');
  clock.move(-31 * 24 * HOUR);
  expect(await answer({ args: { order: 'O-9' } })).toBe('parked');
});

test('it can be revoked', async () => {
  const { answer, inbox } = await allowing();
  const [standing] = await inbox.standing();
  await inbox.revoke(standing?.id ?? '', { by: 'bo' });
  expect(await answer({ args: { order: 'O-8' } })).toBe('parked');
  expect(await inbox.standing()).toMatchObject([{ state: 'void', ended: { why: 'It was revoked by bo.' } }]);
});

test('once revoked, what it had answered and nobody has used yet is asked about anew', async () => {
  const inbox = inboxOf(memoryStore());
  const ask = async (order: string) => inbox.asker().ask(question({ args: { order } }));
  const [first, sibling, own] = [await ask('O-1'), await ask('O-2'), await ask('O-3')];
  if (first.answer !== 'parked' || sibling.answer !== 'parked' || own.answer !== 'parked')
    throw new Error('not parked');
  await inbox.approve(own.approval, { by: 'bo' });
  await inbox.approve(first.approval, { by: 'ada', always: true });
  const [standing] = await inbox.standing();
  await inbox.revoke(standing?.id ?? '', { by: 'ada' });
  expect((await inbox.show(sibling.approval)).state).toBe('void');
  expect((await ask('O-2')).answer).toBe('parked');
  expect((await ask('O-3')).answer).toBe('allow');
});

test.each([{ '/order': 'X*' }, { order: 'O-*' }, { '/~2': '*' }, { '': '*' }])(
  'one that would not allow the very call, or whose patterns mean nothing, is refused: %j',
  async (when) => {
    await expect(allowing(when)).rejects.toMatchObject({ code: 'approval_always_refused' });
  },
);
