/**
 * Nothing that stands in the files of a clone, or in what is stored of hostile servers, drives the terminal of who looks at
 * it: rules, hooks, agents, views, pins and the audit are shown without controls, bidi and zero-width characters.
 * `BRIDLE_FUZZ=100000` runs so many.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pinLine, pinText } from '../src/cli/pin-text.ts';
import type { Json, JsonObject, ServerRef } from '../src/contracts/index.ts';
import { type AuditRecord, auditRecorder, auditWriter, pins } from '../src/policy/index.ts';
import { installationKey, memoryStore, openLogFolder, openStore } from '../src/store/index.ts';
import { definitionFromMcp, rawFrom } from '../src/tools/index.ts';
import { intentRecord, outcomeRecord } from './helpers/audit-place.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { cloneInto } from './helpers/clone.ts';
import { expectSeen, hostileJson, hostileObject, hostileText, hostileTool } from './helpers/hostile-text.ts';
import { bridle } from './helpers/terminal.ts';

const RUNS = Number(process.env.BRIDLE_FUZZ ?? 800);
const CLONES = Math.ceil(RUNS / 40);
const WAIT = 600_000;
const SERVER: ServerRef = { key: 'shop', scope: 'user', fingerprint: 'f', trustAnnotations: true };

const rule: fc.Arbitrary<Json> = fc.oneof(
  hostileText,
  hostileText.map((name) => `mcp__shop__${name}`),
  fc.record({ tool: hostileText, when: hostileObject, reason: hostileText }),
  fc.record({ tool: fc.constant('mcp__shop__x'), when: fc.constant({ agent: 'main' }), reason: hostileText }),
);
const rules = fc.array(rule, { maxLength: 3 });
const hook = fc.record({
  matcher: hostileText,
  hooks: fc.array(fc.record({ type: fc.constantFrom('command', 'odd'), command: hostileText }), { maxLength: 2 }),
});
const view = fc.record({ server: hostileText, tool: hostileText, description: hostileText, arguments: hostileObject });
const config = fc.record({
  permissions: fc.record({ allow: rules, ask: rules, deny: rules }),
  hooks: fc.dictionary(fc.oneof(fc.constantFrom('PreToolUse', 'SessionStart'), hostileText), fc.array(hook), {
    maxKeys: 2,
  }),
  views: fc.dictionary(hostileText, fc.oneof(view, hostileJson), { maxKeys: 2 }),
  previews: fc.dictionary(hostileText, hostileJson, { maxKeys: 2 }),
  audit: hostileObject,
  pins: fc.record({ mode: hostileText }),
});
const agent = fc
  .record({
    name: fc.oneof(fc.constant('reviewer'), hostileText),
    description: hostileText,
    tools: hostileText,
    odd: hostileText,
    instructions: hostileText,
  })
  .map(({ instructions, ...front }) => {
    const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    return `---\n${lines.join('\n')}\n---\n${instructions}\n`;
  });
const cases = fc.array(
  fc.record({ name: hostileText, tool: hostileText, args: hostileJson, expect: fc.constant('allow') }),
  {
    minLength: 1,
    maxLength: 3,
  },
);
const servers = fc.dictionary(
  hostileText,
  fc.oneof(fc.record({ command: hostileText, args: fc.array(hostileText), disabled: fc.constant(true) }), hostileJson),
  { maxKeys: 3 },
);

let at: Person;
beforeEach(async () => {
  at = await person();
});
afterEach(() => at.remove());

/** Both as text and as JSON; that a command refuses what it is given isn't what is tested here. */
async function show(...args: string[]): Promise<string> {
  let text = '';
  for (const more of [[], ['--json']]) {
    const { stdout, stderr } = await bridle([...args, ...more], at);
    expect(stderr).not.toContain('error (internal)');
    expectSeen(stdout);
    expectSeen(stderr);
    text += stdout;
  }
  return text;
}

