import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CallContext, SourceResult } from '../../src/contracts/index.ts';
import type { StdioServer } from '../../src/mcp/client/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export function fixture(name: string): string {
  return join(root, 'test/fixtures/mcp', name);
}

/** The program of a published server. */
export function published(name: string): string {
  return join(root, 'node_modules/@modelcontextprotocol', name, 'dist/index.js');
}

/** The scripted server with its arguments; `test` keeps verdicts of different tests apart. */
export function scripted(test: string, args: readonly string[] = [], more: Partial<StdioServer> = {}): StdioServer {
  return node(test, [fixture('scripted.mjs'), ...args, `--test=${test}`], more);
}

export function node(key: string, args: readonly string[], more: Partial<StdioServer> = {}): StdioServer {
  return { key, scope: 'code', command: process.execPath, args, ...more };
}

export function context(more: Partial<CallContext> = {}): CallContext {
  return {
    callId: 'call-1',
    who: { agent: 'test', via: 'library' },
    signal: new AbortController().signal,
    idleMs: 20_000,
    hardMs: 20_000,
    ...more,
  };
}

export const never = (): AbortSignal => new AbortController().signal;

/** The text of a result's first block. */
export function textOf(result: SourceResult): string {
  if (result.kind !== 'result') throw new Error(`no result: ${JSON.stringify(result)}`);
  const { content } = result.raw.parse() as { content: { text: string }[] };
  return content[0]?.text ?? '';
}

export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'bridle-test-'));
}

export function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').trim().split('\n');
}

/** True while the process exists and isn't a zombie that nobody reaps. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== 'linux') return true;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}

/** The processes that this one started itself. */
export function childrenOf(parent: number): number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([pid, ppid]) => ppid === parent && pid !== undefined)
    .map(([pid]) => pid ?? 0);
}

/** Kills one process. Without a pid it throws: 0 would stand for the whole group of the tests themselves. */
export function killOne(pid: number | undefined): void {
  if (pid === undefined || pid <= 1) throw new Error('There is no process to kill.');
  process.kill(pid, 'SIGKILL');
}

/** Waits until the condition holds; false after `ms`. */
export async function eventually(condition: () => boolean, ms = 90_000): Promise<boolean> {
  const until = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
