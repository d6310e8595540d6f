import { describe, expect, test } from 'vitest';
import type { CallContext, Json, JsonObject, SourceResult } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { Rounds, type Subject } from './rounds.ts';

const SUBJECT: Subject = { kind: 'tool', server: null, name: 'pay', args: { amount: 5 } };
const FORM = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: { type: 'object' } } };

function caller(more: Partial<CallContext> = {}): CallContext {
  return {
    callId: 'c',
    who: { agent: 'support', via: 'gateway' },
    signal: new AbortController().signal,
    idleMs: 1000,
    hardMs: 1000,
    takesQuestions: true,
    canAnswer: ['form'],
    ...more,
  };
}

const answering = (state: string, responses: Json = {}): Partial<CallContext> => ({ answers: { responses, state } });
const result = (value: Json): SourceResult => ({
  kind: 'result',
  raw: rawFrom({ content: [], value }),
  isError: false,
});
const answerOf = (given: SourceResult) => (given.kind === 'result' ? (given.raw.parse() as JsonObject).value : given);

/** A server that asks in the middle of its call, as those of the older revisions do. */
const asks =
  (request: Json = { jsonrpc: '2.0', id: 7, ...FORM }) =>
  async (ctx: CallContext): Promise<SourceResult> => {
    try {
      return result((await ctx.input?.(rawFrom(request))) ?? 'nobody');
    } catch (error) {
      return result((error as Error).message);
    }
  };

function stateOf(given: SourceResult): string {
  if (given.kind !== 'input_required' || given.state === undefined) throw new Error(JSON.stringify(given));
  return given.state;
}