test(
  'the files of a clone: rules, hooks, agents, servers and tables of cases',
  () =>
    fc.assert(
      fc.asyncProperty(config, agent, cases, servers, async (bridleJson, agentFile, table, mcpServers) => {
        cloneInto(at.cwd, {
          'bridle.json': bridleJson,
          '.claude/agents/reviewer.md': agentFile,
          'cases.json': { cases: table },
          '.mcp.json': { mcpServers },
        } as unknown as Record<string, Json>);
        await show('policy', 'check');
        await show('policy', 'test', 'cases.json');
        await show('hooks', 'list');
        await show('agents', 'list');
        await show('agents', 'show', 'reviewer');
        for (const name of Object.keys(mcpServers).slice(0, 1)) await show('mcp', 'get', `${name} `);
      }),
      { numRuns: CLONES },
    ),
  WAIT,
);

describe('what is stored of hostile servers:', () => {
  const toolOf = (entry: JsonObject) => {
    const read = definitionFromMcp(SERVER, rawFrom(entry));
    return 'tool' in read ? read.tool : undefined;
  };

  test(
    'a pin, and each place that changed',
    () =>
      fc.assert(
        fc.asyncProperty(hostileTool, hostileTool, hostileJson, hostileText, async (one, other, more, words) => {
          const known = await pins({ store: memoryStore() });
          const said: string[] = [];
          for (const entry of [one, { ...other, name: one.name, _meta: more }, { ...one, name: `${one.name}\u200b` }]) {
            const tool = toolOf(entry as JsonObject);
            if (tool) said.push(known.verdict(tool)?.text ?? '', known.explain(tool).text);
          }
          said.push(known.instructions(SERVER, words)?.text ?? '', known.instructions(SERVER, `${words}!`)?.text ?? '');
          await known.settled();
          for (const record of known.list()) {
            await known.accept(record.id, { by: words }).catch(() => {});
          }
          expectSeen([...said, ...known.list().flatMap((record) => [pinLine(record), pinText(record)])].join('\n'));
        }),
        { numRuns: RUNS },
      ),
    WAIT,
  );

  test(
    'pins list, show and accept; audit list, show and verify',
    async () => {
      const state = join(at.env.XDG_STATE_HOME ?? '', 'bridle');
      const store = await openStore({ file: join(state, 'state.db') });
      const known = await pins({ store, place: at.cwd });
      const sample = <T>(arbitrary: fc.Arbitrary<T>, many: number) => fc.sample(arbitrary, { numRuns: many, seed: 7 });
      const [words = ''] = sample(hostileText, 1);
      for (const entry of sample(hostileTool, 60)) {
        for (const each of [entry, { ...entry, description: `${entry.description}${words}` }]) {
          const tool = toolOf(each as unknown as JsonObject);
          if (tool) known.verdict(tool);
        }
      }
      await known.settled();
      await store.close();
      expect(await show('pins', 'list')).toContain('changed');
      expect(await show('pins', 'show', 'shop')).toContain('/description was');
      expect(await show('pins', 'accept', 'shop')).toContain('Accepted');

      const logs = openLogFolder<AuditRecord>({ dir: join(state, 'audit') });
      const writer = auditWriter();
      const key = await installationKey(join(state, 'installation.key'));
      const audit = auditRecorder({ log: logs.log(writer), writer, key, by: words, host: words, pid: 1 });
      const calls = fc.tuple(hostileText, hostileText, hostileJson);
      for (const [name, by, args] of sample(calls, 100)) {
        const asked = { answer: 'allow', by, approval: name, args } as const;
        await audit.intent(
          intentRecord(name, args, { who: { agent: name, user: by, via: 'terminal' }, asked, labels: [by] }),
        );
        audit.outcome(outcomeRecord(`${name}2`, args, { name, asked: { answer: 'deny', by, reason: name } }));
      }
      await audit.close();
      await logs.close();
      expect(await show('audit', 'list')).toContain('allow by');
      expect(await show('audit', 'show', `${writer}:3`)).toContain(`(${writer}:`);
      await show('audit', 'show', `${words}`);
      await show('audit', 'list', '--tool', words, '--agent', words);
      await show('audit', 'verify');
    },
    WAIT,
  );
});
