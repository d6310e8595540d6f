import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../src/contracts/index.ts';
import { closeAll, connectHttp, type HttpServer, mcpSource } from '../src/mcp/client/index.ts';
import { compiled } from './helpers/compiled.ts';
import {
  type Asked,
  entry,
  faulty,
  json,
  legacyStart,
  listening,
  modernStart,
  stream,
  tell,
} from './helpers/http-servers.ts';
import { context, eventually, textOf } from './helpers/mcp.ts';

const running: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await closeAll();
  for (const one of running.splice(0)) await one.close();
});

type Answer = (asked: Asked, response: ServerResponse) => void;

async function up(answer: Answer, port?: number) {
  const server = await faulty(answer, port);
  running.push(server);
  return server;
}

function connect(url: string, more: Partial<HttpServer> = {}) {
  const connection = connectHttp(entry(url, more));
  return { connection, source: mcpSource(connection) };
}

/** Why connecting fails. */
async function refusal(url: string, more: Partial<HttpServer> = {}) {
  const { connection } = connect(url, more);
  const error = await connection.connect().then(
    () => ({ code: 'connected', message: '', hint: '', executed: '' }),
    (thrown) => thrown,
  );
  return { connection, error };
}

const content = (text: string): JsonObject => ({ content: [{ type: 'text', text }] });
/** A call as its tool sees it: what the test counts. */
const isCall = ({ body }: Asked) => body.method === 'tools/call';
const page: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end('<!doctype html>\n<title>Welcome\u001b[31m</title>');
};

describe('an address that is not the one of an MCP server', () => {
  test('a port where nothing listens is told as that, and the call is known not to have run', async () => {
    const gone = await listening(() => {});
    await gone.close();
    const { error, connection } = await refusal(gone.url);
    expect(error).toMatchObject({ code: 'mcp_unreachable', executed: 'not_executed' });
    expect(error.message).toContain(`127.0.0.1:${gone.port}`);
    expect(connection.status()).toMatchObject({ state: 'failed', reasons: [{ code: 'mcp_unreachable' }] });
  });

  test('a host that does not exist is told as that', async () => {
    const { error } = await refusal('https://no-such-host.invalid/mcp');
    expect(error).toMatchObject({ code: 'mcp_unreachable', executed: 'not_executed' });
  });

  test('a port that speaks no TLS is told as that', async () => {
    const server = await up(page);
    const { error } = await refusal(server.url.replace('http:', 'https:'));
    expect(error).toMatchObject({ code: 'mcp_tls', executed: 'not_executed', hint: expect.stringContaining('https') });
  });

  test('something that is no HTTP is told as that', async () => {
    const { createServer } = await import('node:net');
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end('SSH-2.0-OpenSSH_9.6\r\n'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { error } = await refusal(`http://127.0.0.1:${port}/mcp`);
    expect(error.code).toBe('mcp_no_mcp_answer');
    await new Promise((resolve) => server.close(resolve));
  });

  test('a web page is quoted, with status and type, and without its escape sequences', async () => {
    const { error } = await refusal((await up(page)).url);
    expect(error.code).toBe('mcp_no_mcp_answer');
    expect(error.message).toContain('HTTP 200, text/html: <!doctype html> <title>Welcome</title>');
  });

  test('a page that is not found is quoted, after every older way was tried', async () => {
    const server = await up((_, response) =>
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Nope</h1>'),
    );
    const { error } = await refusal(server.url);
    expect(error).toMatchObject({ code: 'mcp_http_status', status: 404, executed: 'not_executed' });
    expect(error.message).toContain('HTTP 404, text/html: <h1>Nope</h1>');
    expect(server.methods()).toEqual(['server/discover', 'initialize', 'GET']);
  });

  test('a REST answer is quoted', async () => {
    const server = await up((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok","version":3}');
    });
    const { error } = await refusal(server.url);
    expect(error.code).toBe('mcp_no_mcp_answer');
    expect(error.message).toContain('HTTP 200, application/json: {"status":"ok","version":3}');
  });

  test.each(['ftp://x/mcp', 'no url', 'file:///etc/passwd'])('%s is refused before anything is sent', async (url) => {
    expect((await refusal(url)).error).toMatchObject({ code: 'mcp_bad_url', executed: 'not_executed' });
  });
});

describe('redirects', () => {
  test('within the origin are followed where the method stays', async () => {
    const server = await up((asked, response) => {
      if (asked.path === '/mcp') response.writeHead(307, { location: '/mcp/' }).end();
      else if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('here') });
    });
    const { source } = connect(server.url);
    expect(textOf(await source.call('t', {}, context()))).toBe('here');
  });

  test('to another origin are refused, and no header goes there', async () => {
    const other = await up(page);
    const server = await up((_, response) => response.writeHead(307, { location: `${other.url}?k=v` }).end());
    const { error } = await refusal(server.url, { headers: { Authorization: 'Bearer secret-token-1' } });
    expect(error).toMatchObject({ code: 'mcp_redirect', executed: 'not_executed' });
    expect(error.message).toContain(other.url);
    expect(other.asked).toEqual([]);
  });

  test('that turn a message into a question for a page, and those without end, are refused', async () => {
    const moved = await up((_, response) => response.writeHead(302, { location: '/login' }).end());
    expect((await refusal(moved.url)).error).toMatchObject({ code: 'mcp_redirect' });
    const circle = await up((_, response) => response.writeHead(308, { location: '/mcp' }).end());
    expect((await refusal(circle.url)).error).toMatchObject({ code: 'mcp_redirect' });
    expect(circle.asked).toHaveLength(6);
  });
});

