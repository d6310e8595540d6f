import { type ChildProcess, spawn } from 'node:child_process';

/**
 * The watchdog's program, as text because it has to run the same from sources and from the build. It reads `+pid` and
 * `-pid` lines; when the pipe ends, we are gone, and it ends the groups that are left: SIGTERM, a second, SIGKILL.
 * A leader with another start time than at registration is somebody else under a number used again, and is spared.
 */
const PROGRAM = `
process.title = 'bridle-watchdog';
const fs = require('node:fs');
const groups = new Map();
let rest = '';
const born = (pid) => {
  try {
    const stat = fs.readFileSync('/proc/' + pid + '/stat', 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return null;
  }
};
const ours = ([pid, at]) => {
  const now = born(pid);
  return now === null || at === null || now === at;
};
const signal = (name) => {
  for (const entry of groups) {
    if (!ours(entry)) continue;
    try { process.kill(-entry[0], name); } catch { groups.delete(entry[0]); }
  }
};
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {});
process.stdin.on('error', () => {});
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const pid = Number(line.slice(1));
    if (!(pid > 1)) continue;
    if (line[0] === '+') groups.set(pid, born(pid));
    else groups.delete(pid);
  }
});
process.stdin.on('close', () => {
  signal('SIGTERM');
  const until = Date.now() + 1000;
  const look = () => {
    signal(0);
    if (groups.size === 0) process.exit(0);
    if (Date.now() < until) return setTimeout(look, 50);
    signal('SIGKILL');
    process.exit(0);
  };
  look();
});
`;

const MAX_RESTARTS = 5;

let dog: ChildProcess | null = null;
let restarts = 0;
/** What a new watchdog has to be told when the old one was lost. */
const told = new Set<number>();

function start(): ChildProcess {
  const child = spawn(process.execPath, ['--max-old-space-size=16', '-e', PROGRAM], {
    // No NODE_OPTIONS, no loaders, no keys; inside Electron the executable has to be told to be Node.
    env: { ELECTRON_RUN_AS_NODE: '1' },
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  const pipe = child.stdin;
  // Not to hold the event loop: this process must be able to end while the watchdog watches.
  if (pipe && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  pipe?.on('error', () => {});
  const lost = () => {
    if (dog !== child) return;
    dog = null;
    // Somebody ended it: what it watched over needs another one, but not for ever.
    if (told.size === 0 || restarts >= MAX_RESTARTS) return;
    restarts += 1;
    dog = start();
  };
  child.on('error', lost);
  child.on('exit', lost);
  for (const pgid of told) pipe?.write(`+${pgid}\n`);
  return child;
}

/**
 * One small process beside us that holds the other end of a pipe. When we end without a chance to clean up, it ends the
 * groups that we started. It ends with us.
 */
export const watchdog = {
  add(pgid: number): void {
    told.add(pgid);
    if (dog === null) dog = start();
    else dog.stdin?.write(`+${pgid}\n`);
  },
  remove(pgid: number): void {
    if (!told.delete(pgid)) return;
    dog?.stdin?.write(`-${pgid}\n`);
  },
};
