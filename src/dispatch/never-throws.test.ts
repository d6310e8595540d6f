import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Asker, CallContext, CallOutcomeRecord, Json, Policy, Source } from '../contracts/index.ts';
import { rawFrom, rawJson } from '../tools/index.ts';
import { createDispatcher } from './dispatcher.ts';
import { decision, definition, manualClock, never, ok, SERVER } from './fixtures.ts';

/** What a foreign function may do, whatever its type promises. */
type Act =
  | { readonly act: 'return' | 'resolve'; readonly value: unknown }
  | { readonly act: 'throw' | 'reject'; readonly value: unknown }
  | { readonly act: 'hang' };

function perform(act: Act): never {
  switch (act.act) {
    case 'return':
      return act.value as never;
    case 'resolve':
      return Promise.resolve(act.value) as never;
    case 'throw':
      throw act.value;
    case 'reject':
      return Promise.reject(act.value) as never;
    case 'hang':
      return never() as never;
  }
}

const loop: { self?: unknown } = {};
loop.self = loop;
const garbage = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, loop, 10n, Symbol('s'), () => 1, {}),
  fc.jsonValue(),
);
const error = fc.oneof(
  garbage,
  fc.string().map((message) => new Error(message)),
);

/** Mostly what the type promises, sometimes anything. */
function acting(good: fc.Arbitrary<unknown>): fc.Arbitrary<Act> {
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ act: fc.constantFrom('return', 'resolve'), value: good }) as fc.Arbitrary<Act>,
    },
    {
      weight: 1,
      arbitrary: fc.record({ act: fc.constantFrom('return', 'resolve'), value: garbage }) as fc.Arbitrary<Act>,
    },
    { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('throw', 'reject'), value: error }) as fc.Arbitrary<Act> },
    { weight: 1, arbitrary: fc.constant<Act>({ act: 'hang' }) },
  );
}

/** The acts of one function, call after call. */
function acts(good: fc.Arbitrary<unknown>): fc.Arbitrary<() => never> {
  return fc.array(acting(good), { minLength: 1, maxLength: 4 }).map((list) => {
    let turn = 0;
    return () => perform(list[turn++ % list.length] ?? { act: 'hang' });
  });
}

const decisions = fc.oneof(
  fc.constantFrom(decision('allow'), decision('ask'), decision('ask'), decision('deny')),
  fc.jsonValue().map((input) => ({ ...decision('allow'), input })),
);
const replies = fc.oneof(
  fc.constantFrom({ answer: 'allow', by: 'x' }, { answer: 'deny', by: 'x' }, { answer: 'parked', approval: 'A' }),
  fc.jsonValue().map((args) => ({ answer: 'allow', by: 'x', args })),
);
const answers = fc.oneof(
  fc.constantFrom<unknown>(ok('done'), { kind: 'result', raw: rawJson('{broken'), isError: false }),
  fc.jsonValue().map((value) => ({ kind: 'result', raw: rawFrom(value as Json), isError: false })),
  fc.constantFrom<unknown>(
    { kind: 'input_required', requests: rawFrom([]) },
    {
      kind: 'failure',
      failure: { category: 'transient', retryable: true, message: 'Busy.', executed: 'not_executed' },
    },
    { kind: 'failure', failure: null },
  ),
);
const previews = fc.constantFrom(
  undefined,
  { kind: 'author' } as const,
  { kind: 'tool', tool: 'work', arguments: { a: '/a' }, by: 'config' } as const,
  { kind: 'tool', tool: 'gone', arguments: {}, by: 'server' } as const,
);

const worlds = fc.record({
  view: acts(fc.constant(decision('allow'))),
  decide: acts(decisions),
  ask: acts(replies),
  intent: acts(fc.constant(undefined)),
  outcome: acts(fc.constant(undefined)),
  call: acts(answers),
  preview: acts(fc.jsonValue()),
  onEvent: acts(fc.constant(undefined)),
  plan: previews,
  outputSchema: fc.constantFrom<Json | undefined>(undefined, { type: 'object' }, { $ref: '#/nowhere' }),
  effect: fc.constantFrom('read' as const, 'idempotent' as const, 'write' as const),
  args: fc.oneof(fc.constantFrom('{"a":1}', '{}', '[]', '{', ''), fc.json()),
  profile: fc.constantFrom('agent' as const, 'relay' as const),
  name: fc.constantFrom('mcp__shop__work', 'mcp__shop__work', 'mcp__shop__work', 'nothing', 'constructor'),
  cancelAfter: fc.option(fc.integer({ min: 0, max: 3 })),
});

const KINDS = ['ok', 'input_required', 'unknown_tool', 'invalid', 'denied', 'parked', 'failed', 'cancelled'];

test('whatever the rooms around it do, a call ends in one outcome, and leaves one record of it', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const clock = manualClock();
      const cancel = new AbortController();
      const records: CallOutcomeRecord[] = [];
      const tool = definition('work', {
        effect: world.effect,
        ...(world.plan && { preview: world.plan }),
        ...(world.outputSchema !== undefined && { outputSchema: world.outputSchema }),
      });
      const source: Source = {
        server: SERVER,
        list: async () => ({ tools: [tool], setAside: [] }),
        call: (_tool, _args, ctx) => {
          ctx.onEvent?.({ kind: 'progress', raw: rawFrom(1) });
          return world.call();
        },
        preview: () => world.preview(),
        onChange: () => () => {},
      };
      const policy: Policy = { view: () => world.view(), decide: () => world.decide() };
      const asker: Asker = { ask: () => world.ask() };
      const recorder = {
        intent: () => world.intent(),
        outcome: (record: CallOutcomeRecord) => {
          records.push(record);
          return world.outcome();
        },
      };
      const ctx: CallContext = {
        callId: 'call-1',
        who: { agent: 'tester', via: 'library' },
        signal: cancel.signal,
        idleMs: 1_000,
        hardMs: 10_000,
        onEvent: () => world.onEvent(),
      };
      // A person has no time limit: a question that hangs ends when the call is cancelled.
      clock.after(50_000, () => cancel.abort());
      if (world.cancelAfter !== null) clock.after(world.cancelAfter * 700, () => cancel.abort());

      const find = (name: string) => (name === tool.ref.name ? { tool, source } : undefined);
      const dispatcher = createDispatcher({ find, policy, asker, recorder, clock });
      const { name, profile } = world;
      const outcome = await clock.until(
        dispatcher.call({ name, args: rawJson(world.args), profile, conversation: 'c', ctx }),
      );
      expect(KINDS).toContain(outcome.kind);
      const own = records.filter(({ callId }) => callId === 'call-1');
      expect(own).toHaveLength(1);
      expect(own[0]?.outcome).toBe(outcome);
      const previewed = records.filter(({ callId }) => callId !== 'call-1').map(({ callId }) => callId);
      expect(new Set(previewed).size).toBe(previewed.length);
    }),
    { numRuns: 400 },
  );
});
