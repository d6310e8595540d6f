import { describe, expect, test } from 'vitest';
import type { LoopEvent, Outcome } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import {
  askerOf,
  bench,
  definition,
  fakeSource,
  type Handler,
  manualClock,
  ok,
  policyOf,
  SERVER,
} from '../fixtures.ts';
import { type TelemetryOptions, telemetry } from './telemetry.ts';
import type { TelemetryContext, TelemetryMeter, TelemetryTracer } from './types.ts';

interface FakeSpan {
  readonly name: string;
  readonly startTime: number | undefined;
  readonly attributes: Record<string, unknown>;
  readonly parent: unknown;
  status?: number;
  end?: number | undefined;
}

function fakeTracer() {
  const spans: FakeSpan[] = [];
  const tracer: TelemetryTracer = {
    startSpan(name, { attributes = {}, startTime } = {}, context?: TelemetryContext) {
      const parent = context?.getValue(Symbol.for('OpenTelemetry Context Key SPAN'));
      const span: FakeSpan = { name, startTime, attributes: { ...attributes }, parent };
      spans.push(span);
      return Object.assign(span, {
        setAttributes: (more: object) => Object.assign(span.attributes, more),
        setStatus: ({ code }: { code: number }) => {
          span.status = code;
        },
        end: (time?: number) => {
          span.end = time;
        },
      }) as unknown as ReturnType<TelemetryTracer['startSpan']>;
    },
  };
  return { spans, tracer };
}

function fakeMeter() {
  const points: { readonly name: string; readonly value: number; readonly attributes: unknown }[] = [];
  const meter: TelemetryMeter = {
    createHistogram: (name) => ({
      record: (value, attributes) => void points.push({ name, value, attributes }),
    }),
  };
  return { points, meter };
}

const refund = definition('refund');
const SECRET = 'a secret of the customer';
const NO_SUCH_ORDER = { kind: 'result', raw: rawFrom({ content: [], isError: true }), isError: true } as const;

function shop(handler: Handler, more: Partial<TelemetryOptions> & { effect?: 'allow' | 'ask' | 'deny' } = {}) {
  const { effect = 'allow', ...options } = more;
  const timers = manualClock();
  let asking = 0;
  const clock = { ...timers, now: () => timers.now() + asking };
  const { spans, tracer } = fakeTracer();
  const { points, meter } = fakeMeter();
  const { asker } = askerOf({ answer: 'allow', by: 'ann' });
  const recorder = telemetry({ tracer, meter, now: clock.now, ...options });
  const { call } = bench([refund], fakeSource({ refund: handler }), {
    recorder,
    clock,
    policy: policyOf(effect),
    asker: {
      async ask(question) {
        asking += 5_000;
        return asker.ask(question);
      },
    },
  });
  return { clock, spans, points, recorder, call };
}

const answers: Handler = () => ok(SECRET);