describe('sign-in', () => {
  test.each([401, 403])('a %d is told as that, with what to do, and proves no era', async (status) => {
    const server = await up((_, response) =>
      response.writeHead(status, { 'www-authenticate': 'Bearer realm="shop"', 'content-type': 'text/plain' }).end('no'),
    );
    const { error, connection } = await refusal(server.url);
    expect(error).toMatchObject({
      code: status === 401 ? 'mcp_unauthorized' : 'mcp_forbidden',
      executed: 'not_executed',
      hint: expect.stringContaining('headers'),
    });
    if (status === 401) expect(error.message).toContain('realm="shop"');
    expect(connection.status().state).toBe('needs_sign_in');
    expect(server.methods()).toEqual(['server/discover']);
  });

  test('that ends while the server is in use fails the call as one without permission, until it is mended', async () => {
    let signedIn = true;
    const server = await up((asked, response) => {
      if (!signedIn) response.writeHead(401).end();
      else if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('in') });
    });
    const { connection, source } = connect(server.url);
    await source.call('t', {}, context());
    signedIn = false;
    expect(await source.call('t', {}, context())).toMatchObject({
      failure: { category: 'permission', executed: 'not_executed', retryable: false },
    });
    expect(connection.status()).toMatchObject({ state: 'needs_sign_in', reasons: [{ code: 'mcp_unauthorized' }, {}] });
    signedIn = true;
    expect(textOf(await source.call('t', {}, context()))).toBe('in');
    expect(connection.status().state).toBe('ready');
  });

  test('the headers of the entry go with every request and into no message, also when the server repeats them', async () => {
    const server = await up(({ headers }, response) =>
      response
        .writeHead(418, { 'content-type': 'text/plain' })
        .end(`you sent ${headers.authorization} ${headers['x-key']}`),
    );
    const headers = { Authorization: 'Bearer very-secret-token', 'X-Key': 'another secret value' };
    const { error, connection } = await refusal(server.url, { headers });
    expect(server.asked[0]?.headers.authorization).toBe('Bearer very-secret-token');
    const said = JSON.stringify([error.message, error.hint, connection.status(), connection.server]);
    expect(said).toContain('you sent');
    expect(said).not.toContain('very-secret-token');
    expect(said).not.toContain('another secret value');
  });

  test('a token in the URL is shown nowhere', async () => {
    const gone = await listening(() => {});
    await gone.close();
    const url = gone.url
      .replace('//', '//user:pass-word-1@')
      .replace('/mcp', '/s/AbCdEf0123456789AbCdEf/mcp?api_key=k12345678');
    const { error, connection } = await refusal(url);
    const said = JSON.stringify([error.message, connection.status()]);
    for (const secret of ['pass-word-1', 'AbCdEf0123456789', 'k12345678']) expect(said).not.toContain(secret);
  });

  test('headers that HTTP cannot carry, or that are the transport’s own, are refused by name and without their value', async () => {
    for (const headers of [
      { 'X-Key': 'broken\nsecret-value' },
      { 'Mcp-Session-Id': 'secret-value' },
      { 'bad name': 'secret-value' },
    ]) {
      const { error } = await refusal('http://127.0.0.1:1/mcp', {
        headers: headers as unknown as Record<string, string>,
      });
      expect(error.code).toBe('mcp_bad_header');
      expect(error.message).toContain(Object.keys(headers)[0]);
      expect(`${error.message}${error.hint}${error.cause}`).not.toContain('secret-value');
    }
  });
});

