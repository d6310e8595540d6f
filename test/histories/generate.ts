/**
 * Rule of this file: it makes histories and knows nothing of what is right. A history is a list of runs of one
 * conversation; a run is a list of things that happen, each fitted to the moment at which it is played.
 */
import fc from 'fast-check';
import type { Json, JsonObject, Outcome } from '../../src/contracts/index.ts';
import { rawFrom } from '../../src/tools/index.ts';

/** A block of a reply; ids of the provider's calls are given when it is played. */
export type BlockPlan =
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly input: Json;
      readonly extra: JsonObject;
    }
  | { readonly kind: 'member'; readonly id: string; readonly name: string }
  | { readonly kind: 'code_call'; readonly id: string; readonly which: number }
  | { readonly kind: 'server'; readonly name: 'web_search' | 'code_execution' }
  | { readonly kind: 'server_result'; readonly which: number }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'plain'; readonly block: Json };

export type Action =
  /** What comes next of what is waited for: the reply, or the outcome of one of the calls under way. */
  | {
      readonly do: 'next';
      readonly blocks: readonly BlockPlan[];
      readonly stop: string;
      readonly asked: boolean;
      readonly container: boolean;
      readonly which: number;
      readonly outcome: Outcome;
    }
  | { readonly do: 'stray'; readonly outcome: Outcome }
  | { readonly do: 'tool_comes'; readonly name: string; readonly deferred: boolean }
  | { readonly do: 'tool_goes'; readonly name: string }
  /** The process dies and the run is resumed; of the calls under way these are given out again, the others were lost. */
  | { readonly do: 'crash'; readonly again: number }
  | { readonly do: 'note' | 'stray_reply' | 'malformed' | 'limit' | 'abort' | 'model_failed' };

export interface RunPlan {
  /** What is done with the conversation before the run. */
  readonly before: 'goes_on' | 'reloaded' | 'other_model' | { readonly forkAt: number };
  readonly input: 'text' | 'document' | 'nothing';
  readonly actions: readonly Action[];
}

export interface Settings {
  readonly model: number;
  readonly limits: {
    readonly turns: number;
    readonly toolCalls: number;
    readonly tokens: number;
    readonly pauses: number;
  };
  readonly identicalFailures: number;
  readonly parallel: number;
  readonly siblings: 'go_on' | 'skip' | 'cancel';
  readonly canAsk: boolean;
  readonly forces: boolean;
  readonly context: 'none' | 'trim' | 'edit' | 'compact';
  readonly keepRuns: number;
  /** Who searches for deferred tools: nobody, or the loop, for a model that takes references and for one that doesn't. */
  readonly search: 'none' | 'references' | 'inline';
}

export interface History {
  readonly settings: Settings;
  readonly runs: readonly RunPlan[];
}

/** Every stop reason that a reply may give, whether it fits the reply or not. */
const STOPS = [
  'end_turn',
  'stop_sequence',
  'max_tokens',
  'model_context_window_exceeded',
  'refusal',
  'tool_use',
  'pause_turn',
  'compaction',
  'something_new',
];

const ids = fc.constantFrom('a', 'b', 'c', 'd', 'toolu_1', '', 'not fit!');
const input = fc.oneof(
  { weight: 6, arbitrary: fc.record({ n: fc.integer({ min: 0, max: 2 }) }) },
  fc.constant<Json>('{"cut'),
  fc.constant<Json>(null),
  fc.constant<Json>({ INVALID_JSON: '{"cut' }),
  fc.constant<Json>({ question: 'Which one?' }),
);
const plain = fc.constantFrom<Json>(
  { type: 'text', text: 'Let me see.' },
  { type: 'text', text: 'Which one? \n' },
  { type: 'text', text: '' },
  { type: 'text', text: '  ' },
  { type: 'redacted_thinking', data: 'x' },
  { type: 'compaction', content: 'So far: nothing.' },
  { type: 'compaction', content: null },
  { type: 'something_new', data: 1 },
  { type: 'tool_result', tool_use_id: 'a', content: 'Yours.' },
  { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
  { type: 'mcp_tool_use', id: '', name: 'x', server_name: 'm', input: {} },
  { type: 'server_tool_use', name: 'web_search', input: {} },
  'not a block',
);

const call: fc.Arbitrary<BlockPlan> = fc.record({
  kind: fc.constant('call' as const),
  id: ids,
  name: fc.constantFrom(
    'read',
    'look',
    'wide',
    'write',
    'write',
    'hidden',
    'buried',
    'find_tools',
    'late',
    'nope',
    'constructor',
    'ask_user',
    'bad name!',
    '',
  ),
  input,
  extra: fc.constantFrom<JsonObject>({}, {}, {}, { caller: { type: 'direct' } }, { caller: { type: 'odd' } }),
});

/** A reply whose calls must not run: it was cut, contradicts itself, or stops for a reason that nobody knows. */
export const unrunnable: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('next' as const),
  blocks: fc.array(call, { minLength: 1, maxLength: 4 }),
  stop: fc.constantFrom(...STOPS.filter((reason) => reason !== 'tool_use')),
  asked: fc.boolean(),
  container: fc.boolean(),
  which: fc.constant(0),
  outcome: fc.constant(ok('x')),
});

