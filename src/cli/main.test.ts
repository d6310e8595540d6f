import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { CommandIo } from './command.ts';
import { main } from './main.ts';

/** A stream whose every write fails so, as a pipe without a reader or a full disk does. */
function failing(code: string): Writable {
  const error = Object.assign(new Error(`${code}: can't write`), { code });
  return new Writable({ write: (_chunk, _encoding, done) => setImmediate(done, error) });
}

async function run(args: readonly string[], { stdout, stderr }: { stdout?: Writable; stderr?: Writable }) {
  const said = new PassThrough();
  const streams = { stdin: new PassThrough(), stdout: stdout ?? new PassThrough(), stderr: stderr ?? said };
  const env = { XDG_STATE_HOME: '/nonexistent' };
  const status = await main(args, { cwd: '/', env, ...streams } as unknown as CommandIo);
  return { status, stderr: String(said.read() ?? '') };
}

test('a reader that left after the first lines is no error', async () => {
  for (const args of [['--help'], ['run', '--help'], ['trace', 'list']]) {
    expect(await run(args, { stdout: failing('EPIPE') })).toEqual({ status: 0, stderr: '' });
  }
});

test('an answer that could not be written is an error, whatever the command thinks of itself', async () => {
  for (const args of [['--version'], ['trace', 'list']]) {
    const { status, stderr } = await run(args, { stdout: failing('ENOSPC') });
    expect(status).toBe(1);
    expect(stderr).toContain("error (output_not_written): The output could not be written: ENOSPC: can't write.\n");
  }
});

test('a stderr that nobody reads changes nothing', async () => {
  expect((await run(['trace', 'show'], { stderr: failing('EPIPE') })).status).toBe(1);
  expect((await run(['trace', 'show'], { stderr: failing('EIO') })).status).toBe(1);
});
