import { describe, expect, test } from 'vitest';
import type { Json, JsonObject, LoopEvent, Outcome, TraceEvent } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { createAgent } from './create-agent.ts';
import {
  calls,
  config,
  failedOutcome,
  loopTool,
  ok,
  reply,
  resultsOf,
  says,
  script,
  start,
  toolUse,
} from './fixtures.ts';
import { replay } from './replay.ts';
import { journalConfig } from './resume/journal-config.ts';
import { type SiblingAct, type SiblingRules, siblingRules } from './siblings.ts';

const DENIED: Outcome = { kind: 'denied', reasons: [{ room: 'policy', code: 'no', text: 'No.' }] };
const PARKED: Outcome = { kind: 'parked', approval: 'ap_1', reasons: [] };
const ERROR: Outcome = { kind: 'ok', isError: true, raw: rawFrom({ content: [] }), content: 'It broke.' };
const INVALID: Outcome = { kind: 'invalid', reasons: [{ room: 'dispatch', code: 'invalid_argument', text: 'No.' }] };
const UNKNOWN: Outcome = { kind: 'unknown_tool', reasons: [] };
const TIMED_OUT: Outcome = {
  kind: 'failed',
  failure: {
    category: 'transient',
    retryable: false,
    message: 'The tool was silent for 5 ms, its idle limit, and was stopped.',
    executed: 'unknown',
    attempts: [],
    timedOut: true,
  },
};

/** Three writes, one after another; the first goes wrong. */
async function firstGoesWrong(outcome: Outcome, siblings?: SiblingAct | Partial<SiblingRules>) {
  const ran: string[] = [];
  const call = async ({ ctx }: { ctx: { callId: string } }) => {
    ran.push(ctx.callId);
    return ctx.callId === 'write_0' ? outcome : ok('fine');
  };
  const more = siblings === undefined ? {} : { siblings: siblingRules(siblings) };
  const run = start(script(calls('write', 'write', 'write'), says('Done.')), call, { config: config({}, more) });
  const result = await run.result;
  return { ran, result, results: resultsOf(result.messages) };
}

