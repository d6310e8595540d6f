import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../src/contracts/index.ts';
import { compiled } from './helpers/compiled.ts';
import { type Answer, closeHttp, connect, content, isCall, page, refusal, up } from './helpers/http-peers.ts';
import { json, legacyStart, modernStart, stream, tell } from './helpers/http-servers.ts';
import { context, eventually, textOf } from './helpers/mcp.ts';

afterEach(closeHttp);

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

describe('a program', () => {
  const session: Answer = (asked, response) => {
    if (asked.verb === 'GET') return stream(response);
    // The end of the session takes its time.
    if (asked.verb === 'DELETE') return void setTimeout(() => response.writeHead(204).end(), 300);
    if (!legacyStart(asked, response, 's')) json(response, 200, { id: asked.body.id, result: content('x') });
  };
  const run = async (url: string, close: string) => {
    const client = pathToFileURL(
      join(await compiled(['contracts', 'tools', 'content', 'mcp/wire', 'mcp/client']), 'mcp/client/index.js'),
    );
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