describe('a server that asks in the middle of a call', () => {
  test('is answered by the leg that comes back, without the id of its own hop', async () => {
    const rounds = new Rounds();
    const first = await rounds.run(SUBJECT, caller(), asks());
    expect(first.kind === 'input_required' && first.requests.parse()).toEqual({ 'ask-1': FORM });
    expect(rounds.waiting).toBe(1);
    const never = () => Promise.reject(new Error('called twice'));
    const answers = { 'ask-1': { action: 'accept' } };
    const second = await rounds.run(SUBJECT, caller(answering(stateOf(first), answers)), never);
    expect(answerOf(second)).toEqual({ action: 'accept' });
    expect(rounds.waiting).toBe(0);
  });

  test('is refused what its caller never said that it answers', async () => {
    const rounds = new Rounds();
    const sampling = { method: 'sampling/createMessage', params: {} };
    const visit = { method: 'elicitation/create', params: { mode: 'url', url: 'https://a.example' } };
    for (const request of [sampling, visit, { method: 'roots/list' }]) {
      expect(answerOf(await rounds.run(SUBJECT, caller(), asks(request)))).toContain('answers no such request');
    }
  });

  test('asks again for what the leg left out', async () => {
    const rounds = new Rounds();
    const both = async (ctx: CallContext) => {
      const asked = [FORM, FORM].map((request) => ctx.input?.(rawFrom(request)));
      return result((await Promise.all(asked)) as Json[]);
    };
    const first = await rounds.run(SUBJECT, caller(), both);
    const second = await rounds.run(SUBJECT, caller(answering(stateOf(first), { 'ask-2': { n: 2 } })), both);
    expect(second.kind === 'input_required' && Object.keys(second.requests.parse() as object)).toEqual(['ask-1']);
    const third = await rounds.run(SUBJECT, caller(answering(stateOf(second), { 'ask-1': { n: 1 } })), both);
    expect(answerOf(third)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('learns that its call is over when nobody comes back in time, and when the gateway ends', async () => {
    const until = (rounds: Rounds) => {
      let over: (why: string) => void = () => {};
      const ended = new Promise<string>((resolve) => {
        over = resolve;
      });
      const call = (ctx: CallContext) => {
        ctx.signal.addEventListener('abort', () => over('aborted'));
        return asks()(ctx);
      };
      return { ended, first: rounds.run(SUBJECT, caller(), call) };
    };
    const brief = new Rounds({ waitMs: 1 });
    const one = until(brief);
    const state = stateOf(await one.first);
    expect(await one.ended).toBe('aborted');
    expect(await brief.run(SUBJECT, caller(answering(state)), asks())).toMatchObject({
      kind: 'failure',
      failure: { executed: 'not_executed', message: expect.stringContaining('belongs to a call that is over') },
    });
    const closed = new Rounds();
    const other = until(closed);
    await other.first;
    closed.close();
    expect(await other.ended).toBe('aborted');
  });

  test('is left with no question that stands when nobody comes back', async () => {
    const rounds = new Rounds({ waitMs: 1 });
    const answered = new Promise((resolve) => {
      void rounds.run(SUBJECT, caller(), async (ctx) => {
        const given = await asks()(ctx);
        resolve(answerOf(given));
        return given;
      });
    });
    expect(await answered).toBe('nobody came back with an answer');
  });

  test('that breaks while it waits breaks nothing else', async () => {
    const rounds = new Rounds();
    let breaks: (error: Error) => void = () => {};
    const first = await rounds.run(SUBJECT, caller(), (ctx) => {
      void ctx.input?.(rawFrom(FORM)).catch(() => {});
      return new Promise((_, reject) => {
        breaks = reject;
      });
    });
    breaks(new Error('It broke.'));
    await new Promise((resolve) => setImmediate(resolve));
    await expect(rounds.run(SUBJECT, caller(answering(stateOf(first))), asks())).rejects.toThrow('It broke.');
  });

  test('learns that its call is over when its caller cancels a leg', async () => {
    const rounds = new Rounds();
    const stop = new AbortController();
    const ended = rounds.run(SUBJECT, caller({ signal: stop.signal }), (ctx) => {
      return new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve(result('aborted'))));
    });
    stop.abort();
    expect(answerOf(await ended)).toBe('aborted');
  });

  test('keeps no more calls waiting for one agent than there may be', async () => {
    const rounds = new Rounds();
    for (let nth = 0; nth < 50; nth += 1) await rounds.run(SUBJECT, caller(), asks());
    expect(answerOf(await rounds.run(SUBJECT, caller(), asks()))).toBe('nobody');
    const other = caller({ who: { agent: 'other', via: 'gateway' } });
    expect((await rounds.run(SUBJECT, other, asks())).kind).toBe('input_required');
    rounds.close();
  });
});

describe('a request state', () => {
  const gives = async (): Promise<SourceResult> => ({ kind: 'input_required', requests: rawFrom({}), state: 'theirs' });
  const says = async ({ answers }: CallContext): Promise<SourceResult> => result(answers?.state ?? 'none');

  test('of a server is sealed on its way out, and as it was on its way back', async () => {
    const rounds = new Rounds();
    const state = stateOf(await rounds.run(SUBJECT, caller(), gives));
    expect(state).not.toContain('theirs');
    expect(answerOf(await rounds.run(SUBJECT, caller(answering(state)), says))).toBe('theirs');
  });

  test('is good for its caller, tool and arguments alone, and only as it was sealed', async () => {
    const rounds = new Rounds();
    const state = stateOf(await rounds.run(SUBJECT, caller(), gives));
    const [body = '', signature = ''] = state.split('.');
    const forged = Buffer.from(JSON.stringify({ theirs: 'mine', until: 1e15 })).toString('base64url');
    const attempts: [Subject, Partial<CallContext>][] = [
      [SUBJECT, { ...answering(state), who: { agent: 'other', via: 'gateway' } }],
      [SUBJECT, { ...answering(state), who: { agent: 'support', user: 'x', via: 'gateway' } }],
      [{ ...SUBJECT, name: 'refund' }, answering(state)],
      [{ ...SUBJECT, kind: 'prompt' }, answering(state)],
      [{ ...SUBJECT, args: { amount: 6 } }, answering(state)],
      [SUBJECT, answering(`${forged}.${signature}`)],
      [SUBJECT, answering(body)],
      [SUBJECT, answering('')],
      [SUBJECT, answering('theirs')],
      [SUBJECT, answering(`${state}.x`)],
    ];
    for (const [subject, given] of attempts) {
      expect(await rounds.run(subject, caller(given), says)).toMatchObject({
        kind: 'failure',
        failure: { category: 'validation', executed: 'not_executed', badRequest: true },
      });
    }
    expect(await new Rounds().run(SUBJECT, caller(answering(state)), says)).toMatchObject({ kind: 'failure' });
  });

  test('is taken by another gateway with the same secret', async () => {
    const state = stateOf(await new Rounds({ secret: 's' }).run(SUBJECT, caller(), gives));
    const other = new Rounds({ secret: 's' });
    expect(answerOf(await other.run(SUBJECT, caller(answering(state)), says))).toBe('theirs');
  });
});