describe('what a server’s first answers prove', () => {
  const rows: readonly [what: string, answer: Answer, asked: readonly string[], code: string][] = [
    [
      '400 without a body',
      (_, response) => void response.writeHead(400).end(),
      ['server/discover', 'initialize', 'GET'],
      'mcp_http_status',
    ],
    [
      '405',
      (_, response) => void response.writeHead(405).end(),
      ['server/discover', 'initialize', 'GET'],
      'mcp_http_status',
    ],
    [
      'a method that is unknown',
      ({ body }, response) => json(response, 200, { id: body.id, error: { code: -32601, message: 'no' } }),
      ['server/discover', 'initialize'],
      'mcp_initialize_refused',
    ],
    [
      'other modern revisions alone',
      ({ body }, response) =>
        json(response, 400, {
          id: body.id,
          error: { code: -32022, message: 'no', data: { supported: ['2027-01-01'] } },
        }),
      ['server/discover'],
      'mcp_unsupported_revision',
    ],
  ];
  test.each(rows)('%s', async (_, answer, asked, code) => {
    const server = await up(answer);
    const { error } = await refusal(server.url);
    expect(error.code).toBe(code);
    expect(server.methods()).toEqual(asked);
  });

  test('408, 429 and 5xx prove nothing, are waited out for a moment, and nothing is kept', async () => {
    const check = async (status: number) => {
      let healthy = false;
      const server = await up((asked, response) => {
        if (!healthy) response.writeHead(status).end('busy');
        else if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('up') });
      });
      const { error, connection } = await refusal(server.url);
      expect(error).toMatchObject({ code: 'mcp_http_status', status, executed: 'not_executed', passing: true });
      expect(server.methods()).toEqual(['server/discover', 'server/discover', 'server/discover']);
      healthy = true;
      expect(textOf(await mcpSource(connection).call('t', {}, context()))).toBe('up');
      expect(connection.era?.revision).toBe('2026-07-28');
    };
    await Promise.all([408, 429, 500, 502, 503].map(check));
  });

  test('a time-out proves nothing', async () => {
    let slow = true;
    const server = await up((asked, response) => {
      if (!slow && !modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('up') });
    });
    const { error, connection } = await refusal(server.url, { startMs: 300 });
    expect(error.code).toBe('mcp_start_timeout');
    expect(server.methods()).toEqual(['server/discover']);
    slow = false;
    expect(textOf(await mcpSource(connection).call('t', {}, context()))).toBe('up');
  });

  test('a stream without an endpoint is no old server: what is told is why the handshake was refused', async () => {
    const server = await up(({ verb, body }, response) => {
      if (verb === 'GET') stream(response);
      else
        json(response, 400, { id: body.id ?? null, error: { code: -32600, message: 'The header X-Team is missing' } });
    });
    const { error } = await refusal(server.url);
    expect(error).toMatchObject({ code: 'mcp_initialize_refused', message: expect.stringContaining('X-Team') });
  });

  test('a modern error on 400 proves a modern server', async () => {
    const server = await up(({ body }, response) => {
      if (body.method === 'server/discover')
        json(response, 400, {
          id: body.id,
          error: { code: -32021, message: 'no', data: { requiredCapabilities: { sampling: {} } } },
        });
      else json(response, 200, { id: body.id, result: content('modern') });
    });
    const { connection, source } = connect(server.url);
    expect(textOf(await source.call('t', {}, context()))).toBe('modern');
    expect(connection.era?.revision).toBe('2026-07-28');
  });
});

