import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { BridleError, makeFolder } from '../tools/index.ts';

/**
 * Whoever writes a run's file has a file of their own beside it, whose name says which process that is. It is made
 * before the others are looked at, so of two that come at once at least one sees the other. What a dead process left is
 * nobody's.
 */
export interface TraceLock {
  release(): Promise<void>;
}

interface Holder {
  readonly file: string;
  readonly host: string;
  readonly pid: number;
  readonly start: string;
}

const TRIES = 5;

/**
 * Makes this process the one that writes a run's file.
 *
 * @param dir of the locks; made, 0700, where it is missing
 * @param name of the run's file, without its ending
 * @throws BridleError `trace_busy` while another one does
 * @throws the file system's error when no lock can be made
 */
export async function lockTrace(dir: string, name: string): Promise<TraceLock> {
  await makeFolder(dir, 0o700);
  const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-') || 'host';
  const start = (await processOf(process.pid))?.start ?? '0';
  for (let tries = 1; ; tries++) {
    const own = `${name}~${host}~${process.pid}~${start}~${randomBytes(6).toString('hex')}.lock`;
    await (await open(join(dir, own), 'wx', 0o600)).close();
    const release = () => rm(join(dir, own), { force: true });
    try {
      const other = await otherHolder(dir, name, own, host);
      if (other === undefined) return { release };
      if (tries >= TRIES) throw busy(other, dir);
    } catch (error) {
      await release();
      throw error;
    }
    await release();
    // Of several that come in the same moment each saw the others: they don't come in the same moment again.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * tries));
  }
}

async function otherHolder(dir: string, name: string, own: string, host: string): Promise<Holder | undefined> {
  for (const file of await readdir(dir)) {
    if (file === own || !file.startsWith(`${name}~`)) continue;
    const holder = holderOf(file, name);
    if (holder === undefined) continue;
    if (holder.host !== host || (await isAlive(holder))) return holder;
    await rm(join(dir, file), { force: true });
  }
  return undefined;
}

function holderOf(file: string, name: string): Holder | undefined {
  const [, host, pid, start] = /^~([^~]+)~(\d+)~([^~]+)~[0-9a-f]+\.lock$/.exec(file.slice(name.length)) ?? [];
  if (host === undefined || pid === undefined || start === undefined) return undefined;
  return { file, host, pid: Number(pid), start };
}

async function isAlive({ pid, start }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is one too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  // Ids of processes come again: another start is another process.
  const now = await processOf(pid);
  if (now === undefined) return true;
  return now.state !== 'Z' && (start === '0' || now.start === start);
}

/** A process as the system tells it; undefined where there is no /proc. `start`: in ticks since the machine started. */
async function processOf(pid: number): Promise<{ readonly state?: string; readonly start?: string } | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in brackets and may hold anything (proc_pid_stat(5): state is field 3, starttime 22).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const start = fields[19];
    return { ...(state !== undefined && { state }), ...(start !== undefined && { start }) };
  } catch {
    return undefined;
  }
}

function busy({ host, pid, file }: Holder, dir: string): BridleError {
  return new BridleError('trace_busy', `Process ${pid} on ${host} is writing the journal of this run.`, {
    hint: `Wait until it has ended, or stop it. Only if there is no such process any more: remove ${join(dir, file)}.`,
  });
}
