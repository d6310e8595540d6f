import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject, LoopEvent, Model } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { checkToolChoice, planChoice, type ToolChoicePlan, type TurnToolChoice, whyNotForced } from './choice-plan.ts';
import { config, loopTool, ok, textBlock, toolUse } from './fixtures.ts';
import { initialState, type LoopTool } from './state.ts';
import { step } from './step.ts';
import { propertySeed } from '../../test/helpers/property-seed.ts';

const RUNS = Number(process.env.BRIDLE_PROPERTY_RUNS ?? 2_000);
const SEED = propertySeed();

const inCode: LoopTool = {
  ...loopTool('in_code'),
  entry: {
    name: 'in_code',
    description: 'Is called from code.',
    input_schema: { type: 'object' },
    allowed_callers: ['code_execution_20260120'],
  },
};
const code: LoopTool = {
  ...loopTool('code_execution'),
  entry: { type: 'code_execution_20260120', name: 'code_execution' },
};
const lists: readonly (readonly LoopTool[])[] = [
  [],
  [loopTool('read', 'read'), loopTool('write')],
  [loopTool('read', 'read'), code, inCode],
  [loopTool('read', 'read'), code, inCode],
];

const single = fc.constantFrom({}, { disable_parallel_tool_use: true }, { disable_parallel_tool_use: false });
const choice: fc.Arbitrary<TurnToolChoice> = fc.oneof(
  fc.constantFrom<TurnToolChoice>('auto', 'any', 'none'),
  single.map((more) => ({ type: 'auto', ...more }) as const),
  single.map((more) => ({ type: 'any', ...more }) as const),
  fc
    .record({ name: fc.constantFrom('read', 'read', 'in_code'), more: single })
    .map(({ name, more }) => ({ type: 'tool', name, ...more }) as const),
);
const wish: fc.Arbitrary<TurnToolChoice | ToolChoicePlan> = fc.oneof(
  { weight: 1, arbitrary: choice },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        first: fc.oneof(choice, fc.array(choice, { maxLength: 3 })),
        after: fc.constantFrom<TurnToolChoice>('auto', 'none', 'auto', 'any'),
        last: fc.constant('none' as const),
      },
      { requiredKeys: ['first'] },
    ),
  },
);

const models: readonly Model[] = [
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-fable-5-1',
  'claude-mythos-5-1',
  'claude-opus-5',
  'claude-sonnet-4-6',
  'claude-haiku-4-5',
  'somebody-elses',
].map((id) => ({ id, respond: () => Promise.reject(new Error('is not asked')) }));

type Reply = 'call' | 'pause' | 'cut' | 'answer' | 'tool_comes';
const reply = fc.constantFrom<Reply>('call', 'call', 'call', 'pause', 'cut', 'answer', 'tool_comes');

function messageOf(reply: Reply, at: number): readonly [content: Json[], stop: string] {
  switch (reply) {
    case 'call':
      return [[toolUse(`c${at}`, 'read')], 'tool_use'];
    case 'pause':
      return [[{ type: 'thinking', thinking: 'hm', signature: 's' }, textBlock('Let me go on.')], 'pause_turn'];
    case 'cut':
      return [[textBlock('Cut')], 'max_tokens'];
    default:
      return [[textBlock('Done.')], 'end_turn'];
  }
}

test('no plan of choices makes a request that its model refuses', { timeout: 600_000 }, () => {
  let forced = 0;
  let inWords = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...models),
      fc.constantFrom(...lists),
      wish,
      fc.boolean(),
      fc.integer({ min: 1, max: 6 }),
      fc.array(reply, { maxLength: 7 }),
      (model, tools, wished, noParallel, turns, replies) => {
        try {
          checkToolChoice(wished, tools, turns);
        } catch {
          return;
        }
        // What only newer models can be told by code is no matter of the choice.
        if (tools.includes(inCode) && model.id.includes('haiku')) return;
        const planned = planChoice(wished, tools, { noForce: whyNotForced(model), noParallel, turns });
        const { plan } = planned;
        let state = initialState(config({ turns }, { tools, ...(plan !== undefined && { choice: plan }) }));
        let at = 1;
        const feed = (event: LoopEvent) => {
          const next = step(state, event);
          state = next.state;
          for (const effect of next.effects) {
            if (effect.type === 'call') continue;
            if (effect.type !== 'model') return;
            const body = { ...(effect.request as JsonObject), model: model.id };
            expect(checkMessagesRequest(body)).toEqual([]);
            const type = (body as JsonObject & { tool_choice?: { type?: string } }).tool_choice?.type;
            if (type === 'any' || type === 'tool') forced += 1;
            if (JSON.stringify(body).includes('before you answer')) inWords += 1;
          }
        };
        feed({ v: 1, at, type: 'input', content: 'Do it.' });
        for (const each of replies) {
          at += 1;
          if (each === 'tool_comes') {
            const { name, effect, entry } = loopTool('late');
            feed({ v: 1, at, type: 'edit', detail: { tools: [{ name, effect, entry }] } });
            continue;
          }
          const [content, stopReason] = messageOf(each, at);
          feed({ v: 1, at, type: 'model', message: { role: 'assistant', content }, stopReason, usage: null });
          for (const running of state.running)
            feed({ v: 1, at, type: 'outcome', callId: running.id, outcome: ok('x') });
        }
      },
    ),
    { numRuns: RUNS, seed: SEED },
  );
  console.log(`${RUNS} plans of choices (seed ${SEED}): ${forced} forced requests, ${inWords} in words`);
  // A generator that never forces shows nothing.
  expect(forced).toBeGreaterThan(RUNS / 25);
  expect(inWords).toBeGreaterThan(RUNS / 25);
});
