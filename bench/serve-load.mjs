/**
 * Calls `echo` over so many connections, each with its next request as soon as the answer to the last is there. A client
 * of raw sockets, so that the server is what is measured. Prints JSON: calls a second, and latencies in microseconds.
 *
 * Usage: node bench/serve-load.mjs URL plain|legacy|modern CONNECTIONS MILLISECONDS
 */
import { connect } from 'node:net';

const [url, era, connections, ms] = process.argv.slice(2);
const { hostname, port, pathname } = new URL(url);
const text = 'x'.repeat(200);
const accept = 'application/json, text/event-stream';
const modern = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};

async function legacySession() {
  const headers = { 'content-type': 'application/json', accept };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const answer = await fetch(url, { method: 'POST', headers, body });
  await answer.text();
  const session = answer.headers.get('mcp-session-id');
  const more = { 'mcp-protocol-version': '2025-11-25', ...(session !== null && { 'mcp-session-id': session }) };
  const note = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await (await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: note })).text();
  return more;
}

const ERAS = {
  plain: () => ({}),
  legacy: legacySession,
  modern: () => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }),
};
const headers = await ERAS[era]();
const params = { name: 'echo', arguments: { text }, ...(era === 'modern' && { _meta: modern }) };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
const head = Object.entries({
  host: `${hostname}:${port}`,
  'content-type': 'application/json',
  accept,
  'content-length': Buffer.byteLength(body),
  ...headers,
}).map(([name, value]) => `${name}: ${value}`);
const request = Buffer.from(`POST ${pathname} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`);

const latencies = [];
let isCounting = false;

/** Whether a whole response is there; @returns its text's end, or -1 */
function isWhole(seen) {
  const split = seen.indexOf('\r\n\r\n');
  if (split === -1) return false;
  const length = /content-length: (\d+)/i.exec(seen.slice(0, split))?.[1];
  return length === undefined ? seen.endsWith('0\r\n\r\n') : seen.length >= split + 4 + Number(length);
}

/** Calls until the process ends. */
function client() {
  return new Promise((_, reject) => {
    const socket = connect(Number(port), hostname);
    let seen = '';
    let began = 0n;
    const next = () => {
      seen = '';
      began = process.hrtime.bigint();
      socket.write(request);
    };
    socket.setNoDelay(true);
    socket.once('connect', next);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`the connection was closed after ${seen.slice(0, 300)}`)));
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1');
      if (!isWhole(seen)) return;
      if (!seen.startsWith('HTTP/1.1 200') || !seen.includes(text)) {
        reject(new Error(`an answer that is none: ${seen.slice(0, 600)}`));
        return;
      }
      if (isCounting) latencies.push(Number(process.hrtime.bigint() - began) / 1000);
      next();
    });
  });
}

const failed = Promise.all(Array.from({ length: Number(connections) }, client));
failed.catch(() => {});
const wait = (time) => Promise.race([failed, new Promise((resolve) => setTimeout(resolve, time))]);
await wait(Math.min(1_000, Number(ms) / 2));
isCounting = true;
const began = performance.now();
await wait(Number(ms));
const seconds = (performance.now() - began) / 1000;
isCounting = false;
// A server that stopped answering has nobody wait for it: what it answered in the time is what counts.
latencies.sort((a, b) => a - b);
const at = (part) => latencies[Math.floor(latencies.length * part)] ?? 0;
console.log(JSON.stringify({ perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) }));
process.exit();
