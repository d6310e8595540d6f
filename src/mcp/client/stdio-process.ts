import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { frameReader, MAX_FRAME_BYTES } from '../wire/index.ts';
import { groupGone, registerGroup, releaseGroup, signalGroup } from './process-group.ts';
import { type Tail, tail } from './tail.ts';

/** Everything that a start needs, already resolved. Times in milliseconds. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly maxFrameBytes?: number;
  /** How long each step of a shutdown (stdin closed, SIGTERM) is waited for. Default 2,000. */
  readonly stopMs?: number;
  /** Takes secrets out of a line of stderr. */
  clean?(line: string): string;
}

/** How a child stopped being of use. */
export type ProcessEnd =
  | { readonly how: 'not_started'; readonly error: NodeJS.ErrnoException }
  | { readonly how: 'exited'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly how: 'frame_too_large' | 'stream_closed' | 'stopped' };

export interface StdioProcess {
  readonly pid: number | undefined;
  /** Writes one message. False when it can't be: the child is gone, or doesn't read what it is sent. */
  send(text: string): boolean;
  readonly stderr: Tail;
  /** Resolves when `end` has been called. */
  readonly ended: Promise<void>;
  /** True from the exit on, while what the child wrote before is still being read. */
  leaving(): boolean;
  /** Resolves when the whole group is gone. */
  stop(): Promise<void>;
}

/** How much of stderr is kept for messages. */
const STDERR_LINES = 20;
/** After an exit, how long more of what the child wrote is waited for; a grandchild may hold the pipe open for ever. */
const DRAIN_MS = 100;
/** The same when something keeps coming: a grandchild may also write to the pipe for ever. */
const DRAIN_HARD_MS = 5000;
const STREAM_GRACE_MS = 500;

/**
 * Starts a child as the leader of its own group, with pipes on all three streams.
 *
 * @param on `line` gets each line of stdout, `end` is called once, when the child can't answer any more
 */
export function startProcess(
  launch: Launch,
  on: { line(line: string): void; end(end: ProcessEnd): void },
): StdioProcess {
  const stderr = tail(STDERR_LINES, launch.clean);
  const stopMs = launch.stopMs ?? 2000;
  const maxFrameBytes = launch.maxFrameBytes ?? MAX_FRAME_BYTES;
  let ended = false;
  let exit: ProcessEnd | null = null;
  let gone: Promise<void> | null = null;

  let resolveEnded = () => {};
  const whenEnded = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });
  const finish = (end: ProcessEnd) => {
    if (ended) return;
    ended = true;
    on.end(end);
    resolveEnded();
  };

  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(launch.command, [...launch.args], {
      cwd: launch.cwd,
      env: launch.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    queueMicrotask(() => finish({ how: 'not_started', error: error as NodeJS.ErrnoException }));
    return { pid: undefined, stderr, ended: whenEnded, leaving: () => true, send: () => false, stop: async () => {} };
  }
  const pgid = child.pid;
  if (pgid !== undefined) registerGroup(pgid);

  /** Ends what is left of the group; `patient` first gives it the chance to end by itself. */
  const endGroup = async (patient: boolean): Promise<void> => {
    if (pgid === undefined) return;
    if (patient) await Promise.race([exited, groupGone(pgid, stopMs)]);
    if (!(await groupGone(pgid, patient ? DRAIN_MS : 0))) {
      signalGroup(pgid, 'SIGTERM');
      if (!(await groupGone(pgid, stopMs))) {
        signalGroup(pgid, 'SIGKILL');
        await groupGone(pgid, stopMs, true);
      }
    }
    releaseGroup(pgid);
  };
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const end = (patient: boolean): Promise<void> => {
    gone ??= endGroup(patient);
    return gone;
  };

  const reader = frameReader(maxFrameBytes, (line) => {
    if (!ended) on.line(line);
  });
  let drain: NodeJS.Timeout | undefined;
  let drainHard: NodeJS.Timeout | undefined;
  const drained = (end: ProcessEnd) => {
    clearTimeout(drain);
    clearTimeout(drainHard);
    drain = undefined;
    finish(end);
  };
  child.stdout.on('data', (chunk: Buffer) => {
    drain?.refresh();
    if (ended || reader.push(chunk)) return;
    child.stdout.destroy();
    void end(false);
    finish({ how: 'frame_too_large' });
  });
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));

  // A child that closes one of its streams is usually about to exit; if it isn't, it can't be talked to all the same.
  const streamClosed = () => {
    const timer = setTimeout(() => {
      if (exit !== null) return;
      finish({ how: 'stream_closed' });
      void end(true);
    }, STREAM_GRACE_MS);
    exited.then(() => clearTimeout(timer));
  };
  child.stdout.once('end', streamClosed);
  child.stdin.on('error', streamClosed);
  child.stdout.on('error', () => {});
  child.stderr.on('error', () => {});

  child.once('error', (error: NodeJS.ErrnoException) => {
    if (pgid === undefined) finish({ how: 'not_started', error });
  });
  child.once('exit', (code, signal) => {
    const how: ProcessEnd = { how: 'exited', code, signal };
    exit = how;
    drain = setTimeout(drained, DRAIN_MS, how);
    drainHard = setTimeout(drained, DRAIN_HARD_MS, how);
    child.once('close', () => drained(how));
    void end(true);
  });

  return {
    pid: pgid,
    stderr,
    ended: whenEnded,
    leaving: () => exit !== null,
    send(text) {
      if (ended || exit !== null || !child.stdin.writable) return false;
      if (child.stdin.writableLength > maxFrameBytes) return false;
      child.stdin.write(`${text}\n`);
      return true;
    },
    async stop() {
      finish({ how: 'stopped' });
      child.stdin.end();
      await end(true);
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}
