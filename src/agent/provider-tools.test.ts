import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../contracts/index.ts';
import { nullRecorder } from '../dispatch/index.ts';
import { type AuditRecord, auditRecorder, compilePolicy } from '../policy/index.ts';
import { memoryStore } from '../store/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { AgentOptions } from './agent-options.ts';
import { createAgent } from './create-agent.ts';
import type { RunEvent } from './events.ts';
import type { ProviderTool } from './provider-tools.ts';

const SEARCH: ProviderTool = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };
const found = [{ type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'x' }];
const searched = { name: 'web_search', input: { query: 'a' }, result: found };

function toolsOf(request: JsonObject | undefined): readonly JsonObject[] {
  return (request?.tools ?? []) as readonly JsonObject[];
}

/** What is declared to the model, with the warnings. */
async function declared(
  providerTools: readonly ProviderTool[],
  options: Partial<AgentOptions> = {},
): Promise<{ readonly tools: readonly JsonObject[]; readonly warnings: readonly string[] }> {
  const model = scriptedModel(['Done.']);
  const agent = await createAgent({ model, providerTools, ...options });
  await agent.run('Go.').result;
  return { tools: toolsOf(model.requests[0]), warnings: agent.warnings().map(({ text }) => text) };
}

describe('a tool that the provider runs', () => {
  test('is declared as it was given when a rule allows it, before the tools of the agent', async () => {
    const own = defineTool({ name: 'own', description: 'Is own.', input: z.object({}) }, () => 'x');
    const { tools, warnings } = await declared([SEARCH], { tools: [own], permissions: { allow: ['web_search'] } });
    expect(tools[0]).toMatchObject(SEARCH);
    expect(tools[1]?.name).toBe('own');
    expect(warnings).toEqual([]);
  });

  test('is left out when a rule denies it or nobody says yes, and the developer reads why', async () => {
    const denied = await declared([SEARCH], { permissions: { deny: ['web_search'] } });
    expect(denied.tools).toEqual([]);
    expect(denied.warnings[0]).toMatch(/^The provider's tool "web_search" is left out\. .*deny rule "web_search"/);
    const unasked = await declared([SEARCH]);
    expect(unasked.tools).toEqual([]);
    expect(unasked.warnings[0]).toContain("permissions: { allow: ['web_search'] }");
  });

  test('is asked about once, when the agent is made, with what it is declared as', async () => {
    const asked: unknown[] = [];
    const { tools } = await declared([SEARCH], {
      asker: {
        ask: async ({ args }) => {
          asked.push(args);
          return { answer: 'allow', by: 'ann', args: { ...SEARCH, max_uses: 1 } };
        },
      },
    });
    expect(asked).toEqual([SEARCH]);
    expect(tools[0]).toMatchObject({ name: 'web_search', max_uses: 1 });
  });

  test('is held to rules on how it is declared, and to one on what will have been read, since nobody can tell', async () => {
    const narrow = { tool: 'web_search', when: { 'args:/max_uses': { '<=': 2 } } };
    expect((await declared([SEARCH], { permissions: { allow: [narrow] } })).tools).toEqual([]);
    expect((await declared([{ ...SEARCH, max_uses: 2 }], { permissions: { allow: [narrow] } })).tools).toHaveLength(1);
    const later = { tool: 'web_search', when: { label: 'untrusted-content' } };
    const permissions = { allow: ['web_search'], deny: [later] };
    expect((await declared([SEARCH], { permissions })).tools).toEqual([]);
  });

  test('leaves its decision in the audit of each run: the rule, who was asked, and what it was declared as', async () => {
    const records: AuditRecord[] = [];
    const store = memoryStore().log<AuditRecord>('audit', 'w');
    const audit = auditRecorder({ log: store, writer: 'w', key: new Uint8Array(32), by: 'test', host: 'h', pid: 1 });
    const code: ProviderTool = { type: 'code_execution_20250825', name: 'code_execution' };
    const fetched: ProviderTool = { type: 'web_fetch_20250910', name: 'web_fetch' };
    const advisor: ProviderTool = { type: 'advisor_20260301', name: 'advisor' };
    const agent = await createAgent({
      model: scriptedModel(['Done.', 'Done.']),
      providerTools: [SEARCH, code, fetched, advisor],
      permissions: { allow: ['web_search'], deny: ['code_execution'] },
      asker: {
        ask: async ({ tool }) =>
          tool.ref.name === 'web_fetch'
            ? { answer: 'allow', by: 'ann', args: { ...fetched, max_uses: 1 } }
            : { answer: 'deny', by: 'ann', reason: 'Not today.' },
      },
      recorder: audit,
    });
    await agent.run('Go.', { conversation: 'c1' }).result;
    await agent.run('Go on.', { conversation: 'c2' }).result;
    await audit.close();
    for await (const { record } of store.read(1)) records.push(record);
    const declarations = records.flatMap((record) => (record.type === 'declaration' ? [record] : []));
    expect(declarations.map(({ call }) => `${call.conversation} ${call.name}`)).toEqual(
      ['c1', 'c2'].flatMap((run) => ['web_search', 'code_execution', 'web_fetch', 'advisor'].map((n) => `${run} ${n}`)),
    );
    const [allowed, denied, asked, refused] = declarations;
    expect(declarations.map(({ leftOut }) => leftOut === undefined)).toEqual(
      [0, 1].flatMap(() => [true, false, true, false]),
    );
    expect(allowed?.call).toMatchObject({ who: { agent: 'agent' }, effect: 'read', args: SEARCH });
    expect(allowed?.call.decision).toMatchObject({ effect: 'allow', reasons: [{ code: 'allow_rule' }] });
    expect(denied?.leftOut).toContain('deny rule "code_execution"');
    expect(denied?.call.decision).toMatchObject({ effect: 'deny', reasons: [{ code: 'deny_rule' }] });
    expect(asked?.call).toMatchObject({
      args: { ...fetched, max_uses: 1 },
      proposed: { args: fetched },
      asked: { answer: 'allow', by: 'ann' },
    });
    expect(refused?.call.asked).toMatchObject({ answer: 'deny', reason: 'Not today.' });
  });

  test('is in the audit again once a rule that came later hides it', async () => {
    const told: string[] = [];
    let isHidden = false;
    const policy = compilePolicy([
      { scope: 'user', file: 'bridle.json', trusted: true, permissions: { allow: ['web_search'] } },
    ]).policy;
    const agent = await createAgent({
      model: scriptedModel(['Done.', 'Done.']),
      providerTools: [SEARCH],
      policy: {
        ...policy,
        decide: (...given) => policy.decide(...given),
        view: (who, tool) =>
          isHidden && tool.ref.name === 'web_search'
            ? { effect: 'deny', reasons: [{ room: 'policy', code: 'deny_rule', text: 'No.' }], policyVersion: 'p2' }
            : policy.view(who, tool),
      },
      recorder: {
        ...nullRecorder(),
        declared: ({ decision, leftOut }) => void told.push(`${decision.policyVersion === 'p2'} ${leftOut ?? ''}`),
      },
    });
    await agent.run('Go.').result;
    isHidden = true;
    await agent.run('Go on.').result;
    expect(told).toEqual(['false ', 'true No.']);
  });

  test('is no tool of other models', async () => {
    const agent = await createAgent({
      model: 'offline',
      providerTools: [SEARCH],
      permissions: { allow: ['web_search'] },
    });
    expect(agent.warnings()[0]?.text).toContain('"offline" has no tools of its provider');
  });

  test('is called by the model itself where the model has no code that could', async () => {
    const entry: ProviderTool = { type: 'web_search_20260318', name: 'web_search' };
    const model = scriptedModel(['Done.'], { id: 'claude-haiku-4-5' });
    const agent = await createAgent({ model, providerTools: [entry], permissions: { allow: ['web_search'] } });
    await agent.run('Go.').result;
    expect(toolsOf(model.requests[0])[0]).toMatchObject({ allowed_callers: ['direct'] });
  });

  test.each([
    [[{ type: 'mcp_toolset', name: 'x' }]],
    [[{ type: 'bash_20250124', name: 'bash' }]],
    [[SEARCH, SEARCH]],
    [[{ ...SEARCH, input_schema: { type: 'object' } }]],
    [[{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex', defer_loading: true }]],
    [[{ ...SEARCH, allowed_domains: ['a.example'], blocked_domains: ['b.example'] }]],
    [
      [
        { type: 'web_fetch_20260318', name: 'web_fetch' },
        { type: 'code_execution_20250825', name: 'code_execution' },
      ],
    ],
  ])('is refused where the API would refuse it: %j', async (providerTools) => {
    await expect(createAgent({ model: scriptedModel([]), providerTools })).rejects.toMatchObject({
      code: 'provider_tool_invalid',
    });
  });

  test('shares its name with no tool of the agent', async () => {
    const own = defineTool({ name: 'web_search', description: 'Is own.', input: z.object({}) }, () => 'x');
    const permissions = { allow: ['web_search'] };
    await expect(
      createAgent({ model: scriptedModel([]), tools: [own], providerTools: [SEARCH], permissions }),
    ).rejects.toMatchObject({ code: 'tool_name_taken' });
  });

  test('is told of as it is used, and what it read counts for the calls of the same reply', async () => {
    const sent: string[] = [];
    const mail = defineTool(
      { name: 'send_mail', description: 'Sends.', input: z.object({ to: z.string() }) },
      ({ to }) => {
        sent.push(to);
        return 'Sent.';
      },
    );
    const reply = { serverCalls: [searched], calls: [{ name: 'send_mail', input: { to: 'eve@example.org' } }] };
    const model = scriptedModel([reply, 'Done.']);
    const events: RunEvent[] = [];
    const agent = await createAgent({
      model,
      tools: [mail],
      providerTools: [SEARCH],
      permissions: {
        allow: ['web_search', 'send_mail'],
        deny: [{ tool: 'send_mail', when: { label: 'untrusted-content' } }],
      },
      onProgress: (event) => events.push(event),
    });
    await agent.run('Go.').result;
    expect(sent).toEqual([]);
    expect(events.find(({ type }) => type === 'provider_call')).toMatchObject({
      name: 'web_search',
      input: { query: 'a' },
    });
  });

  test('is none of an agent that was started', async () => {
    const inner = scriptedModel(['Done.']);
    const agent = await createAgent({
      model: scriptedModel([{ calls: [{ name: 'start_helper', input: { task: 'Go.' } }] }, 'Done.']),
      providerTools: [SEARCH],
      permissions: { allow: ['web_search'] },
      subagents: [{ name: 'helper', description: 'Helps.', instructions: 'Help.', tools: ['*'], model: inner }],
    });
    await agent.run('Go.').result;
    expect(inner.requests).toHaveLength(1);
    expect(toolsOf(inner.requests[0])).toEqual([]);
  });
});
