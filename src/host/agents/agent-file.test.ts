import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AgentFile, type RefusedAgent, readAgentFile } from './agent-file.ts';

const file = '/p/.claude/agents/reviewer.md';
const read = (front: string, body = 'Review what changed.', scope: AgentFile['scope'] = 'project') =>
  readAgentFile(file, `---\n${front}\n---\n${body}\n`, scope);
const agent = async (...given: Parameters<typeof read>): Promise<AgentFile> => {
  const found = await read(...given);
  if ('reason' in found) throw new Error(found.reason.text);
  return found;
};
const codes = ({ warnings }: AgentFile) => warnings.map(({ code }) => code);

describe('an agent file', () => {
  test('has a name, a description, instructions and the tools that it names', async () => {
    const found = await agent('name: reviewer\ndescription: Looks at changes\ntools: mcp__git__diff, mcp__fs__read_*');
    expect(found).toMatchObject({
      name: 'reviewer',
      description: 'Looks at changes',
      instructions: 'Review what changed.',
      tools: { kind: 'named', patterns: ['mcp__git__diff', 'mcp__fs__read_*'] },
      source: { file, line: 2 },
      warnings: [],
    });
  });

  test.each([
    ['tools: [mcp__a, mcp__b__c]', { kind: 'named', patterns: ['mcp__a', 'mcp__b__c'] }, []],
    ['tools:\n  - mcp__a\n  - "mcp__b, mcp__c"', { kind: 'named', patterns: ['mcp__a', 'mcp__b', 'mcp__c'] }, []],
    ['tools: inherit', { kind: 'inherit' }, []],
    ['inherit: true', { kind: 'inherit' }, []],
    ['tools: "*"', { kind: 'inherit' }, []],
    ['tools: *', { kind: 'inherit' }, ['agent_not_yaml']],
    ['tools:', { kind: 'none' }, []],
    ['tools: []', { kind: 'none' }, []],
    ['model: inherit', { kind: 'none' }, ['agent_without_tools']],
    ['tools: {a: 1}', { kind: 'none' }, ['odd_value']],
    [
      'tools: Read, Bash(git diff:*, x), mcp__a',
      { kind: 'named', patterns: ['Read', 'Bash(git diff:*, x)', 'mcp__a'] },
      ['agent_tools_without_meaning'],
    ],
    ['tools: mcp__*', { kind: 'named', patterns: ['mcp__*'] }, ['agent_tool_name']],
  ] as const)('%j gives the tools %j', async (front, tools, warned) => {
    const found = await agent(`name: a\n${front}`);
    expect(found.tools).toEqual(tools);
    expect(codes(found)).toEqual(warned);
  });

  test('is none under the name of the agent without a file, whether it says so or is called so', async () => {
    const refused = { reason: { code: 'agent_name_taken' } };
    expect(await read('name: main\ntools: inherit')).toMatchObject({ ...refused, source: { line: 2 } });
    expect(await readAgentFile('/p/.claude/agents/main.md', '---\ntools: inherit\n---\nx', 'user')).toMatchObject(
      refused,
    );
    expect((await agent('name: mainly')).name).toBe('mainly');
  });

  test('a description that is no YAML is taken as the text that stands there', async () => {
    const found = await agent('name: a\ndescription: Use it when: <example>user: "hi"</example>\ntools: inherit');
    expect(found.description).toBe('Use it when: <example>user: "hi"</example>');
    expect(found.tools).toEqual({ kind: 'inherit' });
    expect(codes(found)).toEqual([]);
  });

  test('says which keys and values have no meaning here, each at its line', async () => {
    const found = await agent(
      'name: a\ntools: inherit\ncolor: red\nhooks: {Stop: []}\nmodel: sonnet\nmaxTurns: 0\npermissionMode: bypassPermissions\ntool: x',
    );
    expect(found.warnings.map(({ code, source }) => [code, source?.line])).toEqual([
      ['unknown_key', 5],
      ['unknown_key', 9],
      ['agent_model', 6],
      ['odd_value', 7],
      ['agent_mode', 8],
    ]);
    expect(found).not.toHaveProperty('model');
    expect(found).not.toHaveProperty('mode');
  });

  test('a mode is taken when it tightens, a model when it is named in full, and never an address from a project', async () => {
    const front = 'name: a\ntools: inherit\npermissionMode: plan\nmaxTurns: 3\nmodel: ';
    expect(await agent(`${front}claude-x`)).toMatchObject({ mode: 'plan', maxTurns: 3, model: 'claude-x' });
    const there = `${front}openai:x@http://evil.example/v1`;
    expect(codes(await agent(there))).toEqual(['agent_model_address']);
    expect(await agent(there, 'Do.', 'user')).toMatchObject({ model: 'openai:x@http://evil.example/v1' });
  });

  test.each([
    ['disallowed_tools: mcp__a', 'agent_key_misspelled'],
    ['dissallowedTools: mcp__a', 'agent_key_misspelled'],
    ['deny: mcp__a', 'agent_key_misspelled'],
    [`name: "a\\nb"`, 'agent_name'],
    ['name: ../x', 'agent_name'],
  ])('is refused with %j', async (front, code) => {
    expect(await read(front)).toMatchObject({ reason: { code } });
  });

  test('is none without front matter, or when that is not closed', async () => {
    for (const text of ['', 'Just text', '---\nname: a', '\n---\nname: a\n---\n']) {
      expect(await readAgentFile(file, text, 'user')).toMatchObject({ reason: { code: 'agent_no_front_matter' } });
    }
  });

  test('takes away what it disallows, and is called as its file when it has no name', async () => {
    const found = await agent('disallowedTools: mcp__a__*, Write\ntools: inherit');
    expect(found).toMatchObject({ name: 'reviewer', except: ['mcp__a__*', 'Write'] });
    expect(codes(found)).toEqual(['agent_unnamed', 'agent_tools_without_meaning']);
  });

  test('line ends of Windows and a byte order mark change nothing', async () => {
    const text = '\uFEFF---\r\nname: a\r\ntools: inherit\r\n---\r\nDo it.\r\n';
    expect(await readAgentFile(file, text, 'user')).toMatchObject({ name: 'a', instructions: 'Do it.' });
  });

  test('reads or refuses any text and never throws', async () => {
    const line = fc.oneof(
      fc.constantFrom(
        'name: a',
        'tools: *x',
        'tools: &a [*a]',
        '__proto__: {a: 1}',
        '? a',
        '- b',
        'a: !!js/function x',
      ),
      fc.string({ maxLength: 20 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.string({ maxLength: 20 }), async (lines, body) => {
        const found: AgentFile | RefusedAgent = await read(lines.join('\n'), body);
        if (!('reason' in found)) expect(found.name).not.toBe('');
      }),
      { numRuns: 200 },
    );
  });
});
