/** What an audit is told beside calls, wherever it is a recorder: who was shown which tools, and what a provider ran. */

import { createAgent, defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { scriptedModel } from 'bridle/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compilePolicy } from '../src/policy/index.ts';
import { functionSource } from '../src/tools/index.ts';
import { auditPlace } from './helpers/audit-place.ts';
import { connect } from './serve/clients.ts';

let place: ReturnType<typeof auditPlace>;
beforeEach(() => {
  place = auditPlace();
});
afterEach(() => place.remove());

const tool = (name: string) =>
  defineTool({ name, description: `The tool ${name}.`, input: { type: 'object' } }, () => 'done');
const policyOf = (...allow: string[]) =>
  compilePolicy([{ scope: 'user', file: 'bridle.json', permissions: { allow, deny: ['hidden'] }, trusted: true }]);

test('an agent in a program: its list as a run begins and once it changed, and what its provider ran itself', async () => {
  const audit = place.recorder('w');
  const { policy, version } = policyOf('look');
  const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'x' } };
  const agent = await createAgent({
    name: 'support',
    user: 'ada',
    model: scriptedModel([
      { calls: [{ name: 'look' }] },
      { content: [search, { type: 'text', text: 'One.' }] },
      'Two.',
      'Three.',
    ]),
    tools: [tool('look'), tool('hidden')],
    policy,
    recorder: audit,
  });
  await agent.run('First.').result;
  await agent.run('Second.').result;
  await agent.catalog.addSource(functionSource([tool('late')]));
  await agent.run('Third.').result;
  await agent.close();
  await audit.close();
  const records = await place.records('w');
  const lists = records.flatMap((record) => (record.type === 'list' ? [record] : []));
  const who = { agent: 'support', user: 'ada', via: 'library' };
  expect(lists).toMatchObject([
    { who, tools: 1, policyVersion: version },
    { who, tools: 2, policyVersion: version },
  ]);
  expect(lists[0]?.catalogVersion).not.toBe(lists[1]?.catalogVersion);
  const decided = records.flatMap((record) => (record.type === 'intent' ? [record.call.decision?.policyVersion] : []));
  expect(decided).toEqual([version]);
  expect(records.filter(({ type }) => type === 'provider')).toMatchObject([{ id: 's1', name: 'web_search', who }]);
});

test('a host that is served: the list of each client, once, and none that only the host looked at', async () => {
  const audit = place.recorder('w');
  const { policy, version } = policyOf('look');
  const host = await toolHost({ tools: [tool('look'), tool('hidden')], policy, recorder: audit });
  const identify = async (headers: ReadonlyMap<string, string>) =>
    ({ agent: headers.get('x-agent') ?? 'nobody', via: 'gateway' }) as const;
  const handle = await serve(host, { http: { port: 0, identify } });
  for (const [kind, agent] of [
    ['v1', 'one'],
    ['v2 modern', 'two'],
  ] as const) {
    const client = await connect(kind, { url: handle.url ?? '', headers: { 'x-agent': agent } });
    expect((await client.list()).map(({ name }) => name)).toEqual(['look']);
    await client.list();
    await client.call('look');
    await client.close();
  }
  await handle.close();
  await audit.close();
  const lists = (await place.records('w')).flatMap((record) => (record.type === 'list' ? [record] : []));
  expect(lists).toMatchObject([
    { who: { agent: 'one', via: 'gateway' }, tools: 1, policyVersion: version },
    { who: { agent: 'two', via: 'gateway' }, tools: 1, policyVersion: version },
  ]);
});
