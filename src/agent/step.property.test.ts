import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject, LoopEvent, Outcome } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { cancelledOutcome, config, failedOutcome, loopTool, ok, textBlock } from './fixtures.ts';
import { readMessages } from './read-messages.ts';
import { initialState, type LoopConfig, type LoopState } from './state.ts';
import { step } from './step.ts';
import { addInput, emptyTranscript, type ReadyTranscript } from './transcript.ts';

const RUNS = Number(process.env.BRIDLE_PROPERTY_RUNS ?? 2_000);

/** Long enough for any machine: how many histories are tried is what counts, not how fast. */
const TIMEOUT_MS = 600_000;

const STOPS = [
  'end_turn',
  'stop_sequence',
  'max_tokens',
  'model_context_window_exceeded',
  'refusal',
  'tool_use',
  'tool_use',
  'tool_use',
  'tool_use',
  'pause_turn',
  'compaction',
  'something_new',
];

const input = fc.oneof(
  { weight: 6, arbitrary: fc.record({ n: fc.integer({ min: 0, max: 2 }) }) },
  fc.constant<Json>('{"cut'),
  fc.constant<Json>(null),
  fc.constant<Json>({ INVALID_JSON: '{"cut' }),
  fc.constant<Json>({ question: 'Which one?' }),
);

const call = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'toolu_1', '', 'not fit!'),
    name: fc.constantFrom('read', 'look', 'write', 'write', 'nope', 'constructor', 'ask_user', 'bad name!', ''),
    input,
    extra: fc.constantFrom<JsonObject>(
      {},
      {},
      {},
      { toolset_name: 'computer' },
      { caller: { type: 'direct' } },
      { caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } },
    ),
  })
  .map(({ extra, ...block }): Json => ({ type: 'tool_use', ...block, ...extra }));

const serverId = fc.constantFrom('srvtoolu_1', 'srvtoolu_2');
const block = fc.oneof(
  { weight: 6, arbitrary: call },
  { weight: 3, arbitrary: fc.constantFrom('Let me see.', 'Which one?', '', '  ').map((text): Json => textBlock(text)) },
  fc.constant<Json>({ type: 'thinking', thinking: 'hm', signature: 's' }),
  fc.constant<Json>({ type: 'redacted_thinking', data: 'x' }),
  serverId.map((id): Json => ({ type: 'server_tool_use', id, name: 'web_search', input: {} })),
  serverId.map((id): Json => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] })),
  fc.constant<Json>({ type: 'something_new', data: 1 }),
  fc.constant<Json>('not a block'),
);

const outcome = fc.constantFrom<Outcome>(
  ok('fine'),
  ok(''),
  failedOutcome(),
  cancelledOutcome(),
  { kind: 'denied', reasons: [{ room: 'policy', code: 'no', text: 'No.' }] },
  { kind: 'unknown_tool', reasons: [{ room: 'dispatch', code: 'unknown_tool', text: 'No such tool.' }] },
  { kind: 'invalid', reasons: [{ room: 'dispatch', code: 'invalid', text: 'n must be a number.' }] },
  { kind: 'parked', approval: 'ap_1', reasons: [] },
);

type Action =
  /** What comes next of what is waited for: the reply, or the outcome of one of the running calls. */
  | {
      readonly do: 'next';
      readonly content: Json[];
      readonly stop: string;
      readonly asked: boolean;
      readonly which: number;
      readonly outcome: Outcome;
    }
  | { readonly do: 'stray'; readonly outcome: Outcome }
  | { readonly do: 'edit'; readonly name: string }
  | { readonly do: 'stray_reply' | 'malformed' | 'limit' | 'abort' | 'model_failed' };

