import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/mcp.ts';
import { runShellCommand } from './shell-command.ts';

let cwd: string;
const own = { PATH: process.env.PATH, SECRET_TOKEN: 'hush' };
const none = new AbortController().signal;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'bridle-shell-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const run = (command: string, more: Partial<Parameters<typeof runShellCommand>[1]> = {}) =>
  runShellCommand(command, { cwd, own, signal: none, ...more });

test('a command gets its input and tells its end and both outputs', async () => {
  const end = await run('cat; echo problem >&2; exit 3', { stdin: 'hello' });
  expect(end).toEqual({ code: 3, stdout: 'hello', stderr: 'problem\n', isCut: false });
});

test('it gets a small part of the environment, and what it is given', async () => {
  const { stdout } = await run('echo "$SECRET_TOKEN|$GIVEN"', { env: { GIVEN: 'yes' } });
  expect(stdout).toBe('|yes\n');
});

test('one that does not read its input is no error', async () => {
  expect((await run('exit 0', { stdin: 'x'.repeat(2_000_000) })).code).toBe(0);
});

test('of a flood only the first part is kept, and said', async () => {
  const end = await run('head -c 300000 /dev/zero | tr "\\0" x', { maxBytes: 1_000 });
  expect(end.stdout).toBe('x'.repeat(1_000));
  expect(end.isCut).toBe(true);
});

test('all that it wrote is read, however busy this process is and whatever holds the pipes open', async () => {
  const ended = run('sleep 1000 & printf %4000d 7; touch done');
  // Nothing is read while the loop stands still; it goes on standing still whenever a timer is due.
  while (!existsSync(join(cwd, 'done'))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  const busy = setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600), 1);
  try {
    expect((await ended).stdout).toBe('7'.padStart(4_000));
  } finally {
    clearInterval(busy);
  }
});

test('what it leaves running ends with it, and holds nobody up', async () => {
  await run('sleep 1000 & echo $! > left');
  const pid = Number(await readFile(join(cwd, 'left'), 'utf8'));
  const isGone = () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };
  expect(await eventually(isGone)).toBe(true);
});

test('one that is aborted ends with all that it started, also when it will not hear', async () => {
  const stop = new AbortController();
  const ended = run('trap "" TERM; echo $$ > pid; sleep 1000', { signal: stop.signal });
  const pid = async () => Number(await readFile(join(cwd, 'pid'), 'utf8').catch(() => '0'));
  while ((await pid()) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  stop.abort(new Error('enough'));
  await expect(ended).rejects.toThrow('enough');
  const shell = await pid();
  expect(() => process.kill(shell, 0)).toThrow();
});