describe('headers of requests', () => {
  test('of the modern era name revision, method and tool, and no session', async () => {
    const server = await up((asked, response) => {
      if (!modernStart(asked, response))
        json(response, 200, { id: asked.body.id, result: content('x') }, { 'mcp-session-id': 'not-for-us' });
    });
    const { source } = connect(server.url);
    await source.call('größe', {}, context());
    await source.call('plain', {}, context());
    const [discover, first, second] = server.asked;
    expect(discover?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    });
    expect(first?.headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': '=?base64?Z3LDtsOfZQ==?=' });
    expect(second?.headers['mcp-name']).toBe('plain');
    expect(second?.headers['mcp-session-id']).toBeUndefined();
    expect(second?.body).toMatchObject({
      params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    });
  });

  test('of the legacy era name session and agreed revision after the handshake, and the session is ended', async () => {
    const server = await up((asked, response) => {
      if (!legacyStart(asked, response, 'session-1')) json(response, 200, { id: asked.body.id, result: content('x') });
    });
    const { connection, source } = connect(server.url, { era: 'legacy' });
    await source.call('t', {}, context());
    await connection.close();
    const byMethod = new Map(server.asked.map(({ verb, body, headers }) => [body.method ?? verb, headers]));
    expect([...byMethod.keys()].sort()).toEqual([
      'DELETE',
      'GET',
      'initialize',
      'notifications/initialized',
      'tools/call',
    ]);
    expect(byMethod.get('initialize')?.['mcp-session-id']).toBeUndefined();
    for (const [method, headers] of byMethod) {
      if (method === 'initialize') continue;
      expect(headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-11-25' });
      expect(headers['mcp-method']).toBeUndefined();
    }
  });

  test('a tool whose annotations break the rules is set aside alone', async () => {
    const tool = (name: string, property: Json) => ({
      name,
      inputSchema: { type: 'object', properties: { p: property } },
    });
    const server = await up((asked, response) => {
      const tools = [
        tool('good', { type: 'string', 'x-mcp-header': 'P' }),
        tool('bad', { type: 'array', items: { type: 'string', 'x-mcp-header': 'P' } }),
      ];
      if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: { tools } });
    });
    const { tools, setAside } = await connect(server.url).source.list(new AbortController().signal);
    expect(tools.map(({ ref }) => ref.tool)).toEqual(['good']);
    expect(setAside).toMatchObject([{ tool: 'bad', reasons: [{ code: 'mcp_bad_header_annotation' }] }]);
  });
});

