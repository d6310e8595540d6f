import { describe, expect, test } from 'vitest';
import type { Outcome } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { calls, config, failedOutcome, ok, reply, says, script, start, toolUse } from './fixtures.ts';

const DENIED: Outcome = {
  kind: 'denied',
  reasons: [{ room: 'policy', code: 'deny_rule', text: 'Refunds are denied.' }],
};
const PARKED: Outcome = { kind: 'parked', approval: 'ap_1', reasons: [] };

/** Calls in one reply, each with its outcome, and then the end. */
async function ended(outcomes: readonly Outcome[], end = says('Done.'), limits = {}) {
  const model = script(calls(...outcomes.map(() => 'write')), end, says('never'));
  const call = async ({ ctx }: { ctx: { callId: string } }) => outcomes[Number(ctx.callId.slice(6))] ?? ok('x');
  return start(model, call, { config: config(limits) }).result;
}

describe('a hand-off', () => {
  test('is there for calls that were not allowed though the model ended its turn, and names them', async () => {
    const result = await ended([ok('fine'), DENIED]);
    expect(result.end).toBe('answered');
    expect(result.handoff).toEqual({
      reason: 'permission',
      message: 'Not allowed: write. Somebody who may decide has to take it from here.',
      tried: [
        { callId: 'write_0', name: 'write', args: { at: 0 }, outcome: 'ok' },
        {
          callId: 'write_1',
          name: 'write',
          args: { at: 1 },
          outcome: 'denied',
          category: 'permission',
          detail: 'Refunds are denied.',
        },
      ],
      partialResults: [{ callId: 'write_0', name: 'write', content: 'fine' }],
      pending: [],
      text: 'Done.',
    });
  });

  test('names what waits for an approval, also beside a question to the user', async () => {
    const content = [toolUse('a', 'write'), toolUse('q', 'ask_user', { question: 'Which?' })];
    const more = { config: config({}, { askTool: 'ask_user' }) };
    const result = await start(script(reply(content, 'tool_use')), async () => PARKED, more).result;
    expect(result.end).toBe('asked');
    expect(result.handoff).toMatchObject({
      reason: 'permission',
      message: 'Waiting for an approval: write. Somebody who may decide has to take it from here.',
      pending: [{ kind: 'approval', callId: 'a', name: 'write', approval: 'ap_1' }],
    });
  });

  test('is there for what a backend does not permit, by its own failure or by what its error result says', async () => {
    const failure = { category: 'permission', retryable: false, executed: 'not_executed', attempts: [] } as const;
    const failed: Outcome = { kind: 'failed', failure: { ...failure, message: 'Not yours.' } };
    expect((await ended([failed])).handoff).toMatchObject({ reason: 'permission' });
    const raw = rawFrom({ isError: true, content: [], structuredContent: { errorCategory: 'permission' } });
    const said: Outcome = { kind: 'ok', isError: true, raw, content: 'Not yours.' };
    expect((await ended([said])).handoff?.tried).toMatchObject([{ outcome: 'error', category: 'permission' }]);
  });

  test('is not there for a run that did what it was to do, after failures too, or after a yes that came later', async () => {
    expect((await ended([ok('fine')])).handoff).toBeUndefined();
    expect((await ended([failedOutcome()])).handoff).toBeUndefined();
    const again = (id: string) => reply([toolUse(id, 'write', { n: 1 })], 'tool_use');
    const outcomes = [DENIED, ok('fine')];
    const run = start(script(again('a'), again('b'), says('Done.')), async () => outcomes.shift() ?? ok('x'));
    expect((await run.result).handoff).toBeUndefined();
  });

  test('holds what calls had until they failed', async () => {
    const failure = { category: 'transient', retryable: true, executed: 'unknown', attempts: [] } as const;
    const partial = rawFrom({ rows: [1, 2] });
    const failed: Outcome = { kind: 'failed', failure: { ...failure, message: 'Lost the connection.', partial } };
    const raw = rawFrom({ isError: true, content: [], structuredContent: { retriable: true, partialResults: 'half' } });
    const said: Outcome = { kind: 'ok', isError: true, raw, content: 'Too slow.' };
    const result = await ended([failed, said, ok('fine')], says('never'), { turns: 1 });
    expect(result.handoff).toBeDefined();
    const whole = await ended([failed, said, ok('fine')], calls('write'), { turns: 2 });
    expect(whole.handoff).toMatchObject({
      reason: 'turns',
      tried: [{ category: 'transient' }, { outcome: 'error' }, { outcome: 'ok' }],
      partialResults: [
        { callId: 'write_0', name: 'write', content: { rows: [1, 2] } },
        { callId: 'write_1', name: 'write', content: 'half' },
        { callId: 'write_2', name: 'write', content: 'fine' },
      ],
    });
  });

  test('is there for a run that was stopped or failed, once something was tried', async () => {
    const model = script(calls('write'), new Error('No line.'));
    const failed = await start(model, async () => ok('fine')).result;
    expect(failed).toMatchObject({ end: 'failed', handoff: { reason: 'failed', tried: [{ outcome: 'ok' }] } });
    const nothing = await start(script(new Error('No line.'))).result;
    expect(nothing.end).toBe('failed');
    expect(nothing.handoff).toBeUndefined();
    const stopped = start(script(calls('write')), async () => {
      stopped.abort('enough');
      return ok('fine');
    });
    expect(await stopped.result).toMatchObject({ end: 'aborted', handoff: { reason: 'aborted', message: 'enough' } });
  });

  test('is made at once where the limit on denials says so, after the calls beside it have ended', async () => {
    const result = await ended([DENIED, ok('fine'), PARKED], says('never'), { denials: 2 });
    expect(result).toMatchObject({
      end: 'limit',
      turns: 1,
      calls: 3,
      handoff: { reason: 'denials', pending: [{ kind: 'approval', approval: 'ap_1' }] },
    });
    expect(await ended([DENIED], says('Done.'), { denials: 2 })).toMatchObject({ end: 'answered', turns: 2 });
  });
});
