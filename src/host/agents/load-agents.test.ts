import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readAgents } from './load-agents.ts';
import { settleAgents } from './settle-agents.ts';

let base = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-agents-')));
});
afterEach(() => rmSync(base, { recursive: true }));

const put = (name: string, text: string) => {
  const path = join(base, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const agent = (name: string, more = '') => `---\nname: ${name}\ntools: inherit\n${more}---\nDo it.\n`;
const read = (root = join(base, 'project')) =>
  readAgents({ root, env: { HOME: join(base, 'home') }, configDir: join(base, 'config') });

test('finds those of the project, also in folders, then those of the person, each place sorted', async () => {
  put('project/.claude/agents/b.md', agent('b'));
  put('project/.claude/agents/a/deep.md', agent('deep'));
  put('project/.claude/agents/notes.txt', 'no agent');
  put('config/agents/mine.md', agent('mine'));
  put('home/.claude/agents/claude.md', agent('claude'));
  const { agents, refused } = await read();
  expect(agents.map(({ name, scope }) => [name, scope])).toEqual([
    ['deep', 'project'],
    ['b', 'project'],
    ['mine', 'user'],
    ['claude', 'user'],
  ]);
  expect(refused).toEqual([]);
});

test('a bad file costs only itself: too large, no text, no front matter, a folder by that name', async () => {
  put('project/.claude/agents/a.md', agent('a', `description: ${'x'.repeat(70_000)}\n`));
  put('project/.claude/agents/b.md', 'a\0b');
  put('project/.claude/agents/c.md', 'nothing');
  mkdirSync(join(base, 'project/.claude/agents/d.md'));
  put('project/.claude/agents/e.md', agent('e'));
  const { agents, refused } = await read();
  expect(agents.map(({ name }) => name)).toEqual(['e']);
  expect(refused.map(({ reason }) => reason.code)).toEqual([
    'config_too_large',
    'config_encoding',
    'agent_no_front_matter',
  ]);
});

test('a symbolic link out of the project is refused, one within it and those of the person are followed', async () => {
  const outside = put('elsewhere/x.md', agent('x'));
  put('project/real.md', agent('inside'));
  mkdirSync(join(base, 'project/.claude/agents'), { recursive: true });
  symlinkSync(outside, join(base, 'project/.claude/agents/out.md'));
  symlinkSync(join(base, 'project/real.md'), join(base, 'project/.claude/agents/in.md'));
  mkdirSync(join(base, 'config/agents'), { recursive: true });
  symlinkSync(outside, join(base, 'config/agents/own.md'));
  const { agents, refused } = await read();
  expect(agents.map(({ name, scope }) => [name, scope])).toEqual([
    ['inside', 'project'],
    ['x', 'user'],
  ]);
  expect(refused.map(({ source, reason }) => [relative(base, source.file), reason.code])).toEqual([
    ['project/.claude/agents/out.md', 'agent_outside'],
  ]);
});

test('a folder of agents that is a link out of the project is refused whole', async () => {
  put('elsewhere/agents/x.md', agent('x'));
  mkdirSync(join(base, 'project/.claude'), { recursive: true });
  symlinkSync(join(base, 'elsewhere/agents'), join(base, 'project/.claude/agents'));
  expect(await read()).toMatchObject({ agents: [], refused: [{ reason: { code: 'agent_outside' } }] });
});

test('more files than anybody reads are cut, and that is said', async () => {
  for (let index = 0; index < 205; index++) put(`config/agents/${1000 + index}.md`, agent(`a${index}`));
  const { agents, refused } = await read();
  expect(agents).toHaveLength(200);
  expect(refused.map(({ reason }) => reason.code)).toEqual(['agents_too_many']);
});

test("in the home folder the agents are the person's own", async () => {
  put('home/.claude/agents/a.md', agent('a'));
  const { agents } = await read(join(base, 'home'));
  expect(agents.map(({ name, scope }) => [name, scope])).toEqual([['a', 'user']]);
});

test("of agents that share a name the first counts; one that nobody trusted doesn't stand in the way", async () => {
  put('project/.claude/agents/a.md', agent('a'));
  put('config/agents/a.md', agent('a'));
  const found = await read();
  const states = (isTrusted: boolean) => settleAgents(found, () => isTrusted).map(({ state }) => state);
  expect(states(true)).toEqual(['ready', 'shadowed']);
  expect(states(false)).toEqual(['untrusted', 'ready']);
});