describe('a call whose connection breaks', () => {
  test.each(['modern', 'legacy'] as const)(
    'before the answer (%s) may have run, is not repeated, and the next one works',
    async (era) => {
      let calls = 0;
      const server = await up((asked, response) => {
        if (era === 'modern' ? modernStart(asked, response) : legacyStart(asked, response)) return;
        calls += 1;
        if (calls === 1) asked.request.socket.destroy();
        else json(response, 200, { id: asked.body.id, result: content('again') });
      });
      const { source } = connect(server.url);
      expect(await source.call('t', {}, context())).toMatchObject({
        kind: 'failure',
        failure: { executed: 'unknown', retryable: true, message: expect.stringContaining('broke') },
      });
      expect(calls).toBe(1);
      expect(textOf(await source.call('t', {}, context()))).toBe('again');
    },
  );

  test('is told from one that never went out, also when it waited for a connection of another call', async () => {
    let calls = 0;
    const held: (() => void)[] = [];
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      calls += 1;
      const answer = () => json(response, 200, { id: asked.body.id, result: content('ok') });
      if (calls > 100) asked.request.socket.destroy();
      else held.push(answer);
      // No connection is free for the last call before all others have theirs.
      if (held.length === 100) for (const each of held.splice(0)) each();
    });
    const { source } = connect(server.url);
    const results = await Promise.all(Array.from({ length: 101 }, () => source.call('t', {}, context())));
    expect(results.filter(({ kind }) => kind === 'result')).toHaveLength(100);
    expect(results.at(-1)).toMatchObject({ kind: 'failure', failure: { executed: 'unknown' } });
    expect(server.connections()).toBeLessThanOrEqual(101);
  });

  test('in the middle of a stream without ids, or of the modern era, may have run', async () => {
    for (const start of [legacyStart, modernStart]) {
      const server = await up((asked, response) => {
        if (start(asked, response)) return;
        stream(response);
        tell(
          response,
          { method: 'notifications/progress', params: { progressToken: asked.body.id ?? 0, progress: 1 } },
          start === modernStart ? 'e1' : undefined,
        );
        setTimeout(() => response.destroy(), 50);
      });
      const result = await connect(server.url).source.call('t', {}, context());
      expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'unknown' } });
      expect(server.asked.filter(isCall)).toHaveLength(1);
    }
  });

  test('in the middle of a stream with ids is gone on with from the last one, however often it breaks', async () => {
    const server = await up((asked, response) => {
      const id = 3;
      const last = asked.headers['last-event-id'];
      if (asked.verb === 'GET' && last !== undefined) {
        stream(response);
        if (last === 'e1') {
          tell(response, { method: 'notifications/message', params: { level: 'info', data: 'half' } }, 'e2');
          setTimeout(() => response.end(), 20);
        } else tell(response, { id, result: content('whole') }, 'e3');
        return;
      }
      if (legacyStart(asked, response, 's')) return;
      stream(response);
      response.write('id: e1\nretry: 60\ndata:\n\n');
      setTimeout(() => response.destroy(), 20);
    });
    const { source } = connect(server.url);
    const logs: Json[] = [];
    const onEvent = (event: { kind: string; raw: { parse(): Json } }) =>
      event.kind === 'log' && logs.push(event.raw.parse());
    expect(textOf(await source.call('t', {}, context({ onEvent })))).toBe('whole');
    expect(logs).toHaveLength(1);
    expect(server.asked.filter(isCall)).toHaveLength(1);
    const resumed = server.asked.filter(({ headers }) => headers['last-event-id'] !== undefined);
    expect(resumed.map(({ headers }) => headers['last-event-id'])).toEqual(['e1', 'e2']);
    expect(resumed[0]?.headers['mcp-session-id']).toBe('s');
  });

  test('and cannot be gone on with may have run', async () => {
    const server = await up((asked, response) => {
      if (legacyStart(asked, response)) return;
      stream(response);
      response.write('id: e1\nretry: 50\ndata:\n\n');
      setTimeout(() => response.destroy(), 20);
    });
    const result = await connect(server.url).source.call('t', {}, context());
    expect(result).toMatchObject({ failure: { executed: 'unknown', message: expect.stringContaining('resumed') } });
  });
});

