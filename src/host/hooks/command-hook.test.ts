import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHookSet, type HookEvent, type HookVerdict } from '../../policy/index.ts';
import { commandHook } from './command-hook.ts';
import type { CommandEntry, UnreadableEntry } from './hook-entry.ts';
import { hooksToRun, settleHooks } from './project-hooks.ts';

let root: string;
const env = { PATH: process.env.PATH };
const none = new AbortController().signal;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'bridle-hook-')));
});
afterEach(() => rm(root, { recursive: true, force: true }));

function entry(command: string, event: HookEvent = 'PreToolUse', timeoutMs = 90_000): CommandEntry {
  return { event, matcher: '', command, timeoutMs, hash: command, source: { file: 'bridle.json', line: 3 } };
}

async function verdict(command: string, event: HookEvent = 'PreToolUse', timeoutMs?: number): Promise<HookVerdict> {
  const set = await createHookSet([commandHook(entry(command, event, timeoutMs), { root, env })]);
  return set.run(event, ['mcp__shop__refund'], { tool_input: { id: 'a' } }, none);
}

describe('a command', () => {
  test('that ends well and says nothing has no objection', async () => {
    expect(await verdict('true')).toMatchObject({
      reasons: [],
      contexts: [],
      messages: [],
      ran: [{ hook: 'true', answer: {} }],
    });
  });

  test('gets the event as JSON, in the folder of the project', async () => {
    const script = `cat > seen.json; test "$PWD" = "$CLAUDE_PROJECT_DIR" || exit 1; grep -q '"hook_event_name":"PreToolUse"' seen.json`;
    expect((await verdict(script)).reasons).toEqual([]);
  });

  test('that ends with 2 blocks, with its words as the reason', async () => {
    const { permission, reasons } = await verdict('echo "Not on Sundays." >&2; exit 2');
    expect(permission).toBe('deny');
    expect(reasons[0]?.text).toContain('Not on Sundays.');
    expect(reasons[0]?.source).toEqual({ file: 'bridle.json', line: 3 });
  });

  test.each([
    ['ends with another number', 'echo broken >&2; exit 1'],
    ['is ended by a signal', 'kill -9 $$'],
    ['is not there', './no-such-program'],
    ['prints JSON that is none', 'echo "{"'],
    ['prints more than is read', 'echo -n "{"; head -c 2000000 /dev/zero | tr "\\0" " "; echo "}"'],
  ])('that %s denies the call', async (_, command) => {
    expect(await verdict(command)).toMatchObject({ permission: 'deny', reasons: [{ code: 'hook_failed' }] });
  });

  test('that takes too long denies the call', async () => {
    const { permission, reasons } = await verdict('sleep 1000', 'PreToolUse', 50);
    expect(permission).toBe('deny');
    expect(reasons[0]?.text).toContain('longer than 50 ms');
  });

  test('that fails after the call keeps nothing from happening', async () => {
    const { permission, reasons } = await verdict('exit 1', 'PostToolUse');
    expect(permission).toBeUndefined();
    expect(reasons).toMatchObject([{ code: 'hook_failed' }]);
  });

  test('decides by what it prints', async () => {
    const said = {
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask', updatedInput: { id: 'b' } },
    };
    const { permission, updatedInput } = await verdict(`echo '${JSON.stringify(said)}'`);
    expect(permission).toBe('ask');
    expect(updatedInput).toEqual({ id: 'b' });
  });
});

describe('which hooks run', () => {
  const states = async (command: string, trusted: boolean) => {
    const hooks = (['managed', 'user', 'project', 'local'] as const).map((scope) => ({ scope, entry: entry(command) }));
    return (await settleHooks(hooks, { trusted, root, variables: new Map() })).map(({ state }) => state);
  };

  test('all of a trusted project, and none of one that is not trusted', async () => {
    expect(await states('true', true)).toEqual(['ready', 'ready', 'ready', 'ready']);
    expect(await states('true', false)).toEqual(['ready', 'ready', 'untrusted', 'ready']);
  });

  test('none of the person that would run a file of a folder that is not trusted; what it guards does not happen', async () => {
    await writeFile(join(root, 'check.sh'), 'echo stolen');
    expect(await states('sh ./check.sh', false)).toEqual(['held_back', 'held_back', 'untrusted', 'ready']);
    const hook = { scope: 'user' as const, entry: entry('sh ./check.sh') };
    const listed = await settleHooks([hook], { trusted: false, root, variables: new Map() });
    const set = await createHookSet(hooksToRun(listed, { root, env }));
    expect(await set.run('PreToolUse', ['any'], {}, none)).toMatchObject({
      permission: 'deny',
      reasons: [{ text: expect.stringContaining('check.sh') }],
    });
  });

  test('one that can not be read denies what it is for, with its place, and nothing else', async () => {
    const unreadable = (event: HookEvent): UnreadableEntry => {
      const { command: _, timeoutMs: __, ...rest } = entry('x', event);
      return { ...rest, matcher: 'mcp__shop__.*', problem: 'it has the type "prompt"' };
    };
    const hooks = (scope: 'user' | 'project') => [{ scope, entry: unreadable('PreToolUse') }];
    const at = { root, variables: new Map() };
    const listed = await settleHooks(hooks('user'), { ...at, trusted: false });
    expect(listed).toMatchObject([{ state: 'unreadable', reason: 'it has the type "prompt"' }]);
    const set = await createHookSet(hooksToRun(listed, { root, env }));
    expect(await set.run('PreToolUse', ['mcp__shop__pay'], {}, none)).toMatchObject({
      permission: 'deny',
      reasons: [
        { code: 'hook_failed', text: expect.stringContaining('"bridle.json:3" failed: it has the type "prompt"') },
      ],
    });
    expect((await set.run('PreToolUse', ['mcp__other__pay'], {}, none)).permission).toBeUndefined();
    // Nothing of a project that isn't trusted counts, as with its other hooks; once it is, this one does.
    expect(hooksToRun(await settleHooks(hooks('project'), { ...at, trusted: false }), { root, env })).toEqual([]);
    expect(hooksToRun(await settleHooks(hooks('project'), { ...at, trusted: true }), { root, env })).toHaveLength(1);
  });

  test('none that is turned off', async () => {
    const off = { file: 'own/bridle.json', line: 2 };
    const hooks = [{ scope: 'project' as const, entry: entry('exit 2'), off }];
    const listed = await settleHooks(hooks, { trusted: true, root, variables: new Map() });
    expect(listed).toMatchObject([{ state: 'disabled', reason: expect.stringContaining('own/bridle.json:2') }]);
    expect(hooksToRun(listed, { root, env })).toEqual([]);
  });
});
