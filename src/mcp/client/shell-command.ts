import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { onAbort } from '../../tools/index.ts';
import { childEnvironment } from './child-env.ts';
import { groupGone, registerGroup, releaseGroup, signalGroup } from './process-group.ts';

const SHELL = '/bin/sh';
const DEFAULT_BYTES = 1024 * 1024;
/** How long a command that was told to stop may take to do so. */
const GRACE_MS = 500;
/** Where something that was left running goes on writing, so much is read before it is ended. */
const MOST_DRAINED = 16 * 1024 * 1024;

export interface ShellCommandOptions {
  /** Absolute. */
  readonly cwd: string;
  /** Environment of this process; a small baseline of it goes on, as to servers. */
  readonly own: Readonly<Record<string, string | undefined>>;
  /** What the command gets besides. */
  readonly env?: Readonly<Record<string, string>>;
  /** Written to its stdin, which is then closed. Default: nothing. */
  readonly stdin?: string;
  /** Most bytes kept of stdout and of stderr each; what comes after is read and dropped. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Ends the command and all that it started. */
  readonly signal: AbortSignal;
}

export interface ShellCommandEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** It wrote more than is kept. */
  readonly isCut: boolean;
}

/**
 * Runs a command line in a shell, as a process group of its own that ends with this process and when it is aborted, even
 * where it left something running.
 *
 * Rejects when it can't be started, and with the signal's reason when it was aborted.
 */
export function runShellCommand(command: string, options: ShellCommandOptions): Promise<ShellCommandEnd> {
  const { cwd, own, env = {}, stdin = '', maxBytes = DEFAULT_BYTES, signal } = options;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(SHELL, ['-c', command], {
      cwd,
      env: childEnvironment(own, env),
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const { pid } = child;
    if (pid !== undefined) registerGroup(pid);
    const out = capture(child.stdout, maxBytes);
    const err = capture(child.stderr, maxBytes);
    // A command that doesn't read its input may close it, or end, before all is written.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);

    let aborted = false;
    const forget = onAbort(signal, () => {
      aborted = true;
      if (pid !== undefined) void endGroup(pid);
    });
    const over = async () => {
      forget();
      if (pid === undefined) return;
      // What it left running in its group ends too: nobody waits for it any more.
      await endGroup(pid);
      releaseGroup(pid);
    };
    child.once('error', (error) => void over().then(() => reject(error)));
    // Not `close`: something that was left running may hold the pipes open.
    child.once('exit', (code) => {
      void drained(out, err)
        .then(over)
        .then(() => {
          if (aborted) reject(signal.reason);
          else resolve({ code, stdout: out.text(), stderr: err.text(), isCut: out.isCut() || err.isCut() });
        });
    });
  });
}

async function endGroup(pgid: number): Promise<void> {
  if (!signalGroup(pgid, 'SIGTERM')) return;
  if (await groupGone(pgid, GRACE_MS)) return;
  signalGroup(pgid, 'SIGKILL');
  await groupGone(pgid, GRACE_MS);
}

/**
 * Waits until what the command itself wrote has been read, without waiting for those that it left running. However late
 * this process is, all that stands in the pipes is read: an answer that was lost would be taken for none.
 */
async function drained(...captures: readonly Capture[]): Promise<void> {
  const closed = Promise.all(captures.map(({ closed }) => closed)).then(() => true);
  const grace = new AbortController();
  const late = sleep(GRACE_MS, false, { signal: grace.signal }).catch(() => false);
  if (await Promise.race([closed, late])) return grace.abort();
  for (let read = -1, now = bytesOf(captures); now > read && now < MOST_DRAINED; now = bytesOf(captures)) {
    read = now;
    // One turn reads what is there; the second one sees that nothing more was.
    await nextTurn();
    await nextTurn();
  }
}

function bytesOf(captures: readonly Capture[]): number {
  return captures.reduce((sum, { bytes }) => sum + bytes(), 0);
}

type Capture = ReturnType<typeof capture>;

function capture(stream: Readable, most: number) {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let kept = 0;
  let bytes = 0;
  let isCut = false;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    const room = most - kept;
    if (chunk.length > room) isCut = true;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    kept += part.length;
    text += decoder.write(part);
  });
  return {
    closed: new Promise<void>((resolve) => stream.once('close', resolve)),
    /** Read so far, kept or not. */
    bytes: () => bytes,
    text: () => text,
    isCut: () => isCut,
  };
}
