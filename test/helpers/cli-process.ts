import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TraceEvent } from '../../src/contracts/index.ts';
import { listTraces, readTrace } from '../../src/dispatch/index.ts';
import { childrenOf, eventually, fixture } from './mcp.ts';

/** Of util-linux: gives a command a pseudo-terminal. */
const SCRIPT = 'script';

const BIN = fileURLToPath(new URL('../../bin/bridle.js', import.meta.url));

/** An entry of `.mcp.json`. */
export type Entry = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly trust?: boolean;
  readonly era?: 'legacy' | 'modern';
  readonly startMs?: number;
  readonly idleMs?: number;
  readonly hardMs?: number;
};

/** A person's folder for one test: a project, a home and a state of their own, and a mark for the children's argv. */
export interface Person {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  /** An entry that runs one of the fixtures, marked. */
  fixture(name: string, args?: readonly string[], limits?: Partial<Entry>): Entry;
  /** Writes `.mcp.json`. */
  servers(servers: Readonly<Record<string, Entry>>): Promise<void>;
  /** The events of every trace there is, oldest run first. */
  traces(): Promise<TraceEvent[][]>;
  remove(): Promise<void>;
}

export async function person(): Promise<Person> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'bridle-person-')));
  const cwd = join(home, 'project');
  const state = join(home, 'state');
  const mark = `--test=mark-${randomUUID()}`;
  await mkdir(cwd);
  return {
    cwd,
    mark,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      BRIDLE_READY_SECONDS: '600',
      XDG_STATE_HOME: state,
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'data'),
    },
    fixture: (name, args = [], limits = {}) => ({
      command: process.execPath,
      args: [fixture(name), ...args, mark],
      ...limits,
    }),
    servers: (servers) => writeFile(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: servers })),
    async traces() {
      const summaries = await listTraces(join(state, 'bridle', 'traces'));
      const oldestFirst = summaries.map(({ file }) => file).sort();
      return Promise.all(
        oldestFirst.map(async (file) => {
          const events: TraceEvent[] = [];
          for await (const event of readTrace(file)) events.push(event);
          return events;
        }),
      );
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Waits until it has printed this, on stdout or stderr. Throws, with what it printed, when it doesn't. */
  said(pattern: RegExp): Promise<void>;
  /** What it has printed so far on stdout and stderr, in the order in which it came. */
  output(): string;
}

/**
 * Starts the built command line as a process of its own, without a terminal.
 *
 * @param piped what its stdin says; absent: it has none
 */
export function startBridle(
  args: readonly string[],
  { cwd, env }: Pick<Person, 'cwd' | 'env'>,
  piped?: string,
): Started {
  const stdin = piped === undefined ? 'ignore' : 'pipe';
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: [stdin, 'pipe', 'pipe'] });
  child.stdin?.end(piped);
  return watch(child);
}

/** The built command line as a process of its own, to its end. */
export function runBridle(args: readonly string[], at: Pick<Person, 'cwd' | 'env'>, piped?: string): Promise<Ended> {
  return startBridle(args, at, piped).ended;
}

export interface AtTerminal extends Started {
  /** Presses Ctrl-C. */
  interrupt(): void;
  /** Sends a signal to bridle alone. */
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts the built command line at a terminal. With `script` of util-linux it is a real pseudo-terminal, and Ctrl-C is
 * the key, which the kernel turns into a signal for the foreground group. Elsewhere the streams are pipes that say they
 * are a terminal, and Ctrl-C is the signal: what bridle does with the signal is tested all the same.
 */
export function atTerminal(args: readonly string[], { cwd, env }: Pick<Person, 'cwd' | 'env'>): AtTerminal {
  if (!hasScript()) {
    const claim = 'for (const name of ["stdin", "stdout", "stderr"]) process[name].isTTY = true;';
    const preload = `data:text/javascript,${encodeURIComponent(claim)}`;
    const child = spawn(process.execPath, ['--import', preload, BIN, ...args], { cwd, env });
    const signal = (name: NodeJS.Signals) => void child.kill(name);
    return { ...watch(child), signal, interrupt: () => signal('SIGINT') };
  }
  const words = [process.execPath, BIN, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const child = spawn(SCRIPT, ['-qefc', `exec ${words.join(' ')}`, '/dev/null'], { cwd, env });
  return {
    ...watch(child),
    interrupt: () => void child.stdin.write('\u0003'),
    signal(name) {
      for (const pid of childrenOf(child.pid ?? 0)) process.kill(pid, name);
    },
  };
}

/** BSD's `script` takes other arguments and no pipe for its input. */
function hasScript(): boolean {
  try {
    return execFileSync(SCRIPT, ['--version'], { encoding: 'utf8' }).includes('util-linux');
  } catch {
    return false;
  }
}

function watch(child: ChildProcess): Started {
  let stdout = '';
  let stderr = '';
  let all = '';
  let over = false;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    all += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    all += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      over = true;
      resolve({ status, stdout, stderr });
    });
  });
  return {
    child,
    ended,
    output: () => all,
    async said(pattern) {
      const found = () => pattern.test(stdout + stderr);
      await eventually(() => found() || over);
      if (!found()) throw new Error(`It never said ${pattern}, but:\n${stdout}${stderr}`);
    },
  };
}

/** The command lines of the processes that carry the mark, zombies aside. */
export function alive({ mark }: Pick<Person, 'mark'>): string[] {
  return execFileSync('ps', ['-A', '-ww', '-o', 'stat=,args='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .split('\n')
    .filter((row) => row.includes(mark) && !row.startsWith('Z'));
}

/** Waits for every marked process to go, and names those that don't. */
export async function stillAlive(at: Pick<Person, 'mark'>): Promise<string[]> {
  await eventually(() => alive(at).length === 0);
  return alive(at);
}