describe('the span of a call', () => {
  test('has the names of the conventions, and nothing that was said', async () => {
    const { clock, spans, call } = shop(answers);
    await clock.until(call('refund', { note: SECRET }));
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({
      name: 'execute_tool mcp__shop__refund',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'mcp__shop__refund',
        'gen_ai.tool.call.id': 'call-1',
        'gen_ai.tool.type': 'extension',
        'gen_ai.conversation.id': 'c1',
        'gen_ai.agent.name': 'tester',
        'mcp.method.name': 'tools/call',
        'bridle.server': 'shop',
        'bridle.outcome': 'ok',
      },
    });
    expect(spans[0]?.status).toBeUndefined();
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });

  test('has arguments and result where they were asked for', async () => {
    const { clock, spans, call } = shop(answers, { content: true });
    await clock.until(call('refund', { note: SECRET }));
    const { attributes } = spans[0] as FakeSpan;
    expect(attributes['gen_ai.tool.call.arguments']).toBe(JSON.stringify({ note: SECRET }));
    expect(attributes['gen_ai.tool.call.result']).toContain(SECRET);
  });

  test("tells a person's time apart from the tool's, and the metrics have the tool's alone", async () => {
    const { clock, spans, points, call } = shop(answers, { effect: 'ask' });
    await clock.until(call('refund'));
    const [span] = spans as [FakeSpan];
    expect(span.attributes).toMatchObject({ 'bridle.before_run.duration': 5, 'bridle.asked': 'allow' });
    expect(span.end).toBe((span.startTime ?? 0) + 5_000);
    expect(points).toEqual([
      {
        name: 'gen_ai.client.operation.duration',
        value: 0,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.provider.name': 'bridle',
          'gen_ai.tool.name': 'mcp__shop__refund',
        },
      },
      {
        name: 'mcp.client.operation.duration',
        value: 0,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'mcp.method.name': 'tools/call',
          'gen_ai.tool.name': 'refund',
        },
      },
    ]);
  });

  test.each<[string, Handler, 'allow' | 'deny', string]>([
    ['an error of the tool', () => NO_SUCH_ORDER, 'allow', 'tool_error'],
    [
      'a failure',
      () => ({
        kind: 'failure',
        failure: { category: 'business', retryable: false, message: SECRET, executed: 'executed', attempts: [] },
      }),
      'allow',
      'business',
    ],
    ['a denial', () => ok('never'), 'deny', 'denied'],
  ])('names the kind of %s', async (_what, handler, effect, type) => {
    const { clock, spans, points, call } = shop(handler, { effect });
    await clock.until(call('refund'));
    expect(spans[0]).toMatchObject({ status: 2, attributes: { 'error.type': type } });
    expect(points.length).toBe(effect === 'deny' ? 0 : 2);
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });

  test('has no name of its own when there is no such tool', async () => {
    const { clock, spans, call } = shop(answers);
    await clock.until(call('mcp__shop__no_such'));
    expect(spans[0]).toMatchObject({ name: 'execute_tool', attributes: { 'error.type': 'unknown_tool' } });
  });

  test('names the revision of the protocol where the connection is known', async () => {
    const era = { revision: '2025-11-25', provenBy: 'initialize', at: '2026-11-30T00:00:00Z' };
    const { clock, spans, call } = shop(answers, { connections: [{ server: SERVER, era }] });
    await clock.until(call('refund'));
    expect(spans[0]?.attributes['mcp.protocol.version']).toBe('2025-11-25');
  });
});

describe('a tracer and a meter that throw', () => {
  const broken = (): never => {
    throw new Error('The exporter broke.');
  };
  const span = { setAttributes: broken, setStatus: broken, end: broken };

  test.each<[string, Partial<TelemetryOptions>]>([
    ['at once', { tracer: { startSpan: broken }, meter: { createHistogram: broken } }],
    ['later', { tracer: { startSpan: () => span }, meter: { createHistogram: () => ({ record: broken }) } }],
  ])('cost a call and a run nothing: %s', async (_when, options) => {
    const { clock, call, recorder } = shop(() => NO_SUCH_ORDER, options);
    const run = recorder.run?.({ conversation: 'c1', who: { agent: 'tester', via: 'library' }, model: 'm', at: 1 });
    for (const event of RUN) run?.event(event);
    expect((await clock.until(call('refund'))).kind).toBe('ok');
    run?.end('failed', {});
  });
});

const OUTCOME: Outcome = { kind: 'denied', reasons: [] };
const RUN: readonly LoopEvent[] = [
  { v: 1, at: 1_000, type: 'input', content: SECRET },
  { v: 1, at: 3_000, type: 'model', message: { content: [] }, stopReason: 'tool_use', usage: { input_tokens: 7 } },
  { v: 1, at: 3_000, type: 'intent', callId: 'a', name: 'look', args: {} },
  { v: 1, at: 3_000, type: 'intent', callId: 'b', name: 'look', args: {} },
  { v: 1, at: 4_000, type: 'outcome', callId: 'a', outcome: OUTCOME },
  { v: 1, at: 5_000, type: 'outcome', callId: 'b', outcome: OUTCOME },
];

