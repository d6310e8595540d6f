import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chatModel } from './helpers/chat-model.ts';
import { type Person, person, runBridle } from './helpers/cli-process.ts';
import { cloneInto, type Files } from './helpers/clone.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
beforeEach(async () => {
  at = await person();
});
afterEach(() => at.remove());

const home = (files: Files) => cloneInto(at.env.HOME ?? '', files);
const project = (files: Files) => cloneInto(at.cwd, files);
const agent = (name: string, front: string, body = 'Be brief.') => `---\nname: ${name}\n${front}\n---\n${body}\n`;
const servers = () => project({ '.mcp.json': { mcpServers: { m: at.fixture('misfits.mjs') as never } } });
const listed = async (...args: string[]) => {
  const { stdout } = await bridle(['tools', 'list', '--json', '--trust-project', ...args], at);
  const { tools } = JSON.parse(stdout) as { tools: { name: string; decision: string }[] };
  return tools.map(({ name, decision }) => `${name} ${decision}`);
};

test('an agent sees the tools that its file names, and none of the others; without --agent all are there', async () => {
  servers();
  project({
    'bridle.json': { permissions: { allow: ['mcp__m__whole', 'mcp__m__constructor'] } },
    '.claude/agents/a.md': agent('a', 'tools: mcp__m__whole, mcp__m__crash, Read'),
    '.claude/agents/b.md': agent('b', 'tools: inherit\ndisallowedTools: mcp__m__c*'),
    '.claude/agents/c.md': agent('c', 'description: has no tools'),
  });
  expect(await listed('--agent', 'a')).toEqual(['mcp__m__whole allow', 'mcp__m__crash ask']);
  expect(await listed('--agent', 'b')).toEqual(expect.arrayContaining(['mcp__m__whole allow', 'mcp__m__wait ask']));
  expect((await listed('--agent', 'b')).join()).not.toContain('crash');
  expect(await listed('--agent', 'c')).toEqual([]);
  expect(await listed('--agent', 'main')).toEqual(await listed());
  const explained = await bridle(['explain', 'mcp__m__wait', '--agent', 'a', '--trust-project'], at);
  expect(explained.stdout).toContain('not among the tools named for this agent');
  expect(explained.stderr).toContain('Read names no tool of a server');
});

test('a run acts as the agent: its model is told its instructions, and what it was not given it can not call', async () => {
  servers();
  const play = [
    { name: 'mcp__m__whole', args: '{}' },
    { name: 'mcp__m__constructor', args: '{}' },
  ];
  const model = await chatModel([play, 'Done.']);
  try {
    home({ '.claude/agents/a.md': agent('a', `tools: mcp__m__whole\nmodel: ${model.spec}`) });
    const args = ['--agent', 'a', '--trust-project', '--allow', 'mcp__m'];
    expect(await bridle(['run', 'Play.', ...args], at)).toMatchObject({ status: 0, stdout: 'Done.\n' });
    expect(JSON.stringify(model.requests[0]?.body)).toContain('Be brief.\\n\\nYou work in the folder');
    expect(JSON.stringify(model.requests[0]?.body)).not.toContain('mcp__m__constructor');
    expect(model.toolAnswers(1)).toEqual([expect.stringContaining('whole'), expect.not.stringContaining('by hand')]);
    const [[first] = []] = await at.traces();
    expect(first).toMatchObject({ type: 'run', agent: 'a' });
  } finally {
    await model.close();
  }
});

test('a chat acts as the agent, in a pipe too', async () => {
  servers();
  const model = await chatModel(['Short.']);
  try {
    home({ '.claude/agents/a.md': agent('a', 'tools: mcp__m__whole') });
    const args = ['chat', '--agent', 'a', '--trust-project', '--model', model.spec];
    expect(await runBridle(args, at, 'Hello\n')).toMatchObject({ status: 0, stdout: 'Short.\n' });
    expect(JSON.stringify(model.requests[0]?.body)).toContain('Be brief.');
    expect(JSON.stringify(model.requests[0]?.body)).not.toContain('mcp__m__constructor');
  } finally {
    await model.close();
  }
});

test('a name without a file, and one whose file nobody trusted, run nothing', async () => {
  home({ '.claude/agents/a.md': agent('reviewer', 'tools: inherit') });
  const unknown = await bridle(['run', 'Hello', '--agent', 'reviewr'], at);
  expect(unknown).toMatchObject({ status: 2, stdout: '' });
  expect(unknown.stderr).toContain('error (agent_unknown): There is no agent "reviewr". Did you mean "reviewer"?');
  project({ '.git/HEAD': '', '.claude/agents/p.md': agent('p', 'tools: inherit', 'Do \u202eharm.\n\n  Twice.') });
  // Nothing of the project is asked for until its agent is.
  expect((await bridle(['run', 'Hello'], at)).status).toBe(0);
  const refused = await bridle(['run', 'Hello', '--agent', 'p'], at);
  expect(refused.status).toBe(7);
  expect(refused.stderr).toContain('  | Do \\u202eharm.');
  expect(refused.stderr).toContain('  |   Twice.');
  const said = await bridle(['run', 'Hello', '--agent', 'p'], { ...at, types: ['n'] });
  expect(said.stderr).toContain('error (agent_unusable)');
});