const next = fc.record({
  do: fc.constant('next' as const),
  content: fc.array(block, { maxLength: 5 }),
  stop: fc.oneof({ weight: 4, arbitrary: fc.constant('fit') }, { weight: 1, arbitrary: fc.constantFrom(...STOPS) }),
  asked: fc.boolean(),
  which: fc.nat({ max: 7 }),
  outcome,
});

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 30, arbitrary: next },
  fc.record({ do: fc.constant('stray' as const), outcome }),
  fc.record({ do: fc.constant('edit' as const), name: fc.constantFrom('late', 'later', 'read') }),
  {
    weight: 3,
    arbitrary: fc.constantFrom<Action>(
      { do: 'stray_reply' },
      { do: 'malformed' },
      { do: 'limit' },
      { do: 'abort' },
      { do: 'model_failed' },
    ),
  },
);

const settings = fc
  .record({
    turns: fc.integer({ min: 1, max: 8 }),
    toolCalls: fc.integer({ min: 1, max: 20 }),
    tokens: fc.constantFrom(20, 200, 10_000, 10_000),
    pauses: fc.integer({ min: 1, max: 6 }),
    identicalFailures: fc.integer({ min: 1, max: 3 }),
    parallel: fc.integer({ min: 1, max: 3 }),
    canAsk: fc.boolean(),
  })
  .map(
    ({ parallel, canAsk, ...limits }): LoopConfig =>
      config(limits, { parallel, ...(canAsk && { askTool: 'ask_user' }) }),
  );

/** Without the closures of `RawJson`, which equal nothing but themselves. */
function plain({ state, effects }: ReturnType<typeof step>) {
  return {
    state,
    effects: effects.map((effect) => (effect.type === 'call' ? { ...effect, args: effect.args.text } : effect)),
  };
}

/** What a history has shown, over all its steps. */
interface Seen {
  readonly requests: Json[];
  readonly given: string[];
  readonly ends: string[];
}

function replyEvent(content: Json[], stop: string, at: number, asked = false): LoopEvent {
  const message = { role: 'assistant', content, ...(asked && { bridle: { asked: true } }) };
  const hasCalls = content.some((each) => (each as JsonObject | null)?.type === 'tool_use');
  const stopReason = stop === 'fit' ? (hasCalls ? 'tool_use' : 'pause_turn') : stop;
  return { v: 1, at, type: 'model', message, stopReason, usage: { input_tokens: 5, output_tokens: 5 } };
}

function eventOf(state: LoopState, next: Action, at: number): LoopEvent {
  switch (next.do) {
    case 'next': {
      const running = state.running[next.which % Math.max(1, state.running.length)];
      if (running !== undefined) return { v: 1, at, type: 'outcome', callId: running.id, outcome: next.outcome };
      return replyEvent(next.content, next.stop, at, next.asked);
    }
    case 'stray_reply':
      return state.waitingFor === 'model'
        ? replyEvent([], 'pause_turn', at)
        : replyEvent([textBlock('Late.')], 'end_turn', at);
    case 'malformed':
      return { v: 1, at, type: 'model', message: 'hello', stopReason: 'end_turn', usage: null };
    case 'stray':
      return { v: 1, at, type: 'outcome', callId: 'a', outcome: next.outcome };
    case 'edit': {
      const { name, effect, entry } = loopTool(next.name, 'read');
      return { v: 1, at, type: 'edit', detail: { tools: [{ name, effect, entry }] } };
    }
    case 'limit':
      return { v: 1, at, type: 'limit', detail: { limit: 'ms', message: 'Too long.' } };
    case 'abort':
      return { v: 1, at, type: 'abort', detail: { by: 'caller', message: 'Stop.' } };
    case 'model_failed':
      return { v: 1, at, type: 'abort', detail: { by: 'model', code: 'down', message: 'Down.' } };
  }
}

/** The replies here call the provider's search, so a request declares it. */
function withServerTool(request: Json): Json {
  const { tools = [], ...rest } = request as { tools?: Json[]; [field: string]: Json | undefined };
  return { ...rest, tools: [...tools, { type: 'web_search_20250305', name: 'web_search' }] } as Json;
}