describe('a session that the server forgot', () => {
  test.each([
    ['404', 404, { id: null, error: { code: -32001, message: 'Session not found' } }],
    ['404 without words', 404, null],
    [
      '400 and a word of the session',
      400,
      { id: null, error: { code: -32000, message: 'Bad Request: No valid session ID provided' } },
    ],
  ] as const)('(%s) is opened anew, and the call runs once', async (_, status, body) => {
    let current = 0;
    const ran: string[] = [];
    const server = await up((asked, response) => {
      if (asked.body.method === 'initialize') current += 1;
      if (legacyStart(asked, response, `s${current}`)) return;
      if (asked.headers['mcp-session-id'] !== `s${current}`) {
        if (body === null) response.writeHead(status).end();
        else json(response, status, body);
        return;
      }
      ran.push(String(asked.headers['mcp-session-id']));
      json(response, 200, { id: asked.body.id, result: content('ran') });
    });
    const { connection, source } = connect(server.url);
    await source.call('t', {}, context());
    current += 1;
    expect(textOf(await source.call('t', {}, context()))).toBe('ran');
    expect(ran).toEqual(['s1', 's3']);
    expect(connection.counters.starts).toBe(2);
  });

  test('again and again fails the call, without a loop', async () => {
    const server = await up((asked, response) => {
      if (legacyStart(asked, response, 's')) return;
      response.writeHead(404).end();
    });
    const { connection, source } = connect(server.url);
    const result = await source.call('t', {}, context());
    expect(result).toMatchObject({
      failure: { executed: 'not_executed', message: expect.stringContaining('session') },
    });
    expect(connection.counters.starts).toBe(2);
    expect(server.asked.filter(isCall)).toHaveLength(2);
  });

  test('is noticed on its own stream as well', async () => {
    let current = 0;
    let open: ServerResponse | undefined;
    const server = await up((asked, response) => {
      if (asked.verb === 'GET') {
        if (asked.headers['mcp-session-id'] !== `s${current}`) return void response.writeHead(404).end();
        open = response;
        stream(response);
        response.write('retry: 50\n\n');
        return;
      }
      if (asked.body.method === 'initialize') current += 1;
      if (!legacyStart(asked, response, `s${current}`))
        json(response, 200, { id: asked.body.id, result: content('x') });
    });
    const { connection } = connect(server.url);
    await connection.connect();
    expect(await eventually(() => open !== undefined)).toBe(true);
    current += 1;
    open?.end();
    expect(await eventually(() => connection.counters.starts === 2 && connection.status().state === 'ready')).toBe(
      true,
    );
  });

  test('a server that answers 404 to GET has no such stream, and keeps its session', async () => {
    const server = await up((asked, response) => {
      if (asked.verb === 'GET') response.writeHead(404).end();
      else if (!legacyStart(asked, response, 's')) json(response, 200, { id: asked.body.id, result: content('x') });
    });
    const { connection, source } = connect(server.url);
    await source.call('t', {}, context());
    await source.call('t', {}, context());
    expect(connection.counters.starts).toBe(1);
    expect(server.asked.filter(({ verb }) => verb === 'GET')).toHaveLength(1);
  });
});

describe('a server that changes its era while it is in use', () => {
  test('from legacy to modern and back is found out, and no call runs twice', async () => {
    let modern = false;
    const ran: string[] = [];
    const server = await up((asked, response) => {
      const { id, method } = asked.body;
      if (modern) {
        if (modernStart(asked, response)) return;
        if (asked.headers['mcp-method'] !== method) {
          return json(response, 400, {
            id,
            error: { code: -32020, message: 'Header mismatch: Mcp-Method is missing' },
          });
        }
      } else {
        if (legacyStart(asked, response, 's1')) return;
        if (asked.headers['mcp-session-id'] !== 's1') {
          return json(response, 400, {
            id: null,
            error: { code: -32000, message: 'Bad Request: Mcp-Session-Id header is required' },
          });
        }
      }
      ran.push(modern ? 'modern' : 'legacy');
      json(response, 200, { id, result: content('ran') });
    });
    const { connection, source } = connect(server.url);
    for (const era of [false, true, false]) {
      modern = era;
      expect(textOf(await source.call('t', {}, context()))).toBe('ran');
      expect(connection.era?.revision).toBe(era ? '2026-07-28' : '2025-11-25');
    }
    expect(ran).toEqual(['legacy', 'modern', 'legacy']);
  });
});

