/**
 * Whatever a client sends, as HTTP or as lines, in either era: the server goes on, each request gets a result or a
 * standard error with its own id, and nothing is left when the clients are gone. `BRIDLE_FUZZ=100000` runs so many cases.
 */
import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Json } from 'bridle/contracts';
import { serve } from 'bridle/server';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { linePeer } from '../../src/mcp/server/line-peer.ts';
import { servedBy } from '../../src/mcp/server/served.ts';
import { asHeader, countingHost, idOfRequest, isAnswer, oddHeaders, written } from './wire-cases.ts';

const RUNS = Number(process.env.BRIDLE_FUZZ ?? 5_000);
const WAIT = 3_600_000;
/** Waits in turns of the event loop: a timer each time would take longer than what is waited for. */
async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setImmediate(resolve));
}

// Tools that fail as they are meant to are told of on stderr each time.
beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
afterEach(() => void vi.restoreAllMocks());

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const good = (id: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'server/discover',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 'open',
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
});

/** A client of HTTP that reads a response whole, or as far as `enough` says. */
function clientOf(url: string) {
  const agent = new Agent({ keepAlive: true });
  const exchange = (
    method: string,
    headers: OutgoingHttpHeaders,
    body: string,
    { enough, leaves = false }: { enough?: (text: string) => boolean; leaves?: boolean } = {},
  ) =>
    new Promise<Answer | undefined>((resolve, reject) => {
      const sent = { ...headers, 'content-length': Buffer.byteLength(body) };
      const asked = httpRequest(url, { method, agent, headers: sent }, (response) => {
        let text = '';
        const finish = () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
          if (!enough?.(text)) return;
          finish();
          response.destroy();
        });
        response.on('end', finish).on('error', finish);
      });
      asked.on('error', (error: NodeJS.ErrnoException) => {
        // A connection that the server had closed, and one that we did.
        if (leaves || error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(undefined);
        else reject(error);
      });
      asked.end(body, () => {
        if (leaves) asked.destroy();
      });
    });
  return { exchange, close: () => agent.destroy() };
}

function isSendable(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** The answers that a body holds. */
function answersIn({ headers, body }: Answer): Json[] {
  if (headers['content-type'] === 'application/json') return [JSON.parse(body)].flat();
  return body
    .split('\n\n')
    .flatMap((event) => event.match(/(?<=^data: ).+$/gm) ?? [])
    .map((data) => JSON.parse(data))
    .filter((message) => message.method === undefined);
}

const httpCase = fc.record({
  method: fc.oneof(
    { arbitrary: fc.constant('POST'), weight: 20 },
    { arbitrary: fc.constantFrom('GET', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'PATCH'), weight: 1 },
  ),
  body: written,
  /** The headers that the body asks for. */
  isHonest: fc.boolean(),
  session: fc.constantFrom('none', 'mine', 'ended', 'none'),
  odd: fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, { arbitrary: oddHeaders, weight: 1 }),
  accept: fc.constantFrom('application/json, text/event-stream', 'application/json', '*/*'),
  leaves: fc.oneof({ arbitrary: fc.constant(false), weight: 15 }, { arbitrary: fc.constant(true), weight: 1 }),
});
type HttpCase = typeof httpCase extends fc.Arbitrary<infer T> ? T : never;

const STATUSES = new Set([200, 202, 204, 400, 401, 403, 404, 405, 406, 413, 431, 503]);