describe('the other calls of a reply, when one goes wrong,', () => {
  test.each([
    ['is denied', DENIED],
    ['waits for an approval', PARKED],
    ['fails', failedOutcome()],
    ['gives an error', ERROR],
    ['does not fit its schema', INVALID],
    ['calls no tool', UNKNOWN],
    ['runs out of time', TIMED_OUT],
  ])('run unless something else was said: one that %s', async (_, outcome) => {
    expect((await firstGoesWrong(outcome)).ran).toEqual(['write_0', 'write_1', 'write_2']);
    expect((await firstGoesWrong(outcome, 'go_on')).ran).toEqual(['write_0', 'write_1', 'write_2']);
  });

  test.each([
    ['denied', DENIED, 'was not allowed'],
    ['denied', PARKED, 'was not allowed'],
    ['failed', failedOutcome(), 'failed'],
    ['failed', ERROR, 'failed'],
    ['failed', INVALID, 'failed'],
    ['failed', UNKNOWN, 'failed'],
    ['timedOut', TIMED_OUT, 'ran out of time'],
  ] as const)('are skipped where that was said of %s, and of nothing else', async (trouble, outcome, words) => {
    const { ran, result, results } = await firstGoesWrong(outcome, { [trouble]: 'skip' });
    expect(ran).toEqual(['write_0']);
    expect(result).toMatchObject({ end: 'answered', calls: 1 });
    for (const id of ['write_1', 'write_2']) {
      expect(JSON.parse(String(results.get(id)?.content))).toEqual({
        errorCategory: 'transient',
        isRetryable: true,
        description:
          `This call was not run: another call of the same reply, write (write_0), ${words}. ` +
          'It had no effect. Call it again if it is still wanted.',
        outcome: 'not_executed',
      });
    }
    const others = (['denied', 'failed', 'timedOut'] as const).filter((each) => each !== trouble);
    const rest = Object.fromEntries(others.map((each) => [each, 'skip']));
    expect((await firstGoesWrong(outcome, rest)).ran).toEqual(['write_0', 'write_1', 'write_2']);
  });

  test('go on where they are under way already, and only those that have not begun are skipped', async () => {
    const aborted: string[] = [];
    const model = script(calls('read', 'look', 'write'), says('Done.'));
    const call = async ({ ctx }: { ctx: { callId: string; signal: AbortSignal } }) => {
      if (ctx.callId === 'read_0') return failedOutcome();
      await new Promise((resolve) => setImmediate(resolve));
      if (ctx.signal.aborted) aborted.push(ctx.callId);
      return ok('fine');
    };
    const more = { config: config({}, { siblings: siblingRules('skip') }) };
    const results = resultsOf((await start(model, call, more).result).messages);
    expect(aborted).toEqual([]);
    expect(results.get('look_1')).toMatchObject({ content: 'fine' });
    expect(String(results.get('write_2')?.content)).toContain('not run');
  });

  test('are cancelled where that was said, with the reason, and the run waits for them', async () => {
    const model = script(calls('read', 'look', 'write'), says('Done.'));
    const call = async ({ ctx }: { ctx: { callId: string; signal: AbortSignal } }): Promise<Outcome> => {
      if (ctx.callId === 'read_0') return TIMED_OUT;
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      const message = String(ctx.signal.reason);
      const failure = { category: 'transient', retryable: false, message, executed: 'unknown', attempts: [] } as const;
      return { kind: 'cancelled', failure };
    };
    const more = { config: config({}, { siblings: siblingRules({ timedOut: 'cancel' }) }) };
    const result = await start(model, call, more).result;
    const results = resultsOf(result.messages);
    expect(String(results.get('look_1')?.content)).toContain('another call of the same reply, read (read_0), ran out');
    expect(String(results.get('write_2')?.content)).toContain('not run');
    expect(result).toMatchObject({ end: 'answered', calls: 2 });
  });

  test('are skipped after one that the loop itself refuses, and those before it run', async () => {
    const ran: string[] = [];
    const content = [toolUse('a', 'write'), toolUse('b', 'write', 'no object'), toolUse('c', 'write')];
    const call = async ({ ctx }: { ctx: { callId: string } }) => {
      ran.push(ctx.callId);
      return ok('fine');
    };
    const more = { config: config({}, { siblings: siblingRules('skip') }) };
    const run = start(script(reply(content, 'tool_use'), says('Done.')), call, more);
    const results = resultsOf((await run.result).messages);
    expect(ran).toEqual(['a']);
    expect(String(results.get('c')?.content)).toContain('write (b), failed');
  });

  test('count as no failure of their own when they are skipped', async () => {
    const model = script(
      reply([toolUse('a', 'look'), toolUse('b', 'write')], 'tool_use'),
      reply([toolUse('c', 'look', { n: 1 }), toolUse('d', 'write')], 'tool_use'),
      says('Done.'),
    );
    const more = { config: config({ identicalFailures: 2 }, { parallel: 1, siblings: siblingRules('skip') }) };
    expect((await start(model, async () => failedOutcome(), more).result).end).toBe('answered');
  });

  test('are in the journal as they were: replayed, the messages are the same', async () => {
    const fixed = config({}, { tools: [loopTool('write')], siblings: siblingRules('skip') });
    const events: TraceEvent[] = [];
    const begun = { type: 'begin', conversation: 'c1', model: 'scripted', config: journalConfig(fixed) } as const;
    const run = start(script(calls('write', 'write'), says('Done.')), async () => DENIED, {
      config: fixed,
      begun,
      onEvent: (event: LoopEvent) => events.push(JSON.parse(JSON.stringify(event)) as LoopEvent),
    });
    const { messages } = await run.result;
    expect((await replay(events)).messages).toEqual(messages);
  });
});

test('an agent takes the rules as one act or one each, and refuses what is none', async () => {
  expect(siblingRules()).toEqual({ denied: 'go_on', failed: 'go_on', timedOut: 'go_on' });
  expect(siblingRules({ failed: 'cancel' })).toEqual({ denied: 'go_on', failed: 'cancel', timedOut: 'go_on' });
  const made = (siblings: Json) => createAgent({ model: script(), siblings: siblings as SiblingAct });
  await expect(made('stop')).rejects.toMatchObject({ code: 'siblings_invalid' });
  await expect(made({ broken: 'skip' } as JsonObject)).rejects.toMatchObject({ code: 'siblings_invalid' });
});