const block: fc.Arbitrary<BlockPlan> = fc.oneof(
  {
    weight: 8,
    arbitrary: call,
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('member' as const),
      id: ids,
      name: fc.constantFrom('left_click', 'screenshot', 'type'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('code_call' as const), id: ids, which: fc.nat({ max: 3 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('server' as const),
      name: fc.constantFrom('web_search' as const, 'code_execution' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('server_result' as const), which: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.constant<BlockPlan>({ kind: 'thinking' }) },
  { weight: 5, arbitrary: plain.map((each): BlockPlan => ({ kind: 'plain', block: each })) },
);

function ok(text: string, isError = false): Outcome {
  return { kind: 'ok', raw: rawFrom({ content: [{ type: 'text', text }] }), isError, content: text };
}

function failure(executed: 'executed' | 'not_executed' | 'unknown') {
  return { category: 'transient', retryable: false, message: 'It broke.', executed, attempts: [] } as const;
}

const outcome = fc.constantFrom<Outcome>(
  ok('fine'),
  ok(''),
  ok('It broke.', true),
  { kind: 'failed', failure: failure('unknown') },
  { kind: 'failed', failure: failure('not_executed') },
  { kind: 'cancelled', failure: failure('unknown') },
  { kind: 'denied', reasons: [{ room: 'policy', code: 'no', text: 'No.' }] },
  { kind: 'unknown_tool', reasons: [{ room: 'dispatch', code: 'unknown_tool', text: 'No such tool.' }] },
  { kind: 'invalid', reasons: [{ room: 'dispatch', code: 'invalid', text: 'n must be a number.' }] },
  { kind: 'parked', approval: 'ap_1', reasons: [] },
);

const next: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('next' as const),
  blocks: fc.array(block, { maxLength: 5 }),
  stop: fc.oneof({ weight: 5, arbitrary: fc.constant('fit') }, { weight: 1, arbitrary: fc.constantFrom(...STOPS) }),
  asked: fc.boolean(),
  container: fc.boolean(),
  which: fc.nat({ max: 7 }),
  outcome,
});

/** A reply without calls, and rarely with something of the provider's in it: the pauses and ends of a turn. */
const word: fc.Arbitrary<Action> = fc.record({
  do: fc.constant('next' as const),
  blocks: fc.array(
    fc.oneof({ weight: 4, arbitrary: plain.map((each): BlockPlan => ({ kind: 'plain', block: each })) }, block),
    {
      maxLength: 2,
    },
  ),
  stop: fc.constantFrom('pause_turn', 'pause_turn', 'compaction', 'max_tokens', 'fit'),
  asked: fc.boolean(),
  container: fc.boolean(),
  which: fc.nat({ max: 7 }),
  outcome,
});

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 30, arbitrary: next },
  { weight: 4, arbitrary: word },
  fc.record({ do: fc.constant('stray' as const), outcome }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('tool_comes' as const),
      name: fc.constantFrom('late', 'later', 'read'),
      deferred: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('tool_goes' as const),
      name: fc.constantFrom('late', 'look', 'hidden', 'nope'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('crash' as const), again: fc.nat({ max: 255 }) }) },
  { weight: 2, arbitrary: fc.constant<Action>({ do: 'note' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Action>(
      { do: 'stray_reply' },
      { do: 'malformed' },
      { do: 'limit' },
      { do: 'abort' },
      { do: 'model_failed' },
    ),
  },
);

const run: fc.Arbitrary<RunPlan> = fc.record({
  before: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('goes_on' as const, 'reloaded' as const, 'other_model' as const) },
    fc.record({ forkAt: fc.nat({ max: 20 }) }),
  ),
  input: fc.constantFrom('text' as const, 'text' as const, 'document' as const, 'nothing' as const),
  actions: fc.array(action, { maxLength: 14, size: 'max' }),
});

export const settings: fc.Arbitrary<Settings> = fc.record({
  model: fc.nat({ max: 3 }),
  limits: fc.record({
    turns: fc.integer({ min: 1, max: 12 }),
    toolCalls: fc.integer({ min: 1, max: 20 }),
    tokens: fc.constantFrom(20, 10_000, 10_000, 10_000),
    pauses: fc.integer({ min: 1, max: 6 }),
  }),
  identicalFailures: fc.integer({ min: 1, max: 3 }),
  parallel: fc.integer({ min: 1, max: 3 }),
  siblings: fc.constantFrom('go_on' as const, 'go_on' as const, 'skip' as const, 'cancel' as const),
  canAsk: fc.boolean(),
  forces: fc.boolean(),
  context: fc.constantFrom('none' as const, 'none' as const, 'trim' as const, 'edit' as const, 'compact' as const),
  keepRuns: fc.integer({ min: 1, max: 3 }),
  search: fc.constantFrom('none' as const, 'references' as const, 'references' as const, 'inline' as const),
});

export const history: fc.Arbitrary<History> = fc.record({
  settings,
  runs: fc.array(run, { minLength: 1, maxLength: 4 }),
});
