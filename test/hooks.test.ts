import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chatModel } from './helpers/chat-model.ts';
import { type Home, newHome } from './helpers/home.ts';
import { fixture } from './helpers/mcp.ts';
import { bridle } from './helpers/terminal.ts';

let at: Home;
let home: string;
let cwd: string;
let env: Home['env'];

beforeEach(async () => {
  at = await newHome();
  ({ home, cwd, env } = at);
});
afterEach(() => at.remove());

const hooks = (event: string, command: string, matcher = '') => ({
  [event]: [{ matcher, hooks: [{ type: 'command', command }] }],
});

describe('hooks at the command line', () => {
  test('hooks of a project are listed with why they do not run, and run only once it is trusted', async () => {
    const mark = join(home, 'ran');
    await at.project({ hooks: hooks('SessionStart', `touch ${mark}; echo Welcome.`) });
    const before = await bridle(['hooks', 'list'], { cwd, env });
    expect(before.status).toBe(0);
    expect(before.stdout).toContain('SessionStart all  untrusted  project');
    const refused = await bridle(['run', 'Hello.'], { cwd, env });
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain('project_not_trusted');
    expect(refused.stderr).toContain(`touch ${mark}`);
    await expect(readFile(mark)).rejects.toThrow('ENOENT');
    await bridle(['run', 'Hello.', '--trust-project', '--quiet'], { cwd, env });
    expect(await readFile(mark, 'utf8')).toBe('');
  });

  test('the person is asked again when a script that a hook names has changed', async () => {
    await writeFile(join(cwd, 'check.sh'), 'exit 0\n');
    await at.project({ hooks: hooks('SessionStart', 'sh ./check.sh') });
    const first = await bridle(['run', 'Hello.', '--quiet'], { cwd, env, types: ['y'] });
    expect(first.stderr).toContain('check.sh');
    expect((await bridle(['run', 'Hello.', '--quiet'], { cwd, env })).stderr).not.toContain('project_not_trusted');
    await writeFile(join(cwd, 'check.sh'), 'touch stolen\n');
    const after = await bridle(['run', 'Hello.', '--quiet'], { cwd, env });
    expect(after.stderr).toContain('project_not_trusted');
    await expect(readFile(join(cwd, 'stolen'))).rejects.toThrow('ENOENT');
  });

  test("the person's own hook blocks a prompt before a model has it", async () => {
    await at.own({ hooks: hooks('UserPromptSubmit', `grep -q secret && { echo 'No secrets.' >&2; exit 2; }; exit 0`) });
    const blocked = await bridle(['run', 'My secret is 7.', '--quiet'], { cwd, env });
    expect(blocked.status).not.toBe(0);
    expect(blocked.stderr).toContain('prompt_blocked');
    expect(blocked.stderr).toContain('No secrets.');
  });

  test("a hook's deny reaches the model as the reason of the refusal, and the tool does not run", async () => {
    const model = await chatModel([[{ name: 'mcp__odd__add', args: '{"a":1,"b":2}' }], 'Done.']);
    try {
      const server = { command: process.execPath, args: [fixture('sdk-v2.mjs')] };
      await at.servers({ odd: server });
      await at.own({
        permissions: { allow: ['mcp__odd__add'] },
        hooks: hooks('PreToolUse', `echo 'Closed today.' >&2; exit 2`, 'mcp__odd__.*'),
      });
      await bridle(['run', 'Echo hi.', '--trust-project', '--quiet', '--model', model.spec], { cwd, env });
      expect(model.toolAnswers(1).join()).toContain('Closed today.');
    } finally {
      await model.close();
    }
  });

  test('the trace shows each run of a hook, with what it said', async () => {
    await at.own({ hooks: hooks('SessionStart', 'echo Welcome.') });
    await bridle(['run', 'Hello.', '--quiet'], { cwd, env });
    const { stdout } = await bridle(['trace', 'show'], { cwd, env });
    expect(stdout).toContain('hook SessionStart (echo Welcome.) → {"context":"Welcome."}');
  });

  test("hooks of Claude Code's settings run where the person's own file says so", async () => {
    const mark = join(home, 'ran');
    await mkdir(join(home, '.claude'));
    await writeFile(
      join(home, '.claude', 'settings.json'),
      JSON.stringify({ hooks: hooks('SessionStart', `touch ${mark}`) }),
    );
    await bridle(['run', 'Hello.', '--quiet'], { cwd, env });
    await expect(readFile(mark)).rejects.toThrow('ENOENT');
    await at.own({ hooks: { from: ['claude'] } });
    await bridle(['run', 'Hello.', '--quiet'], { cwd, env });
    expect(await readFile(mark, 'utf8')).toBe('');
  });
});
