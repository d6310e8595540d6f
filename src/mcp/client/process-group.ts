import { readdirSync, readFileSync } from 'node:fs';
import { watchdog } from './watchdog.ts';

/**
 * The child process groups of this process. Each child is started as the leader of its own group, so that whatever it
 * starts can be ended with it.
 */
const groups = new Set<number>();

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Sends a signal to a group; 0 only asks. False when there is no such group, or none of ours to end. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch {
    return false;
  }
}

/** On Linux, whether a group has a member that isn't a zombie: one that nobody reaps can't be ended any more. */
function hasLiveMember(pgid: number): boolean {
  if (process.platform !== 'linux') return signalGroup(pgid, 0);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(group) === pgid && state !== 'Z' && state !== 'X') return true;
    } catch {
      // Gone while we looked.
    }
  }
  return false;
}

/** Resolves to true as soon as the group is gone, to false after `ms`. */
export async function groupGone(pgid: number, ms: number, thorough = false): Promise<boolean> {
  const until = Date.now() + ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, 50)) {
    if (!signalGroup(pgid, 0)) return true;
    if (thorough && !hasLiveMember(pgid)) return true;
    if (Date.now() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** From now on this group ends with us, however we end. */
export function registerGroup(pgid: number): void {
  groups.add(pgid);
  installExitHooks();
  watchdog.add(pgid);
}

/** To be called once the group is gone: its number may be given to somebody else from then on. */
export function releaseGroup(pgid: number): void {
  if (!groups.delete(pgid)) return;
  watchdog.remove(pgid);
}

function killAllNow(): void {
  for (const pgid of groups) {
    signalGroup(pgid, 'SIGKILL');
    watchdog.remove(pgid);
  }
  groups.clear();
}

function onSignal(signal: NodeJS.Signals): void {
  // Someone else listens too: whether this signal ends the process is theirs to say, and `exit` follows if it does.
  if (process.listenerCount(signal) > 1) return;
  killAllNow();
  process.removeListener(signal, onSignal);
  process.kill(process.pid, signal);
}

let installed = false;

/**
 * Makes the children end with this process on a normal exit, an uncaught error, SIGINT, SIGTERM and SIGHUP. Called by
 * itself when the first child starts. A signal keeps its default effect, and a program with handlers of its own keeps
 * the decision. What no hook sees (`kill -9`, a crash of the engine) the watchdog does.
 */
export function installExitHooks(): void {
  if (installed) return;
  installed = true;
  process.on('exit', killAllNow);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}
