import { afterEach, describe, expect, test } from 'vitest';
import { mcpSource } from '../src/mcp/client/index.ts';
import { type Answer, closeHttp, connect, content, page, refusal, up } from './helpers/http-peers.ts';
import { json, listening, modernStart, stream } from './helpers/http-servers.ts';
import { context, textOf } from './helpers/mcp.ts';

afterEach(closeHttp);

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
