/**
 * What an open stream costs a server: so many GET streams of sessions (2025-11-25), then so many `subscriptions/listen`
 * (2026-07-28), each era with a server of its own. Each stream is told of a change before it is counted.
 *
 * Usage: node bench/streams.mjs [--streams N (10000)] [--json]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machine, table } from './measure.mjs';
import { LEGACY, legacyBody, MODERN, modernBody, modernHeaders } from './soak/wire.mjs';

const { values } = parseArgs({
  options: { streams: { type: 'string', default: '10000' }, json: { type: 'boolean', default: false } },
});
const streams = Number(values.streams);
/** Clients that connect at once. */
const BATCH = 100;

function post(url, headers, body) {
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  return fetch(url, { method: 'POST', headers: all, body });
}

/** One request over a socket of its own, read until `isOpen` finds in the answer what it waits for. */
function stream(url, { method, headers, body = '' }, sign) {
  const { hostname, port, pathname, host } = new URL(url);
  const lines = Object.entries({ host, accept: 'application/json, text/event-stream', ...headers });
  if (body !== '') lines.push(['content-type', 'application/json'], ['content-length', Buffer.byteLength(body)]);
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const socket = connect(Number(port), hostname, () =>
    socket.write(`${method} ${pathname} HTTP/1.1\r\n${head}\r\n${body}`),
  );
  let seen = '';
  const waiting = [];
  const said = (text) =>
    new Promise((resolve, reject) => {
      waiting.push({ text, resolve });
      socket.once('close', () => reject(new Error(`a stream ended: ${seen}`)));
      look();
    });
  function look() {
    for (const one of [...waiting]) {
      if (!seen.includes(one.text)) continue;
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve();
    }
  }
  socket.setEncoding('latin1').on('data', (text) => {
    seen = (seen + text).slice(-4_000);
    look();
  });
  socket.on('error', () => {});
  return said(sign).then(() => ({ socket, said }));
}

const ERAS = {
  [LEGACY]: async (url) => {
    const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
    const opened = await post(url, {}, legacyBody(0, 'initialize', params));
    await opened.text();
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': LEGACY };
    await (await post(url, headers, '{"jsonrpc":"2.0","method":"notifications/initialized"}')).text();
    return stream(url, { method: 'GET', headers }, 'retry: ');
  },
  [MODERN]: (url) => {
    const body = modernBody('s', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    return stream(url, { method: 'POST', headers: modernHeaders('subscriptions/listen'), body }, 'acknowledged');
  },
};

async function measure(open) {
  const server = fork(fileURLToPath(new URL('streams/server.mjs', import.meta.url)), [], { execArgv: ['--expose-gc'] });
  const ask = async (what) => {
    server.send(what);
    return (await once(server, 'message'))[0];
  };
  const [{ url }] = await once(server, 'message');
  // What is made once is there then.
  for (let nth = 0; nth < BATCH; nth += 1) (await open(url)).socket.destroy();
  const before = await ask('holds');
  const opened = [];
  while (opened.length < streams) {
    const count = Math.min(BATCH, streams - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: count }, () => open(url)))));
    if (!values.json && opened.length % 1_000 === 0) process.stderr.write(`${opened.length} streams\r`);
  }
  const told = Promise.all(opened.map(({ said }) => said('tools/list_changed')));
  await ask('change');
  await told;
  const after = await ask('holds');
  for (const { socket } of opened) socket.destroy();
  server.kill();
  await once(server, 'exit');
  const each = (name) => (after[name] - before[name]) / streams / 1024;
  return { heap: each('heap'), external: each('external'), rss: each('rss') };
}

const rows = [];
for (const [era, open] of Object.entries(ERAS)) rows.push([era, await measure(open)]);
if (values.json) console.log(JSON.stringify({ streams, ...Object.fromEntries(rows) }));
else {
  const kilobytes = (value) => `${value.toFixed(1)} KB`;
  const cells = rows.map(([era, each]) => [era, kilobytes(each.heap), kilobytes(each.external), kilobytes(each.rss)]);
  console.log(`${machine()}, ${streams.toLocaleString('en')} open streams\n`);
  console.log(table(['revision', 'heap a stream', 'buffers', 'resident'], cells));
}