describe('limits', () => {
  test('a call that is slow ends at its idle limit, progress keeps it alive, and the server is told', async () => {
    const server = await up((asked, response) => {
      if (legacyStart(asked, response, 's')) return;
      stream(response);
      if ((asked.body.params as JsonObject | undefined)?.name !== 'lively') return;
      let steps = 0;
      const timer = setInterval(() => {
        steps += 1;
        if (steps < 10)
          tell(response, {
            method: 'notifications/progress',
            params: { progressToken: asked.body.id ?? 0, progress: steps },
          });
        else {
          clearInterval(timer);
          tell(response, { id: asked.body.id, result: content('done') });
        }
      }, 200);
    });
    const { source } = connect(server.url);
    const onEvent = () => {};
    expect(textOf(await source.call('lively', {}, context({ idleMs: 1200, onEvent })))).toBe('done');
    const silent = await source.call('silent', {}, context({ idleMs: 200 }));
    expect(silent).toMatchObject({
      kind: 'failure',
      failure: { executed: 'unknown', message: expect.stringContaining('sent nothing') },
    });
    expect(await eventually(() => server.methods().includes('notifications/cancelled'))).toBe(true);
  });

  test('a modern call that is given up is told by the end of its connection alone', async () => {
    let closed = false;
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      response.on('close', () => {
        closed = true;
      });
      stream(response);
    });
    const { source } = connect(server.url);
    const stop = new AbortController();
    const call = source.call('t', {}, context({ signal: stop.signal }));
    expect(await eventually(() => server.asked.some(isCall))).toBe(true);
    stop.abort();
    expect(await call).toMatchObject({ failure: { executed: 'unknown' } });
    expect(await eventually(() => closed)).toBe(true);
    expect(server.methods()).toEqual(['server/discover', 'tools/call']);
  });

  test.each(['JSON', 'a stream'])('an answer over the size limit, as %s, fails its call alone', async (how) => {
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      const big = (asked.body.params as JsonObject | undefined)?.name === 'big';
      const result = content('x'.repeat(big ? 300_000 : 10));
      if (how === 'JSON') return json(response, 200, { id: asked.body.id, result });
      stream(response);
      tell(response, { id: asked.body.id, result });
    });
    const { connection, source } = connect(server.url, { maxFrameBytes: 100_000 });
    const [big, small] = await Promise.all([source.call('big', {}, context()), source.call('small', {}, context())]);
    expect(big).toMatchObject({ failure: { executed: 'unknown', message: expect.stringContaining('100000 bytes') } });
    expect(textOf(small)).toBe('xxxxxxxxxx');
    expect(connection.status().state).toBe('ready');
  });

  test('a 5xx in the middle of use fails its call, which may have run, and no other', async () => {
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      if ((asked.body.params as JsonObject | undefined)?.name === 'bad')
        response.writeHead(502).end('<html>Bad gateway</html>');
      else json(response, 200, { id: asked.body.id, result: content('fine') });
    });
    const { source } = connect(server.url);
    const [bad, good] = await Promise.all([source.call('bad', {}, context()), source.call('good', {}, context())]);
    expect(bad).toMatchObject({
      failure: { executed: 'unknown', retryable: true, message: expect.stringContaining('HTTP 502') },
    });
    expect(textOf(good)).toBe('fine');
    expect(server.asked.filter(isCall)).toHaveLength(2);
  });
});

