import { describe, expect, test, vi } from 'vitest';
import type { InputOrigin, Json, RawJson, SourceResult } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { bench, definition, fakeSource, type Handler, manualClock, ok, SERVER } from './fixtures.ts';

const who = { method: 'elicitation/create', params: { message: 'Who?' } };
const asking = (state?: string): SourceResult => ({
  kind: 'input_required',
  requests: rawFrom({ who, where: { method: 'roots/list' } }),
  ...(state !== undefined && { state }),
});

/** Asks once, then says what it was answered. */
const once: Handler = (_, { answers }) => (answers ? ok(JSON.stringify(answers)) : asking('sealed'));

function input() {
  return vi.fn(async (request: RawJson, _from?: InputOrigin): Promise<Json> => {
    const { method } = request.parse() as { method: string };
    return method === 'roots/list' ? { roots: [] } : { action: 'accept', content: { name: 'Ada' } };
  });
}

describe('a result that asks for input', () => {
  test('is answered by the host under the keys of its requests, with its state, in the same call', async () => {
    const source = fakeSource({ ask: once });
    const answer = input();
    const { call, recorder } = bench([definition('ask')], source);
    const outcome = await call('ask', { a: 1 }, { ctx: { input: answer } });
    expect(outcome).toMatchObject({ kind: 'ok' });
    const responses = { who: { action: 'accept', content: { name: 'Ada' } }, where: { roots: [] } };
    expect(source.calls.map(({ ctx }) => ctx.answers)).toEqual([undefined, { responses, state: 'sealed' }]);
    expect(source.calls.map(({ args, ctx }) => [args, ctx.callId])).toEqual([
      [{ a: 1 }, 'call-1'],
      [{ a: 1 }, 'call-1'],
    ]);
    expect(answer.mock.calls[0]?.[1]).toMatchObject({ callId: 'call-1', server: SERVER, tool: 'ask' });
    expect(recorder.intents).toHaveLength(1);
    expect(recorder.outcomes).toHaveLength(1);
  });

  test('is on record with its answer, and addresses in both are without their queries', async () => {
    const visit = {
      method: 'elicitation/create',
      params: { url: 'https://u:p@pay.example/go?code=1', message: 'Pay' },
    };
    const asksTwice: Handler = async (_, { answers, input }) => {
      if (answers) return ok('done');
      await input?.(rawFrom(visit));
      return { kind: 'input_required', requests: rawFrom({ who }), state: 's' };
    };
    const { call, recorder } = bench([definition('ask')], fakeSource({ ask: asksTwice }));
    const question = vi.fn();
    Object.assign(recorder, { question });
    let nth = 0;
    const answer = async () => {
      nth += 1;
      if (nth === 2) throw new Error('nobody is here');
      return { action: 'accept' };
    };
    expect(await call('ask', {}, { ctx: { input: answer } })).toMatchObject({ kind: 'failed' });
    const cut = { ...visit, params: { url: 'https://…@pay.example/go?…', message: 'Pay' } };
    expect(question.mock.calls.map(([record]) => record)).toMatchObject([
      { callId: 'call-1', server: 'shop', tool: 'ask', request: cut, answer: { action: 'accept' } },
      { request: who, error: 'nobody is here' },
    ]);
  });

  test('is the outcome where the host takes no requests, and where calls are relayed', async () => {
    const { call } = bench([definition('ask')], fakeSource({ ask: once }));
    expect(await call('ask')).toMatchObject({ kind: 'input_required', state: 'sealed' });
    const relayed = await call('ask', {}, { profile: 'relay', ctx: { input: input() } });
    expect(relayed).toMatchObject({ kind: 'input_required', state: 'sealed' });
  });

  test('that asks without end ends as a failure', async () => {
    const source = fakeSource({ ask: () => asking() });
    const outcome = await bench([definition('ask')], source).call('ask', {}, { ctx: { input: input() } });
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: {
        category: 'business',
        executed: 'unknown',
        message: expect.stringContaining('asked more than 8 times'),
      },
    });
    expect(source.calls).toHaveLength(9);
  });

  test.each<[string, Json]>([
    ['no object', ['x']],
    ['30 questions', Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`q${nth}`, who]))],
  ])('with %s for questions is a failure that says so', async (said, requests) => {
    const source = fakeSource({ ask: () => ({ kind: 'input_required', requests: rawFrom(requests) }) });
    const outcome = await bench([definition('ask')], source).call('ask', {}, { ctx: { input: input() } });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { message: expect.stringContaining(said) } });
  });

  test('with a state alone is come back with, after a pause; with nothing at all it is not called again', async () => {
    const clock = manualClock();
    const later: Handler = (_, { answers }) =>
      answers ? ok(JSON.stringify(answers)) : { kind: 'input_required', requests: rawFrom({}), state: 'later' };
    const source = fakeSource({ ask: later, nothing: () => ({ kind: 'input_required', requests: rawFrom({}) }) });
    const { call } = bench([definition('ask'), definition('nothing')], source, { clock });
    const pending = call('ask', {}, { ctx: { input: input() } });
    await clock.advance(0);
    expect(source.calls).toHaveLength(1);
    expect(await clock.until(pending)).toMatchObject({ kind: 'ok' });
    expect(source.calls[1]?.ctx.answers).toEqual({ responses: {}, state: 'later' });
    expect(await call('nothing', {}, { ctx: { input: input() } })).toMatchObject({
      kind: 'failed',
      failure: { message: expect.stringContaining('asked for nothing') },
    });
    expect(source.calls).toHaveLength(3);
  });

  test('that is refused tells why', async () => {
    const refuse = () => Promise.reject(new Error('nothing is sampled here'));
    const outcome = await bench([definition('ask')], fakeSource({ ask: once })).call(
      'ask',
      {},
      { ctx: { input: refuse } },
    );
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { message: expect.stringContaining('nothing is sampled here'), retryable: false },
    });
  });

  test('may wait for a person longer than a call may run', async () => {
    const clock = manualClock();
    const slow = () =>
      new Promise<Json>((resolve) => void clock.after(3_600_000, () => resolve({ action: 'decline' })));
    const { call } = bench([definition('ask')], fakeSource({ ask: once }), { clock });
    expect(await clock.until(call('ask', {}, { ctx: { input: slow } }))).toMatchObject({ kind: 'ok' });
  });

  test('that is cancelled while it stands ends at once, and tells whoever answers', async () => {
    const stop = new AbortController();
    const told = vi.fn();
    const wait = (_: RawJson, from?: InputOrigin) => {
      from?.signal.addEventListener('abort', told);
      setImmediate(() => stop.abort('enough'));
      return new Promise<Json>(() => {});
    };
    const { call } = bench([definition('ask')], fakeSource({ ask: once }));
    expect(await call('ask', {}, { ctx: { input: wait, signal: stop.signal } })).toMatchObject({ kind: 'cancelled' });
    expect(told).toHaveBeenCalledOnce();
  });
});
