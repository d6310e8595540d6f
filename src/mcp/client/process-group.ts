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
  installExitHook();
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

const ours = Symbol.for('bridle.exit-hook');
type Hook = ((signal: NodeJS.Signals) => void) & { [ours]?: true };

const onSignal: Hook = (signal) => {
  // Someone else listens too: whether this signal ends the process is theirs to say, and `exit` follows if it does.
  if (process.listeners(signal).some((listener) => (listener as Hook)[ours] !== true)) return;
  killAllNow();
  process.removeListener(signal, onSignal);
  if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
};
onSignal[ours] = true;

let watchesExit = false;
let watchesSignals = false;

/** A normal exit and an uncaught error run this; signals and what no hook sees are the watchdog's. */
function installExitHook(): void {
  if (watchesExit) return;
  watchesExit = true;
  process.on('exit', killAllNow);
}

/**
 * Ends the children at once, without the grace that the watchdog gives them, when SIGINT, SIGTERM or SIGHUP end this
 * process. For programs of our own: the children end with us without it too, and a library that listens to signals can
 * get in the way of others that do. A signal keeps its default effect; where somebody else listens, they decide.
 */
export function installExitHooks(): void {
  installExitHook();
  if (watchesSignals) return;
  watchesSignals = true;
  // Before a listener that is to run once has taken itself off the list.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}
