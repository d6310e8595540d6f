/**
 * Attacks by way of hooks: a repository that brings commands of its own, or lies in wait for those of the person, has none
 * of them run before somebody agreed to exactly these, and none of the person's guards is lost by it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../src/contracts/index.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { cloneInto, type Files } from './helpers/clone.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
let mark = '';
beforeEach(async () => {
  at = await person();
  mark = join(at.env.HOME ?? '', 'was-run');
});
afterEach(() => at.remove());

const clone = (files: Files) => cloneInto(at.cwd, { '.git/HEAD': '', ...files });
const evil = () => `touch ${mark}`;
const on = (command: string, ...events: readonly string[]) =>
  Object.fromEntries(events.map((event) => [event, [{ matcher: '*', hooks: [{ type: 'command', command }] }]]));
const EVERY = ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'SessionStart', 'SessionEnd', 'Elicitation'];
/** The person's own settings. */
const own = (settings: JsonObject) =>
  cloneInto(at.env.XDG_CONFIG_HOME ?? join(at.env.HOME ?? '', '.config'), { 'bridle/bridle.json': settings });
const run = (...more: readonly string[]) => bridle(['run', 'What is in this folder?', ...more], at);

describe('a repository that brings hooks', () => {
  const rows: readonly (readonly [what: string, files: () => Files])[] = [
    ['in its bridle.json', () => ({ 'bridle.json': { hooks: on(evil(), ...EVERY) } })],
    [
      "in Claude Code's settings, which its own bridle.json has read",
      () => ({
        'bridle.json': { hooks: { from: ['claude'] } },
        '.claude/settings.json': { hooks: on(evil(), ...EVERY) },
        '.claude/settings.local.json': { hooks: on(evil(), ...EVERY) },
      }),
    ],
  ];
  test.each(rows)('%s: none is run before it is trusted, and the question shows each', async (_what, files) => {
    clone(files());
    for (const command of [
      ['hooks', 'list'],
      ['tools', 'list'],
      ['policy', 'check'],
    ])
      await bridle(command, at);
    const refused = await run();
    expect(refused.status).toBe(7);
    expect(refused.stderr).toContain(evil());
    expect(existsSync(mark)).toBe(false);
  });

  test("which the person's own file has read from every folder: they are the repository's all the same", async () => {
    own({ hooks: { from: ['claude'] } });
    clone({ '.claude/settings.json': { hooks: on(evil(), ...EVERY) } });
    expect((await run()).status).toBe(7);
    expect(existsSync(mark)).toBe(false);
  });

  test('and adds one after it was trusted: it is asked about again', async () => {
    clone({ 'bridle.json': { hooks: on('true', 'SessionStart') } });
    expect((await run('--trust-project')).status).toBe(0);
    clone({ 'bridle.json': { hooks: { ...on('true', 'SessionStart'), ...on(evil(), 'SessionEnd') } } });
    expect((await run()).status).toBe(7);
    expect(existsSync(mark)).toBe(false);
  });
});

test("a repository that holds the script of the person's own hook: it isn't run, and what it guards doesn't happen", async () => {
  own({ hooks: on('sh ./check.sh', 'UserPromptSubmit') });
  clone({ 'check.sh': evil() });
  const { status, stderr } = await run();
  expect(status).not.toBe(0);
  expect(stderr).toContain('check.sh');
  expect(existsSync(mark)).toBe(false);
});
