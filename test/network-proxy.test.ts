import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect as dial } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { selfSigned } from './helpers/certificate.ts';
import { closeHttp, connect, content, refusal, up } from './helpers/http-peers.ts';
import { json, modernStart } from './helpers/http-servers.ts';
import { context, textOf } from './helpers/mcp.ts';

const running: { close(): void }[] = [];
beforeEach(() => {
  // Whatever the machine says of its own proxies.
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'])
    for (const variable of [name, name.toLowerCase()]) vi.stubEnv(variable, '');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await closeHttp();
  for (const one of running.splice(0)) one.close();
});

/** A proxy that finds every name on this machine, at the port that was asked for. `refuse`: with this status. */
async function proxy(refuse?: number) {
  const seen: { readonly line: string; readonly authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    seen.push({ line: `${request.method} ${request.url}`, authorization: request.headers['proxy-authorization'] });
    if (refuse !== undefined) return void response.writeHead(refuse).end('go away');
    const { port, pathname } = new URL(request.url ?? '');
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const on = httpRequest({ host: '127.0.0.1', port, path: pathname, method: request.method ?? 'GET', headers });
    on.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    on.on('error', () => response.destroy());
    request.pipe(on);
  });
  server.on('connect', (request, socket) => {
    seen.push({ line: `CONNECT ${request.url}`, authorization: request.headers['proxy-authorization'] });
    if (refuse !== undefined) return void socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
    const on = dial(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Go\r\n\r\n');
      socket.pipe(on).pipe(socket);
    });
    for (const end of [on, socket]) end.on('error', () => on.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  running.push({ close });
  const { port } = server.address() as AddressInfo;
  return { seen, port, close, url: `http://me:p4ss-word@127.0.0.1:${port}` };
}

const working = () =>
  up((asked, response) => {
    if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('through') });
  });
const BASIC = `Basic ${Buffer.from('me:p4ss-word').toString('base64')}`;

describe('a server behind a proxy', () => {
  test('of http is asked for by its whole address, and gets no word of the proxy’s password', async () => {
    const [between, server] = [await proxy(), await working()];
    vi.stubEnv('http_proxy', between.url);
    const { source } = connect(`http://tools.example:${server.port}/mcp`);
    expect(textOf(await source.call('t', {}, context()))).toBe('through');
    const line = `POST http://tools.example:${server.port}/mcp`;
    expect(between.seen).toEqual([1, 2].map(() => ({ line, authorization: BASIC })));
    for (const { headers } of server.asked) expect(headers.host).toBe(`tools.example:${server.port}`);
  });

  test('of https is reached through a way of its own, and its certificate is looked at', async () => {
    const between = await proxy();
    vi.stubEnv('HTTPS_PROXY', between.url);
    const inner = await working();
    const secure = createSecure(selfSigned('tools.example'), (request, response) => {
      const { method = 'GET', url = '/', headers } = request;
      const on = httpRequest({ host: '127.0.0.1', port: inner.port, path: url, method, headers });
      on.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(on);
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    running.push({ close: () => void secure.close() });
    const url = `https://tools.example:${(secure.address() as AddressInfo).port}/mcp`;
    const line = `CONNECT ${new URL(url).host}`;

    const { error } = await refusal(url);
    expect(error).toMatchObject({ code: 'mcp_tls', executed: 'not_executed' });
    expect(between.seen[0]).toEqual({ line, authorization: BASIC });
    expect(inner.asked).toEqual([]);

    between.seen.length = 0;
    // Read at each handshake; what an own certification authority does is the runtime's affair.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const { source } = connect(url);
    expect(textOf(await source.call('t', {}, context()))).toBe('through');
    expect(textOf(await source.call('t', {}, context()))).toBe('through');
    expect(new Set(between.seen.map((one) => one.line))).toEqual(new Set([line]));
    for (const { headers } of inner.asked) expect(headers['proxy-authorization']).toBeUndefined();
  });

  test.each(['http', 'https'])('(%s) that wants a password is told from the server', async (scheme) => {
    const between = await proxy(407);
    vi.stubEnv('HTTP_PROXY', between.url);
    vi.stubEnv('HTTPS_PROXY', between.url);
    const { error } = await refusal(`${scheme}://tools.example:8/mcp`);
    expect(error).toMatchObject({ code: 'mcp_proxy', executed: 'not_executed', hint: expect.stringContaining('user') });
    expect(error.message).toContain(`_PROXY (http://127.0.0.1:${between.port}/)`);
    expect(error.message).not.toContain('p4ss');
  });

  test.each(['http', 'https'])('(%s) that is down is named', async (scheme) => {
    const between = await proxy();
    between.close();
    vi.stubEnv('HTTP_PROXY', between.url);
    vi.stubEnv('HTTPS_PROXY', between.url);
    const { error } = await refusal(`${scheme}://tools.example:8/mcp`);
    expect(error).toMatchObject({ code: 'mcp_proxy', executed: 'not_executed' });
    expect(error.message).not.toContain('p4ss');
  });

  test('is not looked for on the way to this machine, and SOCKS is refused', async () => {
    const [between, server] = [await proxy(), await working()];
    vi.stubEnv('HTTP_PROXY', between.url);
    expect(textOf(await connect(server.url).source.call('t', {}, context()))).toBe('through');
    expect(between.seen).toEqual([]);
    vi.stubEnv('HTTP_PROXY', 'socks5://127.0.0.1:1080');
    expect((await refusal('http://tools.example/mcp')).error).toMatchObject({ code: 'mcp_bad_proxy' });
  });
});
