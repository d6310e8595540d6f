/**
 * Processor time of `tools/list` with 10,000 tools, in both eras, beside plain `node:http` that writes the same bytes from
 * a buffer. One call at a time; the servers take turns within a round, and ratios are taken round by round.
 *
 * Usage: node bench/serve-list.mjs [--rounds 7] [--calls 50]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machine, median, table } from './measure.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, calls: { type: 'string', default: '50' } },
});
const file = fileURLToPath(new URL('serve/list.mjs', import.meta.url));
const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (params, headers, id = 1, method = 'tools/list') => ({
  method: 'POST',
  headers: { ...accept, ...headers },
  body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
});

const modern = post(
  {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
);

async function legacy(url) {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const answer = await fetch(url, post(params, {}, 0, 'initialize'));
  await answer.text();
  return post({}, { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': answer.headers.get('mcp-session-id') });
}

async function start(...words) {
  const child = fork(file, words);
  const [{ url }] = await once(child, 'message');
  const cpu = async () => {
    child.send('cpu');
    const [{ cpu: used }] = await once(child, 'message');
    return used.user + used.system;
  };
  return { url, cpu, stop: () => child.disconnect() };
}

async function microseconds({ cpu, url, request }) {
  const before = await cpu();
  for (let call = 0; call < Number(values.calls); call += 1) await (await fetch(url, request)).arrayBuffer();
  return ((await cpu()) - before) / Number(values.calls);
}

const bridle = await start();
const plain = await start(JSON.stringify({ url: bridle.url, request: modern }));
const answer = await fetch(bridle.url, modern);
const { byteLength } = await answer.arrayBuffer();
const runs = [
  { name: 'plain node:http, the same bytes', ...plain, request: modern, took: [] },
  { name: 'Bridle, 2026-07-28', ...bridle, request: modern, took: [] },
  { name: 'Bridle, 2025-11-25', ...bridle, request: await legacy(bridle.url), took: [] },
];
for (let round = 0; round <= Number(values.rounds); round += 1) {
  for (const run of runs) {
    const took = await microseconds(run);
    // The first round only warms up.
    if (round > 0) run.took.push(took);
  }
}
bridle.stop();
plain.stop();

const [{ took: limits }] = runs;
const rows = runs.map(({ name, took }) => [
  name,
  median(took).toFixed(0),
  median(took.map((one, round) => one / limits[round])).toFixed(2),
]);
console.log(`${machine()}, ${values.rounds} rounds of ${values.calls} calls, ${byteLength} bytes each, medians\n`);
console.log(table(['server', 'µs of processor time a call', '÷ plain'], rows));
process.exit();