/** A run from its input to its end: first as the actions say, then as quickly as it can. */
function play(first: LoopState, actions: readonly Action[], seen: Seen): LoopState {
  let state = first;
  let at = 1_000;
  let isStopped = false;
  const feed = (event: LoopEvent) => {
    isStopped ||= event.type === 'limit' || event.type === 'abort';
    const next = step(state, event);
    expect(isDeepStrictEqual(plain(step(state, event)), plain(next))).toBe(true);
    for (const effect of next.effects) {
      if (effect.type === 'model') {
        expect(checkMessagesRequest(withServerTool(effect.request))).toEqual([]);
        seen.requests.push(effect.request);
      }
      if (effect.type === 'call') {
        expect(isStopped).toBe(false);
        seen.given.push(effect.callId);
      }
      if (effect.type === 'end') seen.ends.push(effect.how);
    }
    state = next.state;
    at += 1;
  };
  feed({ v: 1, at, type: 'input', content: 'Do it.' });
  for (const each of actions) feed(eventOf(state, each, at));
  for (let left = 100; state.end === null && left > 0; left -= 1) {
    const [running] = state.running;
    if (running !== undefined) feed({ v: 1, at, type: 'outcome', callId: running.id, outcome: ok('late') });
    else feed(replyEvent([textBlock('Done.')], 'end_turn', at));
  }
  return state;
}

function blocksOf(messages: readonly Json[], type: string): JsonObject[] {
  return (messages as JsonObject[])
    .flatMap(({ content }) => (Array.isArray(content) ? (content as JsonObject[]) : []))
    .filter((each) => each.type === type);
}

test('whatever happens, every request is one that the API takes, and every call is answered exactly once', {
  timeout: TIMEOUT_MS,
}, () => {
  let requests = 0;
  let given = 0;
  const ends = new Map<string, number>();
  fc.assert(
    fc.property(
      settings,
      fc.array(fc.array(action, { maxLength: 14, size: 'max' }), { minLength: 1, maxLength: 3 }),
      (fixed, runs) => {
        let transcript: ReadyTranscript = emptyTranscript();
        for (const actions of runs) {
          const seen: Seen = { requests: [], given: [], ends: [] };
          const state = play(initialState(fixed, transcript), actions, seen);
          expect(seen.ends).toHaveLength(1);
          expect(new Set(seen.given).size).toBe(seen.given.length);
          expect(state.calls).toBe(seen.given.length);
          if (state.transcript.state === 'open') throw new Error('The run ended with an open transcript.');

          const { messages } = state.transcript;
          const calls = blocksOf(messages, 'tool_use').map((each) => each.id);
          const results = blocksOf(messages, 'tool_result').map((each) => each.tool_use_id);
          expect(results).toEqual(calls);
          expect(new Set(calls).size).toBe(calls.length);

          const goingOn = addInput(state.transcript, 'And now?').messages;
          expect(checkMessagesRequest({ max_tokens: 1, messages: [...goingOn] })).toEqual([]);
          const read = readMessages(JSON.parse(JSON.stringify(messages)) as Json[]);
          if ('problem' in read) throw new Error(read.problem);
          transcript = read;
          requests += seen.requests.length;
          given += seen.given.length;
          for (const how of seen.ends) ends.set(how, (ends.get(how) ?? 0) + 1);
        }
      },
    ),
    { numRuns: RUNS },
  );
  // Histories that end at once would show nothing.
  expect(requests).toBeGreaterThan(RUNS);
  expect(given).toBeGreaterThan(RUNS / 4);
  expect([...ends.keys()].sort()).toEqual(['aborted', 'answered', 'asked', 'failed', 'limit', 'refused', 'truncated']);
});

test('nothing of a reply that was cut, that contradicts itself or that stops for an unknown reason is ever run', {
  timeout: TIMEOUT_MS,
}, () => {
  const content = fc.array(call, { minLength: 1, maxLength: 4 });
  const stop = fc.constantFrom(...STOPS.filter((reason) => reason !== 'tool_use'));
  fc.assert(
    fc.property(settings, content, stop, (fixed, blocks, reason) => {
      const seen: Seen = { requests: [], given: [], ends: [] };
      const cut: Action = { do: 'next', content: blocks, stop: reason, asked: false, which: 0, outcome: ok('x') };
      play(initialState(fixed), [cut, cut], seen);
      expect(seen.given).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