function follow(...events: LoopEvent[]) {
  const { spans, tracer } = fakeTracer();
  const { points, meter } = fakeMeter();
  const run = telemetry({ tracer, meter, now: () => 9_000 }).run?.({
    conversation: 'c1',
    who: { agent: 'tester', via: 'library' },
    model: 'openai:qwen3:8b',
    at: 900,
  });
  for (const event of events) run?.event(event);
  return { spans, points, run };
}

describe('the spans of a run', () => {
  test('has one for each reply, from when it was asked for until it was there', () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 40, output_tokens: 5 };
    const message = { id: 'msg_1', model: 'qwen3', content: [{ type: 'text', text: SECRET }] };
    const { spans, points, run } = follow(...RUN, {
      v: 1,
      at: 8_000,
      type: 'model',
      message,
      stopReason: 'end_turn',
      usage,
    });
    run?.end('answered', { text: SECRET, turns: 2, calls: 2, usage: { inputTokens: 50, outputTokens: 5 } });
    const [root, ...chats] = spans;
    expect(root).toMatchObject({
      name: 'invoke_agent tester',
      startTime: 900,
      end: 9_000,
      attributes: { 'bridle.run.end': 'answered', 'gen_ai.usage.input_tokens': 50 },
    });
    expect(chats.map(({ name, startTime, end }) => [name, startTime, end])).toEqual([
      ['chat qwen3:8b', 1_000, 3_000],
      ['chat qwen3:8b', 5_000, 8_000],
    ]);
    expect(chats.every(({ parent }) => parent === root)).toBe(true);
    expect(chats[1]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'qwen3:8b',
      'gen_ai.response.model': 'qwen3',
      'gen_ai.response.id': 'msg_1',
      'gen_ai.response.finish_reasons': ['end_turn'],
      'gen_ai.usage.input_tokens': 43,
      'gen_ai.usage.cache_read.input_tokens': 40,
      'gen_ai.usage.output_tokens': 5,
    });
    expect(points.filter(({ name }) => name === 'gen_ai.client.token.usage').map(({ value }) => value)).toEqual([
      7, 0, 43, 5,
    ]);
    expect(JSON.stringify(points)).not.toContain(SECRET);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(SECRET);
  });

  test('tell that the model could not answer, and by which code', () => {
    const detail = { by: 'model', code: 'model_overloaded', message: SECRET };
    const { spans, run } = follow(...RUN, { v: 1, at: 5_000, type: 'abort', detail });
    run?.end('failed', { error: { code: 'model_overloaded', message: SECRET } });
    expect(spans.map(({ status, attributes }) => [status, attributes['error.type']])).toEqual([
      [2, 'model_overloaded'],
      [undefined, undefined],
      [2, 'model_overloaded'],
    ]);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(SECRET);
  });

  test('tell a request that was cancelled, and none where calls ran instead', () => {
    const stop: LoopEvent = { v: 1, at: 6_000, type: 'abort', detail: { by: 'caller', message: 'Stopped.' } };
    expect(follow(...RUN, stop).spans.at(-1)).toMatchObject({
      startTime: 5_000,
      end: 6_000,
      attributes: { 'error.type': 'cancelled' },
    });
    expect(follow(...RUN.slice(0, 5), stop).spans).toHaveLength(2);
  });
});

test('the run of an agent that a call started stands below that call', () => {
  const { spans, tracer } = fakeTracer();
  const recorder = telemetry({ tracer });
  const who = { agent: 'lead', via: 'library' } as const;
  const run = recorder.run?.({ conversation: 'one', who, model: 'm', at: 1 });
  run?.event({ v: 1, at: 2, type: 'intent', callId: 'c1', name: 'start_helper', args: {} });
  recorder.trace?.({ callId: 'c1', conversation: 'one', name: 'start_helper', startedAt: 2 });
  const parent = { conversation: 'one', callId: 'c1' };
  recorder.run?.({ conversation: 'two', parent, who: { ...who, agent: 'helper' }, model: 'm', at: 3 });
  const [lead, call, helper] = spans;
  expect([lead?.name, call?.name, helper?.name]).toEqual([
    'invoke_agent lead',
    'execute_tool start_helper',
    'invoke_agent helper',
  ]);
  expect(helper?.parent).toBe(call);
});