test(
  'a server over HTTP answers whatever it is sent, and goes on',
  async () => {
    const { host, count } = countingHost();
    const LIMIT = 8;
    const handle = await serve(host, {
      http: { port: 0, token: false, limits: { streams: LIMIT, sessions: LIMIT, bodyBytes: 64 * 1024 } },
    });
    const url = handle.url ?? '';
    const client = clientOf(url);
    const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const open = async (revision: string): Promise<string> => {
      const answer = await client.exchange('POST', json, JSON.stringify(initialize(revision)));
      expect(answer?.status).toBe(200);
      return String(answer?.headers['mcp-session-id']);
    };
    const end = (session: string) => client.exchange('DELETE', { 'mcp-session-id': session }, '');
    const ended = await open('2025-11-25');
    await end(ended);
    let mine = await open('2025-11-25');
    let cases = 0;
    const seen = new Map<number, number>();

    const run = async ({ method, body, isHonest, session, odd, accept, leaves }: HttpCase) => {
      const { json: meant, text } = body;
      const about = typeof meant === 'object' && meant !== null && !Array.isArray(meant) ? meant : {};
      const { name, uri } = (about.params ?? {}) as { name?: unknown; uri?: unknown };
      const honest = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': asHeader(about.method),
        'mcp-name': asHeader(about.method === 'resources/read' ? uri : name),
      };
      const headers: OutgoingHttpHeaders = { 'content-type': 'application/json', accept };
      if (session !== 'none') headers['mcp-session-id'] = session === 'mine' ? mine : ended;
      for (const [key, value] of Object.entries({ ...(isHonest && session === 'none' && honest), ...odd })) {
        if (isSendable(value)) headers[key] = value;
      }
      const isStream = method === 'GET' || about.method === 'subscriptions/listen';
      const answer = await client.exchange(method, headers, text, {
        leaves,
        ...(isStream && { enough: (said: string) => said.includes('\n\n') }),
      });
      if (!answer) return;
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      expect(STATUSES.has(answer.status), String(answer.status)).toBe(true);
      if (method !== 'POST' || answer.status === 202 || answer.status === 204) return;
      const answers = answersIn(answer);
      for (const one of answers) expect(isAnswer(one), JSON.stringify(one)).toBe(true);
      const own = idOfRequest(meant);
      if (own === undefined) return;
      const isBegun = isStream && answer.headers['content-type'] === 'text/event-stream';
      // Who may not come in isn't read.
      const wanted = answer.status === 403 ? [null] : isBegun ? [] : [own];
      if (isBegun && answers.length === 0) expect(answer.body).toMatch(/notifications|retry/);
      expect(answers.map((one) => (one as { id: Json }).id).slice(isBegun ? 0 : -1)).toEqual(
        isBegun ? answers.map(() => own) : wanted,
      );
    };

    await fc.assert(
      fc.asyncProperty(httpCase, async (given) => {
        cases += 1;
        await run(given);
        if (cases % 20 !== 0) return;
        const asked = good(`good-${cases}`);
        const headers = { ...json, 'mcp-protocol-version': '2026-07-28', 'mcp-method': asked.method };
        const answer = await client.exchange('POST', headers, JSON.stringify(asked));
        expect([answer?.status, JSON.parse(answer?.body ?? 'null')?.id]).toEqual([200, asked.id]);
        if (cases % 100 === 0) mine = await open(cases % 200 === 0 ? '2025-03-26' : '2025-11-25');
      }),
      { numRuns: Math.ceil(RUNS * 0.5) },
    );
    // So many kinds of answers were drawn.
    if (RUNS >= 5_000) expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 202, 400, 403, 404, 405]));

    await until(() => count.running === 0);
    // There is room for as many sessions and streams as ever.
    const sessions: string[] = [];
    for (let at = 0; at < LIMIT; at += 1) sessions.push(await open('2025-11-25'));
    await vi.waitFor(
      async () => {
        const statuses = [];
        for (const session of sessions) {
          const answer = await client.exchange('GET', { accept: 'text/event-stream', 'mcp-session-id': session }, '', {
            enough: (said) => said.includes('\n\n'),
          });
          statuses.push(answer?.status);
        }
        expect(statuses).toEqual(sessions.map(() => 200));
      },
      { timeout: 600_000, interval: 50 },
    );
    client.close();
    await handle.close();
  },
  WAIT,
);

const line = fc.oneof(
  fc.constantFrom('GET', 'POST', 'FOO', '', 'POST /mcp HTTP/1.1', 'GET http://evil/mcp HTTP/1.1', 'PRI * HTTP/2.0'),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    'Host: 127.0.0.1',
    'Host: evil.example',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: chunked, identity',
    'Expect: 100-continue',
    'Upgrade: websocket',
    'Connection: close',
    `X: ${'x'.repeat(20_000)}`,
    'ffffffffffffffff',
    '0',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  ),
);
const rawCase = fc.tuple(
  fc.constantFrom('POST /mcp HTTP/1.1', 'GET /mcp HTTP/1.1', 'CONNECT evil:80 HTTP/1.1', 'POST mcp HTTP/1.1', ''),
  fc.array(line, { maxLength: 6 }),
  fc.constantFrom('\r\n', '\n', '\r\n\r\n'),
);

