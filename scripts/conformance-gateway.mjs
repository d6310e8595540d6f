/**
 * `npm run conformance:gateway`: the server half of the conformance suite through `bridle gateway`, in front of the server
 * that `npm run conformance` looks at, spoken to in either era: all four cells. The suite knows tools and prompts by the
 * names that the server gives them, so a step in between takes the gateway's prefix off and puts it on. Arguments name the
 * scenarios to run. Exit status 1 when one failed that a revision requires.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { conform } from './conformance-requirements.mjs';
import { checkSuite, conclude, root } from './conformance-suite.mjs';

checkSuite();
const wanted = process.argv.slice(2);
const KEY = 'tested';
const PREFIX = `mcp__${KEY}__`;
/** Methods whose `name` is one of the gateway's. */
const NAMED = new Set(['tools/call', 'prompts/get']);

/** The first line that a program says. */
async function firstLine(child) {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('error', reject).once('exit', () => reject(new Error('It ended before it said its address.')));
  });
}

const program = join(root, 'test', 'conformance', 'server.mjs');
const server = spawn(process.execPath, [program], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
const tested = await firstLine(server);

async function gateway(era) {
  const home = mkdtempSync(join(tmpdir(), 'bridle-gateway-'));
  writeFileSync(join(home, '.mcp.json'), JSON.stringify({ mcpServers: { [KEY]: { type: 'http', url: tested, era } } }));
  const args = ['gateway', '--json', '--quiet', '--port', '0', '--trust-project', '--allow', `mcp__${KEY}`];
  const child = spawn(process.execPath, [join(root, 'bin', 'bridle.js'), ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, XDG_DATA_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url, key } = JSON.parse(await firstLine(child));
  child.stdout.resume();
  return {
    url,
    key,
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A request as the gateway wants it; what isn't JSON goes on as it is. */
function prefixed(text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  const { method, params } = body ?? {};
  const ref = params?.ref;
  if (!NAMED.has(method) && ref?.type !== 'ref/prompt') return text;
  const named = ref ? { ref: { ...ref, name: PREFIX + ref.name } } : { name: PREFIX + params?.name };
  return typeof (ref ?? params)?.name === 'string'
    ? JSON.stringify({ ...body, params: { ...params, ...named } })
    : text;
}

/** Stands between the suite and a gateway. */
async function unprefixed({ url, key }) {
  const proxy = createServer(async (asked, answer) => {
    let text = '';
    for await (const chunk of asked.setEncoding('utf8')) text += chunk;
    const body = prefixed(text);
    const { 'content-length': _, ...headers } = asked.headers;
    const name = headers['mcp-name'];
    if (typeof name === 'string' && NAMED.has(headers['mcp-method'])) headers['mcp-name'] = PREFIX + name;
    headers.authorization = `Bearer ${key}`;
    if (asked.method === 'POST') headers['content-length'] = String(Buffer.byteLength(body));
    const sent = send(url, { method: asked.method, headers }, (got) => {
      const { 'content-length': __, ...rest } = got.headers;
      answer.writeHead(got.statusCode ?? 500, rest);
      answer.flushHeaders();
      got.setEncoding('utf8').on('data', (part) => answer.write(part.replaceAll(PREFIX, '')));
      got.once('close', () => answer.end());
    });
    sent.on('error', () => answer.destroy());
    answer.once('close', () => sent.destroy());
    sent.end(body);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${proxy.address().port}/mcp`,
    close: () => proxy.closeAllConnections() ?? proxy.close(),
  };
}

const sum = { passed: 0, failed: 0 };
const told = [];
try {
  for (const era of ['legacy', 'modern']) {
    const behind = await gateway(era);
    const between = await unprefixed(behind);
    const { count, lines } = await conform(between.url, wanted, `${era} server: `);
    sum.passed += count.passed;
    sum.failed += count.failed;
    told.push(...lines);
    between.close();
    await behind.close();
  }
} finally {
  server.stdin.end();
}
for (const line of told) console.log(line);
conclude(sum);
process.exit();
