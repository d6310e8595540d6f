import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { onAbort } from '../../tools/index.ts';
import { childEnvironment } from './child-env.ts';
import { groupGone, registerGroup, releaseGroup, signalGroup } from './process-group.ts';

const SHELL = '/bin/sh';
const DEFAULT_BYTES = 1024 * 1024;
/** How long a command that was told to stop may take to do so. */
const GRACE_MS = 500;

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
    const out = capture(maxBytes);
    const err = capture(maxBytes);
    child.stdout.on('data', out.take);
    child.stderr.on('data', err.take);
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
      void drained(child.stdout, child.stderr)
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

/** What is in the pipes when the command has ended, without waiting for those that it left running. */
function drained(...streams: readonly NodeJS.ReadableStream[]): Promise<void> {
  const ended = streams.map((stream) => new Promise<void>((resolve) => stream.once('close', resolve)));
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, GRACE_MS);
    void Promise.all(ended).then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function capture(most: number) {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let kept = 0;
  let isCut = false;
  return {
    take(chunk: Buffer) {
      const room = most - kept;
      if (chunk.length > room) isCut = true;
      if (room <= 0) return;
      const part = chunk.subarray(0, room);
      kept += part.length;
      text += decoder.write(part);
    },
    text: () => text,
    isCut: () => isCut,
  };
}