describe('streams', () => {
  test('what is no message in one is skipped and counted, comments are not', async () => {
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      stream(response);
      response.write(': keep-alive\n\nhello\ndata: {broken\n\nevent: ping\ndata: 1\n\n');
      tell(response, { id: asked.body.id, result: content('through') });
      response.end();
    });
    const { connection, source } = connect(server.url);
    expect(textOf(await source.call('t', {}, context()))).toBe('through');
    expect(connection.counters.noise).toBe(3);
    expect(connection.status().reasons.map(({ code }) => code)).toContain('mcp_stream_noise');
  });

  test('a subscription that breaks is opened again, and the lists are read anew', async () => {
    let opened = 0;
    const server = await up((asked, response) => {
      if (modernStart(asked, response, { tools: { listChanged: true } })) return;
      opened += 1;
      stream(response);
      tell(response, { method: 'notifications/subscriptions/acknowledged', params: {} });
      if (opened === 1) setTimeout(() => response.destroy(), 50);
    });
    const { connection, source } = connect(server.url);
    let changes = 0;
    source.onChange(() => {
      changes += 1;
    });
    await connection.connect();
    expect(await eventually(() => opened === 2 && changes > 0)).toBe(true);
    expect(connection.status().state).toBe('ready');
  });

  test('the old transport comes back after its stream broke, and the call that was in flight may have run', async () => {
    let streams = 0;
    let open: ServerResponse | undefined;
    const server = await up((asked, response) => {
      const { id, method } = asked.body;
      if (asked.verb === 'GET') {
        streams += 1;
        open = response;
        stream(response);
        response.write(`event: endpoint\ndata: /messages?session=${streams}\n\n`);
        return;
      }
      if (asked.path === '/mcp') return void response.writeHead(405).end();
      response.writeHead(202).end('Accepted');
      if (method === 'initialize') {
        const result = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: { name: 'old', version: '1' } };
        if (open) tell(open, { id, result });
      } else if (method === 'tools/call') {
        if (streams === 1) open?.destroy();
        else if (open) tell(open, { id, result: content('back') });
      }
    });
    const { connection, source } = connect(server.url, { transport: 'sse' });
    expect(await source.call('t', {}, context())).toMatchObject({ failure: { executed: 'unknown' } });
    expect(textOf(await source.call('t', {}, context()))).toBe('back');
    expect(connection.era?.revision).toBe('2024-11-05');
    expect(server.methods().filter((method) => method === 'server/discover')).toEqual([]);
  });

  test('an old server that wants messages at another origin is refused', async () => {
    const other = await up(page);
    const server = await up((asked, response) => {
      if (asked.verb !== 'GET') return void response.writeHead(405).end();
      stream(response);
      response.write(`event: endpoint\ndata: ${other.url}\n\n`);
    });
    const { error } = await refusal(server.url, { headers: { Authorization: 'Bearer secret-token-1' } });
    expect(error).toMatchObject({ code: 'mcp_no_endpoint', executed: 'not_executed' });
    expect(other.asked).toEqual([]);
  });
});

test('a server that is down for good is left alone for a while, and tried again when somebody asks', async () => {
  const gone = await listening(() => {});
  await gone.close();
  const { connection, source } = connect(gone.url);
  for (let tries = 0; tries < 5; tries += 1) await source.call('t', {}, context());
  const started = connection.counters.starts;
  expect(await source.call('t', {}, context())).toMatchObject({
    failure: { executed: 'not_executed', message: expect.stringContaining('left alone') },
  });
  expect(connection.counters.starts).toBe(started);
  await up((asked, response) => {
    if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('up') });
  }, gone.port);
  await connection.connect();
  expect(textOf(await source.call('t', {}, context()))).toBe('up');
}, 20_000);

describe('a program', () => {
  const session: Answer = (asked, response) => {
    if (asked.verb === 'GET') return stream(response);
    // The end of the session takes its time.
    if (asked.verb === 'DELETE') return void setTimeout(() => response.writeHead(204).end(), 300);
    if (!legacyStart(asked, response, 's')) json(response, 200, { id: asked.body.id, result: content('x') });
  };
  const run = async (url: string, close: string) => {
    const client = pathToFileURL(join(await compiled(['contracts', 'tools', 'mcp/client']), 'mcp/client/index.js'));
    const program = `
      import { connectHttp } from ${JSON.stringify(client.href)};
      const it = connectHttp({ key: 'x', scope: 'code', url: ${JSON.stringify(url)} });
      await it.connect();
      ${close}
      console.log('done');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    const [status] = await once(child, 'close');
    return { status, out };
  };

  test('that closes its connection goes on when the session is over', async () => {
    const server = await up(session);
    expect(await run(server.url, 'await it.close();')).toEqual({ status: 0, out: 'done\n' });
    expect(server.methods()).toContain('DELETE');
  });

  test('that forgets to is not kept from ending by a stream that stands', async () => {
    const server = await up(session);
    expect(await run(server.url, 'await new Promise((resolve) => setTimeout(resolve, 200));')).toEqual({
      status: 0,
      out: 'done\n',
    });
    expect(server.methods()).toContain('GET');
  });
});