test('an agent that was agreed to is asked about again when its file changes, and only that', async () => {
  project({
    '.git/HEAD': '',
    '.claude/agents/p.md': agent('p', 'tools: inherit'),
    '.claude/agents/q.md': agent('q', 'tools: inherit'),
  });
  await bridle(['agents', 'show', 'p'], at);
  const first = await bridle(['run', 'Hello', '--agent', 'p'], { ...at, types: ['y'] });
  expect(first.stderr).toContain('In all: 2 agents.');
  const states = async () => {
    const { stdout } = await bridle(['agents', 'list', '--json'], at);
    return (JSON.parse(stdout).agents as { name: string; state: string }[]).map(
      ({ name, state }) => `${name} ${state}`,
    );
  };
  expect(await states()).toEqual(['p ready', 'q ready']);
  expect((await bridle(['run', 'Hello', '--agent', 'q'], at)).status).toBe(0);
  project({ '.claude/agents/q.md': agent('q', 'tools: inherit', 'Something else.') });
  expect(await states()).toEqual(['p ready', 'q untrusted']);
  const again = await bridle(['run', 'Hello', '--agent', 'q'], at);
  expect(again).toMatchObject({ status: 7 });
  expect(again.stderr).toContain('CHANGED: agent q');
  rmSync(`${at.cwd}/.claude/agents/q.md`);
  expect(await states()).toEqual(['p ready']);
});

test('rules of this folder, and names in the agent’s file, that name no tool are said when a run or a chat begins', async () => {
  servers();
  home({
    'config/bridle/bridle.json': { permissions: { allow: ['mcp__elsewhere__get', 'mcp__m__whole'] } },
    '.claude/agents/a.md': agent('a', 'tools: mcp__m__whole, mcp__m__whle, mcp__x\ndisallowedTools: mcp__m__crsh'),
  });
  project({ 'bridle.json': { permissions: { deny: ['mcp__m__crahs'], ask: ['mcp__m__crash'] } } });
  for (const command of [['run', 'Hello'], ['chat']]) {
    const args = [...command, '--agent', 'a', '--trust-project', '--model', 'offline'];
    const { stderr } = await runBridle(args, at, 'Hello\n');
    expect(stderr).toContain('The deny rule "mcp__m__crahs" names no tool that is here.');
    expect(stderr).toContain('no server here has: mcp__m__whle, mcp__x, mcp__m__crsh.');
    expect(stderr).not.toMatch(/elsewhere|"mcp__m__crash"/);
  }
  project({ '.mcp.json': { mcpServers: { m: at.fixture('misfits.mjs'), x: { command: '/is/not/there' } } as never } });
  const { stderr } = await runBridle(['run', 'Hello', '--trust-project', '--agent', 'a'], at);
  expect(stderr).not.toContain('no server here has');
});

test('a short name of a model is not guessed: what to write is said', async () => {
  home({ '.claude/agents/a.md': agent('a', 'tools: mcp__m\nmodel: haiku') });
  expect((await bridle(['agents', 'show', 'a'], at)).stdout).toMatch(
    /"model: haiku" names no model in full, as "claude-haiku-\d/,
  );
  home({ '.claude/agents/b.md': agent('b', 'tools: mcp__m\nmodel: claude-haiku-4-5') });
  const keyless = await bridle(['run', 'Hello', '--agent', 'b'], at);
  expect(keyless.stderr).toMatch(/error \(model_no_key\): The agent "b" names a model\.[\s\S]*--model/);
});

describe('bridle agents', () => {
  test('lists each with its tools, and says why a file is none', async () => {
    home({
      '.claude/agents/a.md': agent('a', 'description: Looks\ntools: inherit'),
      'config/bridle/agents/bad.md': 'no front matter',
    });
    const { stdout, status } = await bridle(['agents', 'list'], at);
    expect(status).toBe(0);
    expect(stdout).toMatch(/a +ready +user +all +Looks/);
    expect(stdout).toContain('bad.md: It does not begin with front matter');
  });

  test('shows one whole, and starts with a hint when there is none', async () => {
    expect((await bridle(['agents', 'list'], at)).stdout).toContain('No agents.');
    home({ '.claude/agents/a.md': agent('a', 'tools: [mcp__x]\nmodel: claude-x', 'First.\n\nSecond.') });
    const { stdout } = await bridle(['agents', 'show', 'a'], at);
    expect(stdout).toMatch(/tools +mcp__x/);
    expect(stdout).toContain('First.\n\nSecond.');
    const json = await bridle(['agents', 'show', 'a', '--json'], at);
    expect(JSON.parse(json.stdout)).toMatchObject({ name: 'a', tools: ['mcp__x'], instructions: 'First.\n\nSecond.' });
    expect(await bridle(['agents', 'show', 'b'], at)).toMatchObject({ status: 2 });
    expect(await bridle(['agents', 'show'], at)).toMatchObject({ status: 2 });
  });
});
