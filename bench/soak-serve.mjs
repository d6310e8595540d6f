/**
 * Holds a server for long against clients that come and go, in order and not: every answer is checked against its
 * question, and when all have left, the server must hold what it held before: memory, handles and timers.
 *
 * Usage: node bench/soak-serve.mjs [--minutes N] [--seed N] [--json]
 *
 *   npm run soak:serve                     an hour
 *   npm run soak:serve -- --minutes 3      as CI does
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brokenOff, malformed, task, VISITS } from './soak/visits.mjs';
import { wire } from './soak/wire.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(
    'node bench/soak-serve.mjs [--minutes N (60)] [--seed N (1)] [--json]\n\n  npm run soak:serve -- --minutes 3',
  );
  process.exit();
}
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes takes a positive number, not '${values.minutes}'.`);

/** Clients at once. */
const CLIENTS = 12;
/** Shortest time from one visit of a client to its next, in milliseconds: what is bounded shouldn't be full at once. */
const PACE_MS = 120;
/** Rounds of every kind of visit before the first look: what is made once is there then. */
const WARM_ROUNDS = 40;
/** What may be left of memory: what is bounded fills over time, such as the names of sessions that are over. */
const MAX_GROWN = (minutes < 10 ? 12 : 32) * 1024 * 1024;
/** So few of the visits that a timer which any other kind left behind would show. */
const TASK = 'a task';
/** How long what was left may take to go: sessions that were left stay until others need their place, all else goes. */
const SETTLE_MS = 120_000;

/** Mulberry32: the same visits for the same seed. */
function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const folder = mkdtempSync(join(tmpdir(), 'bridle-soak-'));
const server = fork(fileURLToPath(new URL('soak/server.mjs', import.meta.url)), [join(folder, 'socket')], {
  execArgv: ['--expose-gc'],
});
const [{ url, path }] = await once(server, 'message');
let crashed;
server.once('exit', (code, signal) => {
  crashed = `the server ended (${code ?? signal})`;
});
const at = { url, path, http: wire(url) };
const names = Object.keys(VISITS);
const counts = new Map();
const count = (name) => counts.set(name, (counts.get(name) ?? 0) + 1);

async function visit(name) {
  try {
    await VISITS[name](at);
  } catch (error) {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
  count(name);
}

async function holds() {
  server.send('holds');
  const [now] = await once(server, 'message');
  return now;
}

/** What is held once everybody has left. */
async function afterAll(isAsBefore = () => true) {
  at.http.close();
  at.http = wire(url);
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    const now = await holds();
    const hasPeers = Object.keys(now.resources).some((type) => type === 'TCPSocketWrap');
    if ((!hasPeers && isAsBefore(now)) || Date.now() > until || crashed) return now;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function told(text) {
  if (!values.json) console.log(text);
}

const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
const began = Date.now();
for (let round = 0; round < WARM_ROUNDS; round += 1) {
  for (const name of names) await visit(name);
  await malformed(at, round);
  await brokenOff(at, round);
}
const before = await afterAll();
told(`before: ${megabytes(before.heap)}, ${before.timers} timers, ${JSON.stringify(before.resources)}`);

const ends = Date.now() + minutes * 60_000;
const next = random(Number(values.seed));
const problems = [];
async function client() {
  while (Date.now() < ends && problems.length === 0 && !crashed) {
    const chance = next(100);
    const pause = new Promise((resolve) => setTimeout(resolve, PACE_MS));
    try {
      if (chance < 5) {
        await malformed(at, next(1_000));
        count('malformed');
      } else if (chance < 10) {
        await brokenOff(at, next(1_000));
        count('broken off');
      } else if (chance === 10) {
        await task(at);
        count(TASK);
      } else await visit(names[next(names.length)]);
    } catch (error) {
      problems.push(error.message);
    }
    await pause;
  }
}
const progress = setInterval(async () => {
  const visits = [...counts.values()].reduce((sum, each) => sum + each, 0);
  const now = await holds();
  told(`${Math.round((Date.now() - began) / 1000)} s: ${visits} visits, ${megabytes(now.heap)}`);
}, 30_000);
await Promise.all(Array.from({ length: CLIENTS }, client));
clearInterval(progress);

const mostTimers = () => before.timers + (counts.get(TASK) ?? 0);
const same = ({ timers, resources }) =>
  timers <= mostTimers() && JSON.stringify(resources) === JSON.stringify(before.resources);
const after = crashed ? before : await afterAll(same);
told(`after: ${megabytes(after.heap)}, ${after.timers} timers, ${JSON.stringify(after.resources)}`);
if (crashed) problems.push(crashed);
if (after.heap - before.heap > MAX_GROWN) problems.push(`memory grew by ${megabytes(after.heap - before.heap)}`);
if (after.timers > mostTimers()) {
  problems.push(
    `there are ${after.timers} timers, which is more than the ${before.timers} of before and one for each task`,
  );
}
if (JSON.stringify(after.resources) !== JSON.stringify(before.resources)) {
  problems.push(`open handles are ${JSON.stringify(after.resources)}, and were ${JSON.stringify(before.resources)}`);
}
at.http.close();
server.removeAllListeners('exit');
server.kill('SIGKILL');
rmSync(folder, { recursive: true, force: true });

const visits = [...counts.values()].reduce((sum, each) => sum + each, 0);
if (values.json)
  console.log(JSON.stringify({ minutes, visits, counts: Object.fromEntries(counts), before, after, problems }));
for (const problem of problems) console.error(`soak: ${problem}`);
told(`${visits} visits in ${minutes} minutes; memory ${megabytes(before.heap)} before, ${megabytes(after.heap)} after`);
told(problems.length === 0 ? '1 passed, 0 failed' : '0 passed, 1 failed');
process.exitCode = problems.length === 0 ? 0 : 1;
