import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Home, newHome } from './helpers/home.ts';
import { fixture } from './helpers/mcp.ts';
import { bridle } from './helpers/terminal.ts';

let at: Home;
let ran: string;

beforeEach(async () => {
  at = await newHome();
  ran = join(at.home, 'ran');
  await at.servers({ odd: { command: process.execPath, args: [fixture('sdk-v2.mjs')] } });
});
afterEach(() => at.remove());

/** Both the lines that a person reads and what a script gets. */
async function explained(tool: string) {
  const asked = ['explain', tool, '--trust-project'];
  const { stdout } = await bridle(asked, at);
  const json = JSON.parse((await bridle([...asked, '--json'], at)).stdout);
  return { lines: stdout.split('\n').filter((line) => line.startsWith('  hook:')), json };
}

const entry = (matcher: string, command = `touch ${ran}`) => ({ matcher, hooks: [{ type: 'command', command }] });

test('explain names each hook that stands before the calls of a tool that the rules allow, and runs none', async () => {
  await at.own({
    permissions: { allow: ['mcp__odd__*'] },
    hooks: {
      PreToolUse: [entry('mcp__odd__add'), entry('mcp__odd__.*', './check.sh'), entry('mcp__other__.*')],
      PostToolUse: [entry('mcp__odd__add')],
    },
  });
  await at.project({ hooks: { PreToolUse: [entry('', 'true')] } });
  const { lines, json } = await explained('mcp__odd__add');
  expect(json.agents).toMatchObject([{ agent: 'main', effect: 'allow' }]);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(
    /PreToolUse hook "touch .* of the user scope \(matcher "mcp__odd__add"\) is asked before each/,
  );
  expect(lines[0]).toMatch(/\(\S*config\/bridle\/bridle\.json:1\)$/);
  expect(lines[2]).toContain('of the project scope (for every tool)');
  expect(json.hooks).toMatchObject([
    { event: 'PreToolUse', matcher: 'mcp__odd__add', scope: 'user', line: 1, state: 'ready' },
    { matcher: 'mcp__odd__.*', command: './check.sh', scope: 'user' },
    { matcher: '', command: 'true', scope: 'project', state: 'ready' },
  ]);
  await expect(access(ran)).rejects.toThrow('ENOENT');
});

test('explain says of a hook that can not be run that it denies each call, and of a matcher that it can not be read', async () => {
  await at.own({
    permissions: { allow: ['mcp__odd__*'] },
    hooks: {
      PreToolUse: [
        { matcher: 'mcp__odd__add', hooks: [{ type: 'prompt', prompt: 'Is it fine?' }] },
        entry('mcp__(', 'true'),
      ],
    },
  });
  const { lines, json } = await explained('mcp__odd__add');
  expect(lines[0]).toContain('can\'t be run, so each call is denied: a hook of PreToolUse has the type "prompt"');
  expect(lines[1]).toContain(`for every tool, as its matcher "mcp__(" can't be read`);
  expect(json.hooks).toMatchObject([{ state: 'unreadable' }, { state: 'ready', matcherProblem: expect.any(String) }]);
  expect((await explained('mcp__odd__who')).lines).toHaveLength(1);
});

test('explain of a view names the hooks of the tool behind it, and none that is turned off', async () => {
  const views = { add_one: { server: 'odd', tool: 'add', arguments: { b: { fixed: 1 } } } };
  const hooks = { PreToolUse: [entry('mcp__odd__add')] };
  await at.project({ views });
  await at.own({ permissions: { allow: ['mcp__odd__*'] }, hooks });
  expect((await explained('mcp__odd__add_one')).lines).toHaveLength(1);
  await at.own({ permissions: { allow: ['mcp__odd__*'] }, hooks, disableAllHooks: true });
  expect((await explained('mcp__odd__add_one')).json).toMatchObject({ found: true, hooks: [] });
});
