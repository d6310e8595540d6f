/**
 * Calls a second of servers over Streamable HTTP, beside what plain `node:http` does with the same bodies: Bridle in both
 * eras, the official SDK v2, fastmcp, and mcp-proxy in front of a lean stdio server. Each server is a process of its own on
 * one core, the load another on the other; servers take turns within a round, and ratios are taken round by round.
 *
 * Usage: node bench/serve.mjs [--rounds 5] [--ms 2000] [--connections 1,16,256] [--only NAME]
 */
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installPeers } from './install-peers.mjs';
import { machine, median, table } from './measure.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '2000' },
    connections: { type: 'string', default: '1,16,256' },
    only: { type: 'string', default: '' },
  },
});
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

installPeers('fastmcp');

/** Name, file, and the era in which it is called. */
const SERVERS = [
  ['plain node:http', 'serve/limit.mjs', 'plain'],
  ['Bridle, 2026-07-28', 'serve/bridle.mjs', 'modern'],
  ['Bridle, 2025-11-25', 'serve/bridle.mjs', 'legacy'],
  ['official SDK v2, 2026-07-28', 'peers/serve-sdk.mjs', 'modern'],
  ['official SDK v2, 2025-11-25', 'peers/serve-sdk.mjs', 'legacy'],
  ['fastmcp', 'peers/serve-fastmcp.mjs', 'legacy'],
  ['mcp-proxy to stdio', 'peers/serve-proxy.mjs', 'legacy'],
].filter(([name], at) => at === 0 || name.includes(values.only));

const canPin = process.platform === 'linux' && availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;
const onCore = (core, words) =>
  canPin ? ['taskset', ['-c', String(core), process.execPath, ...words]] : [process.execPath, words];

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(file) {
  const [command, words] = onCore(0, [here(file), String(await freePort())]);
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { url } = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  return { url, stop: () => child.disconnect() };
}

function load(url, era, connections) {
  const [command, words] = onCore(1, [here('serve-load.mjs'), url, era, String(connections), values.ms]);
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${url} ${era} ${connections}: ${stderr}`);
  return JSON.parse(stdout);
}

const CONNECTIONS = values.connections.split(',').map(Number);
const running = [];
for (const [name, file, era] of SERVERS) running.push({ name, era, ...(await start(file)) });
const results = new Map(CONNECTIONS.map((count) => [count, new Map(SERVERS.map(([name]) => [name, []]))]));
try {
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const count of CONNECTIONS) {
      for (const { name, era, url } of running) {
        const one = load(url, era, count);
        // The first round only warms up.
        if (round > 0) results.get(count).get(name).push(one);
      }
    }
  }
} finally {
  for (const { stop } of running) stop();
}

const [[limit]] = SERVERS;
console.log(`${machine()}, ${canPin ? 'cores pinned' : 'cores not pinned'}, ${values.rounds} rounds, medians\n`);
for (const count of CONNECTIONS) {
  const of = (name, what) => results.get(count).get(name).map(what);
  const limits = of(limit, ({ perSecond }) => perSecond);
  const rows = SERVERS.map(([name]) => {
    const speeds = of(name, ({ perSecond }) => perSecond);
    const ratios = speeds.map((speed, round) => speed / limits[round]);
    return [
      name,
      median(speeds).toFixed(0),
      median(ratios).toFixed(3),
      `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`,
      median(of(name, ({ p50 }) => p50)).toFixed(0),
      median(of(name, ({ p99 }) => p99)).toFixed(0),
    ];
  });
  console.log(`${count} connection${count === 1 ? '' : 's'}:\n`);
  console.log(`${table(['server', 'calls/s', '÷ limit', 'spread', 'median µs', 'p99 µs'], rows)}\n`);
}
process.exit();
