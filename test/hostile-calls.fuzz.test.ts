/**
 * Whatever a tool is called, whatever stands in its arguments, facts and results, and whatever the rules say: no call runs
 * without a decision that allows it, and no call ends without a record. `BRIDLE_FUZZ=100000` runs so many cases.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AskReply, Json, Outcome, Recorder, SourceResult } from '../src/contracts/index.ts';
import { askerOf, bench, fakeSource, SERVER } from '../src/dispatch/fixtures.ts';
import { allRecorders, memoryRecorder } from '../src/dispatch/index.ts';
import { compilePolicy, MODES, readAudit, verifyAudit } from '../src/policy/index.ts';
import { definitionFromMcp, rawFrom, rawJson } from '../src/tools/index.ts';
import { auditPlace, KEY } from './helpers/audit-place.ts';
import { hostileJson, hostileObject, hostileText, hostileTool } from './helpers/hostile-text.ts';

const RUNS = Number(process.env.BRIDLE_FUZZ ?? 2_000);
const WAIT = 600_000;

const rule = fc.oneof(
  fc.constantFrom('mcp__shop__*', 'mcp__shop', '*', 'mcp__other__*'),
  hostileText.map((name) => `mcp__shop__${name}`),
  fc.record({
    tool: fc.constant('mcp__shop__*'),
    when: fc.dictionary(
      hostileText.map((at) => `args:/${at}`),
      hostileJson,
    ),
  }),
);
const rules = fc.array(rule as fc.Arbitrary<string>, { maxLength: 2 });
const result: fc.Arbitrary<SourceResult> = fc.oneof(
  hostileJson.map((content): SourceResult => ({ kind: 'result', raw: rawFrom({ content }), isError: false })),
  hostileText.map((text): SourceResult => ({ kind: 'result', raw: rawJson(text), isError: true })),
  hostileJson.map((any) => any as unknown as SourceResult),
);
const reply = fc.oneof(
  hostileText.map((by): AskReply => ({ answer: 'allow', by })),
  fc.tuple(hostileText, hostileObject).map(([by, args]): AskReply => ({ answer: 'allow', by, args })),
  fc.tuple(hostileText, hostileText).map(([by, reason]): AskReply => ({ answer: 'deny', by, reason })),
  hostileText.map((approval): AskReply => ({ answer: 'parked', approval })),
  hostileJson.map((any) => any as unknown as AskReply),
);
const hostileCall = fc.record({
  entry: hostileTool,
  permissions: fc.record({ allow: rules, ask: rules, deny: rules }),
  mode: fc.constantFrom<string>(...MODES),
  args: fc.oneof(hostileObject as fc.Arbitrary<Json>, hostileJson, hostileText),
  /** Sometimes another name than the tool's. */
  name: fc.option(hostileText, { freq: 5, nil: undefined }),
  answer: result,
  said: reply,
});
type HostileCall = typeof hostileCall extends fc.Arbitrary<infer T> ? T : never;

async function run(given: HostileCall, callId: string, recorder: Recorder, onRun = () => {}): Promise<Outcome> {
  const { entry, permissions, mode, args, name, answer, said } = given;
  const read = definitionFromMcp(SERVER, rawFrom(entry));
  const tools = 'tool' in read ? [read.tool] : [];
  const { policy } = compilePolicy([{ scope: 'user', file: 'bridle.json', permissions, trusted: true }], { mode });
  const act = () => {
    onRun();
    return answer;
  };
  const source = fakeSource({}, {});
  const { call } = bench(
    tools,
    { ...source, call: async () => act() },
    { policy, asker: askerOf(said).asker, recorder },
  );
  return call(name ?? tools[0]?.ref.name ?? 'x', args, { ctx: { callId } });
}

test(
  'a call ends with one record, and runs only after its intent with a decision or a yes that allows it',
  () =>
    fc.assert(
      fc.asyncProperty(hostileCall, async (given) => {
        const kept = memoryRecorder();
        let intentsBefore = 0;
        let ran = 0;
        const outcome = await run(given, 'call-1', kept, () => {
          ran += 1;
          intentsBefore = kept.intents.length;
        });
        expect(kept.outcomes).toHaveLength(1);
        const [record] = kept.outcomes;
        expect(record?.outcome.kind).toBe(outcome.kind);
        if (ran === 0) {
          expect(outcome.kind).not.toBe('ok');
          return;
        }
        expect(intentsBefore).toBeGreaterThan(0);
        for (const { decision, asked } of kept.intents) {
          expect(decision.effect === 'allow' || (decision.effect === 'ask' && asked?.answer === 'allow')).toBe(true);
          expect(decision.reasons.length).toBeGreaterThan(0);
        }
        expect(record?.decision).toBeDefined();
      }),
      { numRuns: RUNS },
    ),
  WAIT,
);

test(
  'the audit has each of many calls once, and holds',
  async () => {
    const place = auditPlace();
    try {
      const audit = place.recorder('w');
      const kept = memoryRecorder();
      const many = fc.sample(hostileCall, { numRuns: 200, seed: 7 });
      await Promise.all(many.map((given, nth) => run(given, `call-${nth}`, allRecorders(audit, kept))));
      await audit.close();
      const ids: string[] = [];
      for await (const { call, end } of readAudit(place.logs)) {
        expect(end).toBeDefined();
        ids.push(call.id);
      }
      expect(ids.sort()).toEqual(many.map((_, nth) => `call-${nth}`).sort());
      expect(kept.outcomes).toHaveLength(many.length);
      expect((await verifyAudit({ logs: place.logs, anchors: place.anchors, key: KEY })).problems).toEqual([]);
    } finally {
      await place.remove();
    }
  },
  WAIT,
);
