import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Effect, Identity, Json, Origin, PolicyCall } from '../contracts/index.ts';
import { compilePolicy } from './compile-policy.ts';
import { layer, tool } from './fixtures.ts';
import { MODES } from './mode.ts';

/** 10,000 cases in all; `BRIDLE_FUZZ=100000` runs so many of each kind. */
const RUNS = Number(process.env.BRIDLE_FUZZ ?? 2_500);
const WAIT = 600_000;

const NAMES = [
  'shop',
  'a__b',
  '__proto__',
  'constructor',
  'my s',
  'refund',
  'get_x',
  '*',
  '',
  '\u202ex',
  'x'.repeat(200),
];
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 20 }));
const pointer = fc.oneof(
  fc.constantFrom('', '/', '/x', '/x/0', '/x/y', '/__proto__', '/constructor', '/~0', '/~2', 'x'),
  fc.string({ maxLength: 8 }),
);
const scalar = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, -0, 1, 1e308, '', '1', '1.0', 'a', '../..', '/etc/passwd'),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ maxLength: 10 }),
);
const operator = fc.constantFrom(
  'eq',
  'in',
  '<',
  '<=',
  '>',
  '>=',
  'matches',
  'startsWith',
  'inside',
  'exists',
  'not',
  'odd',
);
const { condition } = fc.letrec((tie) => ({
  test: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(operator, fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), tie('test')), { maxKeys: 2 }),
  ),
  key: fc.oneof(
    fc.tuple(fc.constantFrom('args:', 'facts:', 'origin:', 'env:'), pointer).map(([from, at]) => from + at),
    fc.constantFrom('agent', 'user', 'via', 'scope', 'label', 'time', 'odd', '__proto__'),
  ),
  condition: fc.oneof(
    { depthSize: 'small' },
    fc.dictionary(tie('key') as fc.Arbitrary<string>, tie('test'), { maxKeys: 2 }),
    fc.record({ not: tie('condition') }),
    fc.record({ any: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record({ all: fc.array(tie('condition'), { maxLength: 3 }) }),
  ),
}));
const ruleName = fc.tuple(name, name).map(([server, own]) => `mcp__${server}__${own}`);
const rule = fc.oneof(
  ruleName,
  name,
  fc.record({ tool: fc.oneof(ruleName, fc.constant('mcp__shop__refund')), when: condition }),
  fc.jsonValue({ maxDepth: 2 }),
);
const list = fc.array(rule, { maxLength: 3 });
const layers = fc.array(
  fc
    .record({ allow: list, ask: list, deny: list, trusted: fc.boolean() })
    .map(({ trusted, ...rules }) => layer(rules as never, { trusted })),
  { maxLength: 3 },
);
const effect = fc.constantFrom<Effect>('read', 'idempotent', 'write');
const anyTool = fc.oneof(
  fc.constant(tool('shop', 'refund')),
  fc.tuple(fc.option(name), name, effect).map(([server, own, does]) => tool(server, own || 'x', does)),
);
const anyWho: fc.Arbitrary<Identity> = fc.record(
  {
    agent: name,
    via: fc.constantFrom('library', 'terminal', 'gateway'),
    user: name,
    scopes: fc.array(name, { maxLength: 2 }),
  },
  { requiredKeys: ['agent', 'via'] },
) as fc.Arbitrary<Identity>;
const origin = fc.constantFrom<Origin>(
  { from: 'user' },
  { from: 'nowhere' },
  { from: 'result', callId: 'c', server: 'crm' },
);
const anyCall = fc.record(
  {
    args: fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.record({ x: scalar })),
    facts: fc.jsonValue({ maxDepth: 2 }),
    labels: fc.array(fc.constantFrom('untrusted-content', 'unknown', 'x')).map((labels) => new Set(labels)),
    origins: fc.dictionary(pointer, origin).map((origins) => new Map(Object.entries(origins))),
    at: fc.oneof(fc.integer(), fc.constantFrom(Number.NaN, 9e99)),
  },
  { requiredKeys: ['args', 'labels'] },
) as fc.Arbitrary<PolicyCall>;
const mode = fc.constantFrom(...MODES, 'unknown');

describe('whatever stands in a rule, a name or a call', () => {
  test(
    'nothing throws, and what the view denies the decision denies',
    async () => {
      await fc.assert(
        fc.asyncProperty(layers, mode, anyTool, anyWho, anyCall, async (rules, chosen, definition, who, call) => {
          const { policy } = compilePolicy(rules, { mode: chosen, root: '/' });
          const view = policy.view(who, definition);
          const decision = await policy.decide(who, definition, call);
          if (view.effect === 'deny') expect(decision.effect).toBe('deny');
          // Compiled patterns change no view.
          expect(policy.view(who, definition).effect).toBe(view.effect);
          expect(view.reasons.length).toBeGreaterThan(0);
          expect(decision.reasons.length).toBeGreaterThan(0);
        }),
        { numRuns: RUNS * 2 },
      );
    },
    WAIT,
  );

  test(
    'another untrusted layer never loosens a decision',
    async () => {
      const rank = { allow: 0, ask: 1, deny: 2 };
      const untrusted = fc
        .record({ allow: list, ask: list, deny: list })
        .map((rules) => layer(rules as never, { trusted: false }));
      await fc.assert(
        fc.asyncProperty(
          layers,
          untrusted,
          mode,
          anyTool,
          anyWho,
          anyCall,
          async (rules, extra, chosen, definition, who, call) => {
            const decided = async (all: typeof rules) =>
              rank[(await compilePolicy(all, { mode: chosen, root: '/' }).policy.decide(who, definition, call)).effect];
            expect(await decided([...rules, extra])).toBeGreaterThanOrEqual(await decided(rules));
          },
        ),
        { numRuns: RUNS },
      );
    },
    WAIT,
  );

  test(
    'a value that is left out, wrapped in a list or given as another type gets past no deny rule',
    async () => {
      const value = fc.oneof(fc.string({ minLength: 1, maxLength: 5 }), fc.integer(), fc.boolean());
      await fc.assert(
        fc.asyncProperty(value, fc.integer({ min: 0, max: 4 }), anyWho, async (denied, how, who) => {
          const disguises: Json[] = [{}, { x: [denied] }, { x: { x: denied } }, { x: null }, { x: [[denied]] }];
          const { policy } = compilePolicy([
            layer({ allow: ['mcp__shop__refund'], deny: [{ tool: 'mcp__shop__refund', when: { 'args:/x': denied } }] }),
          ]);
          const call = { args: disguises[how] as Json, labels: new Set<string>() };
          expect((await policy.decide(who, tool('shop', 'refund'), call)).effect).toBe('deny');
        }),
        { numRuns: RUNS },
      );
    },
    WAIT,
  );
});
