import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo } from './command.ts';
import { main } from './main.ts';

let state: string;

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'bridle-trace-'));
  await mkdir(join(state, 'bridle', 'traces'), { recursive: true });
});
afterEach(() => rm(state, { recursive: true, force: true }));

const HEADER = { v: 1, at: 1, type: 'run', run: 'run-1', agent: 'a', model: 'm', task: 't', bridle: '0' };

/** A trace that somebody else sent, or that was edited by hand: what is in it is as foreign as a server's words. */
async function trace(name: string, lines: readonly Json[]): Promise<void> {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await writeFile(join(state, 'bridle', 'traces', `${name}.jsonl`), text);
}

async function bridle(...args: string[]) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io = { cwd: '/', env: { XDG_STATE_HOME: state }, stdin: new PassThrough(), stdout, stderr };
  const status = await main(args, io as unknown as CommandIo);
  return { status, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

test('nothing in a trace drives the terminal in which it is shown', async () => {
  const evil = '\u001b]0;x\u0007\u009b31m\u202e';
  const call = {
    ...{ callId: 'c', conversation: 'c', who: { agent: evil, via: 'library' }, name: evil, args: { [evil]: evil } },
    ...{ startedAt: 1, ms: 1, attempts: 1, asked: { answer: 'allow', by: evil } },
    decision: { effect: evil, reasons: [{ room: evil, code: evil, text: evil }], policyVersion: evil },
    outcome: { kind: evil, reasons: [] },
  };
  await trace('run-1', [
    { ...HEADER, run: `run-1${evil}`, agent: evil, model: evil, task: evil },
    { v: 1, at: 1, type: 'call', call },
    { v: 1, at: 1, type: 'call', call: { ...call, outcome: { kind: 'denied', reasons: [{ text: evil }] } } },
    { v: 1, at: 1, type: 'end', how: evil, detail: { text: evil } },
  ]);
  for (const args of [['list'], ['show'], ['list', '--json'], ['show', '--json']]) {
    const { status, stdout, stderr } = await bridle('trace', ...args);
    expect(status).toBe(0);
    expect(stdout).toContain('run-1');
    for (const text of [stdout, stderr]) expect(printable(text, { newlines: true })).toBe(text);
  }
});

test('nothing in the name of the folder where traces are kept does, either', async () => {
  const whole = state;
  state = join(whole, 'a\u202eb\u001b[31m');
  try {
    const none = await bridle('trace', 'list');
    await mkdir(join(state, 'bridle', 'traces'), { recursive: true });
    await trace('run-1', [HEADER, 'torn']);
    const torn = await bridle('trace', 'show');
    expect(none.stdout).toContain('No runs in');
    expect(torn.stderr).toContain('passed over');
    for (const text of [none.stdout, torn.stderr]) expect(printable(text, { newlines: true })).toBe(text);
  } finally {
    state = whole;
  }
});

test('lines that lack what their type promises are passed over and counted, in showing and in listing', async () => {
  await trace('run-0', [{ ...HEADER, at: 1e300, run: 'no date' }]);
  await trace('run-1', [
    HEADER,
    { ...HEADER, task: 7 },
    { v: 1, at: 1, type: 'call', call: { outcome: { kind: 'denied' } } },
    { v: 1, at: 1, type: 'intent', callId: 'c', args: {} },
    { v: 1, at: 1, type: 'end' },
    { v: 1, at: 1, type: 'end', how: 'answered', detail: null },
  ]);
  const shown = await bridle('trace', 'show', 'run-1');
  expect(shown).toMatchObject({ status: 0, stdout: 'run-1  a with m\n  t\nanswered\n' });
  expect(shown.stderr).toContain('4 torn or unknown lines');
  expect((await bridle('trace', 'list')).stdout).not.toContain('no date');
});

test('what was asked and said on the way is shown in words: the further inputs, an abort, an end without a text', async () => {
  await trace('run-1', [
    HEADER,
    { v: 1, at: 1, type: 'input', content: 't' },
    { v: 1, at: 1, type: 'end', how: 'asked', detail: { text: 'Which?' } },
    { v: 1, at: 1, type: 'input', content: 'O-104' },
    { v: 1, at: 1, type: 'input', content: [{ type: 'text', text: 'and O-105' }] },
    { v: 1, at: 1, type: 'abort', detail: { by: 'caller', message: 'stopped by SIGINT' } },
    { v: 1, at: 1, type: 'end', how: 'aborted', detail: { text: '' } },
  ]);
  const { stdout } = await bridle('trace', 'show');
  expect(stdout).toBe(
    'run-1  a with m\n  t\nasked: Which?\nyou: O-104\nyou: and O-105\nabort: stopped by SIGINT\naborted\n',
  );
});

test('a whole run id names that run, also where other ids begin with it', async () => {
  await trace('run-1', [HEADER]);
  await trace('run-1b', [{ ...HEADER, run: 'run-1b', at: 2 }]);
  expect((await bridle('trace', 'show', 'run-1')).stdout).toContain('run-1  a');
  expect((await bridle('trace', 'show', 'run')).status).toBe(2);
});