test(
  'a server over HTTP outlives what is no HTTP',
  async () => {
    const { host, count } = countingHost();
    const handle = await serve(host, { http: { port: 0, token: false } });
    const url = handle.url ?? '';
    const client = clientOf(url);
    const send = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1');
        let said = '';
        socket.setEncoding('latin1');
        socket.on('data', (chunk) => {
          said += chunk;
        });
        socket.on('error', () => {}).on('close', () => resolve(said));
        socket.end(text, 'latin1');
      });
    await fc.assert(
      fc.asyncProperty(rawCase, async ([first, lines, end]) => {
        const said = await send([first, ...lines, ''].join(end));
        expect(said).toMatch(/^$|^HTTP\/1\.1 \d{3} /);
        expect(said).not.toMatch(/^HTTP\/1\.1 5/m);
      }),
      { numRuns: Math.ceil(RUNS * 0.1) },
    );
    const asked = good('after');
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': asked.method };
    const answer = await client.exchange('POST', headers, JSON.stringify(asked));
    expect(JSON.parse(answer?.body ?? 'null')).toMatchObject({ id: 'after', result: {} });
    expect(count.running).toBe(0);
    client.close();
    await handle.close();
  },
  WAIT,
);

const linesCase = fc.record({
  lines: fc.array(written, { maxLength: 6 }),
  revision: fc.constantFrom(undefined, '2025-11-25', '2025-03-26', '2024-11-05'),
  end: fc.constantFrom('\n', '\r\n', '\n\n'),
  cuts: fc.array(fc.nat({ max: 400 }), { maxLength: 5 }),
});
type LinesCase = typeof linesCase extends fc.Arbitrary<infer T> ? T : never;

test(
  'a server of lines answers whatever it is sent, each request once, and nothing is left of it',
  async () => {
    const { host, count } = countingHost();
    const served = servedBy(host);
    const run = async ({ lines, revision, end, cuts }: LinesCase) => {
      const [input, output] = [new PassThrough(), new PassThrough()];
      const peer = linePeer(served, { input, output, who: { agent: 'fuzz', via: 'library' } }, () => peer.close());
      const said: Json[] = [];
      output.setEncoding('utf8');
      let rest = '';
      output.on('data', (chunk: string) => {
        const parts = `${rest}${chunk}`.split('\n');
        rest = parts.pop() ?? '';
        for (const part of parts) said.push(...[JSON.parse(part) as Json].flat());
      });
      const texts = [
        ...(revision === undefined ? [] : [JSON.stringify(initialize(revision))]),
        ...lines.map(({ text }) => text),
        JSON.stringify(good('last of all')),
      ];
      const bytes = Buffer.from(texts.map((text) => `${text}${end}`).join(''));
      let at = 0;
      for (const cut of cuts) {
        input.write(bytes.subarray(at, at + cut));
        at += cut;
        await new Promise((resolve) => setImmediate(resolve));
      }
      input.write(bytes.subarray(at));
      await until(() => said.some((one) => (one as { id?: Json }).id === 'last of all'));
      await until(() => count.running === 0);
      await new Promise((resolve) => setImmediate(resolve));

      const answers = said.filter((one) => (one as { method?: Json }).method === undefined);
      for (const one of answers) expect(isAnswer(one), JSON.stringify(one)).toBe(true);
      const all = lines.flatMap(({ json }) => (json === undefined ? [] : ([json].flat() as Json[])));
      const cancelled = new Set(
        all.map((json) => (json as { params?: { requestId?: Json } } | null)?.params?.requestId).filter(Boolean),
      );
      const due = new Map<Json, number>();
      for (const { json } of lines) {
        const own = idOfRequest(json);
        if (own !== undefined) due.set(own, (due.get(own) ?? 0) + 1);
      }
      for (const [own, times] of due) {
        const given = answers.filter((one) => (one as { id: Json }).id === own).length;
        const isStream = lines.some(
          ({ json }) => idOfRequest(json) === own && (json as { method: Json }).method === 'subscriptions/listen',
        );
        // What is no request may have an id, and a batch that is taken whole answers for its members.
        const most = all.filter((json) => (json as { id?: Json } | null)?.id === own).length;
        expect(given, `answers to ${JSON.stringify(own)}`).toBeLessThanOrEqual(most);
        if (!isStream && !cancelled.has(own))
          expect(given, `answers to ${JSON.stringify(own)}`).toBeGreaterThanOrEqual(times);
      }
      peer.close();
      await new Promise((resolve) => setImmediate(resolve));
      const before = said.length;
      host.add('echo', () => Promise.reject(new Error('replaced')));
      input.write(`${JSON.stringify(good('too late'))}\n`);
      await new Promise((resolve) => setImmediate(resolve));
      expect(said.length).toBe(before);
      expect([input.listenerCount('data'), output.listenerCount('drain'), count.running]).toEqual([0, 0, 0]);
    };
    await fc.assert(fc.asyncProperty(linesCase, run), { numRuns: Math.ceil(RUNS * 0.4) });
    served.changes.close();
  },
  WAIT,
);
