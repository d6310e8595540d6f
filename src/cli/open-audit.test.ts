import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import type { AuditRecord } from '../policy/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool, functionSource } from '../tools/index.ts';
import { sessionRules } from './chat/session-rules.ts';
import type { CommandIo } from './command.ts';
import { auditLogs, openAudit } from './open-audit.ts';
import type { Workspace } from './workspace.ts';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'bridle-open-audit-'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const who = { agent: 'main', via: 'terminal' } as const;
const project = { audit: { enabled: true, redact: [], arguments: 'redacted' } };

const tool = (name: string) =>
  defineTool({ name, description: `The tool ${name}.`, input: { type: 'object' } }, () => 'done');

async function recorded(io: CommandIo): Promise<AuditRecord[]> {
  const logs = auditLogs(io);
  const found: AuditRecord[] = [];
  for (const writer of await logs.writers())
    for await (const { record } of logs.log(writer).read(1)) found.push(record);
  await logs.close();
  return found;
}

test('the tools that an agent is shown are recorded once, and again when the tools or the rules change', async () => {
  const io = { cwd: '/', env: { XDG_STATE_HOME: state }, stderr: new PassThrough() } as unknown as CommandIo;
  const audit = await openAudit({ project } as unknown as Workspace, io, who);
  const rules = sessionRules([], 'default');
  const look = tool('look');
  const agent = await createAgent({
    name: who.agent,
    via: who.via,
    model: scriptedModel(['One.', 'Two.', { calls: [{ name: 'look' }] }, 'Three.']),
    tools: [look],
    policy: rules.policy,
    recorder: audit.recorder,
    asker: {
      async ask(question) {
        expect(rules.always(question)).toHaveProperty('rule');
        return { answer: 'allow', by: 'person' };
      },
    },
  });
  audit.follow({ agent: () => agent, policy: rules.policy, version: rules.version });
  await agent.run('First.').result;
  await agent.catalog.addSource(functionSource([tool('late')]));
  await agent.run('Second.').result;
  await agent.run('Third.').result;
  await agent.close();
  await audit.close();

  const records = await recorded(io);
  const lists = records.flatMap((record) => (record.type === 'list' ? [record] : []));
  expect(lists.map(({ tools }) => tools)).toEqual([1, 2, 2]);
  const [first, second, third] = lists;
  expect(second?.catalogVersion).not.toBe(first?.catalogVersion);
  expect(second?.policyVersion).toBe(first?.policyVersion);
  expect(third?.catalogVersion).toBe(second?.catalogVersion);
  // The rule that the person added holds for one of the tools: both versions are in force.
  expect(third?.policyVersion.split(' ')).toContain(first?.policyVersion);
  expect(third?.policyVersion.split(' ')).toHaveLength(2);
  const decided = records.flatMap((record) => (record.type === 'intent' ? [record.call.decision?.policyVersion] : []));
  expect(decided).toHaveLength(1);
  expect(third?.policyVersion.split(' ')).toContain(decided[0]);
});

test('a search among tools is recorded once, and what a started agent is shown, too', async () => {
  const io = { cwd: '/', env: { XDG_STATE_HOME: state }, stderr: new PassThrough() } as unknown as CommandIo;
  const audit = await openAudit({ project } as unknown as Workspace, io, who);
  const rules = sessionRules([], 'default');
  const search = { calls: [{ name: 'find_tools', input: { query: 'look' } }] };
  const agent = await createAgent({
    name: who.agent,
    via: who.via,
    model: scriptedModel([search, search, 'Done.']),
    tools: [tool('look'), tool('late')],
    toolSearch: { above: 0, keep: 1 },
    policy: rules.policy,
    recorder: audit.recorder,
  });
  audit.follow({ agent: () => agent, policy: rules.policy, version: rules.version });
  await agent.run('First.').result;
  const shown = { kind: 'list', policyVersion: 'p', catalogVersion: 'c', tools: 1 } as const;
  audit.recorder.listed?.({ ...shown, who: { ...who, agent: 'helper' } });
  await agent.close();
  await audit.close();
  const told = (await recorded(io)).flatMap((record) =>
    record.type === 'list' || record.type === 'search' ? [`${record.type} ${record.who.agent}`] : [],
  );
  expect(told).toEqual(['list main', 'search main', 'list helper']);
});
