import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectHttp, type HttpServer, mcpSource } from '../src/mcp/client/index.ts';
import { type Answer, closeHttp, content, isCall, up } from './helpers/http-peers.ts';
import { entry, json, modernStart } from './helpers/http-servers.ts';
import { context, textOf } from './helpers/mcp.ts';

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-headers-')));
});
afterEach(async () => {
  await closeHttp();
  rmSync(root, { recursive: true });
});

/** A script that counts its runs and prints headers with `$runs` in them. */
function script(body: string): string {
  const path = join(root, 'headers.sh');
  writeFileSync(path, `#!/bin/sh\necho run >> "${root}/runs"\nruns=$(grep -c run "${root}/runs")\n${body}\n`);
  chmodSync(path, 0o755);
  return './headers.sh';
}
const runs = () => readFileSync(join(root, 'runs'), 'utf8').trim().split('\n').length;

/** A modern server that lets in only who sends one of these tokens. */
const letsIn =
  (...tokens: string[]): Answer =>
  (asked, response) => {
    if (!tokens.includes(asked.headers.authorization ?? '')) response.writeHead(401).end('no entry');
    else if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('in') });
  };

function connected(url: string, headersHelper: string, more: Partial<HttpServer> = {}) {
  const connection = connectHttp(entry(url, { headersHelper, ...more }), { projectRoot: root });
  return { connection, source: mcpSource(connection) };
}
const failureOf = async ({ connection }: ReturnType<typeof connected>) =>
  connection.connect().then(
    () => ({ code: 'connected', message: '', hint: '' }),
    (error) => error,
  );

describe('a command that prints headers', () => {
  test('runs once in the project for all requests, is told for which server, and goes before headers of the entry', async () => {
    const server = await up((asked, response) => {
      if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('in') });
    });
    const helper = script(
      `printf '{"authorization":"Bearer made","X-From":"%s %s","X-Key":"%s"}' "$CLAUDE_CODE_MCP_SERVER_NAME" "$CLAUDE_CODE_MCP_SERVER_URL" "$SOME_API_KEY"`,
    );
    process.env.SOME_API_KEY = 'stays-here';
    const { source } = connected(server.url, helper, { headers: { Authorization: 'Bearer static', 'X-Team': 'red' } });
    await source.call('t', {}, context());
    await source.call('t', {}, context());
    delete process.env.SOME_API_KEY;
    expect(runs()).toBe(1);
    for (const { headers } of server.asked) {
      expect(headers).toMatchObject({ authorization: 'Bearer made', 'x-team': 'red', 'x-key': '' });
      expect(headers['x-from']).toBe(`net ${server.url}`);
    }
  });

  test('runs again when the server no longer takes its word, for all calls that were refused together', async () => {
    const taken = ['Bearer token-1'];
    const server = await up((asked, response) => letsIn(...taken)(asked, response));
    const { source } = connected(server.url, script(`echo "{\\"Authorization\\":\\"Bearer token-$runs\\"}"`));
    expect(textOf(await source.call('t', {}, context()))).toBe('in');
    taken[0] = 'Bearer token-2';
    const results = await Promise.all([1, 2, 3].map(() => source.call('t', {}, context())));
    expect(results.map(textOf)).toEqual(['in', 'in', 'in']);
    expect(runs()).toBe(2);
  });

  test('that says the same again leaves the refusal as it is, and nothing is sent a second time', async () => {
    const server = await up(letsIn('Bearer other'));
    const asked = connected(server.url, script(`echo '{"Authorization":"Bearer not-this-secret"}'`));
    const error = await failureOf(asked);
    expect(error).toMatchObject({ code: 'mcp_unauthorized', hint: expect.stringContaining('headersHelper') });
    expect(server.asked).toHaveLength(1);
    expect(runs()).toBe(2);
    expect(asked.connection.status().state).toBe('needs_sign_in');
  });

  test('is asked again once for one call, however often the server refuses', async () => {
    let closed = false;
    const server = await up((asked, response) => {
      if (closed) response.writeHead(401).end();
      else if (!modernStart(asked, response)) json(response, 200, { id: asked.body.id, result: content('in') });
    });
    const { source } = connected(server.url, script(`echo "{\\"Authorization\\":\\"Bearer token-$runs\\"}"`));
    await source.call('t', {}, context());
    closed = true;
    expect(await source.call('t', {}, context())).toMatchObject({ failure: { executed: 'not_executed' } });
    expect(runs()).toBe(2);
    expect(server.asked.filter(isCall)).toHaveLength(3);
  });

  test('prints what no message repeats, not even when its server does', async () => {
    const server = await up((asked, response) => {
      if (modernStart(asked, response)) return;
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`bad token ${asked.headers.authorization}`);
    });
    const { source } = connected(server.url, script(`echo '{"Authorization":"Bearer made-secret"}'`));
    const result = JSON.stringify(await source.call('t', {}, context()));
    expect(result).toContain('HTTP 500');
    expect(result).not.toContain('made-secret');
  });

  test.each([
    ['fails', 'echo hush-hush; echo hush-hush >&2; exit 3', 'it ended with 3'],
    ['prints no JSON', 'echo hush-hush', 'no JSON'],
    ['prints a list', `echo '["hush-hush"]'`, 'no JSON object'],
    ['prints a number for a value', `echo '{"hush-hush": 1}'`, 'is no string'],
    ['prints without end', 'yes hush-hush | head -c 100000', 'more than 65536 bytes'],
  ])('and %s is an error that shows none of it; nothing is sent', async (_what, body, why) => {
    const server = await up(letsIn());
    const error = await failureOf(connected(server.url, script(body)));
    expect(error).toMatchObject({ code: 'mcp_headers_helper', executed: 'not_executed' });
    expect(error.message).toContain(why);
    expect(`${error.message}${error.hint}`).not.toContain('hush');
    expect(server.asked).toEqual([]);
  });

  test('cannot set what is the transport’s own, nor two lines', async () => {
    const server = await up(letsIn());
    for (const printed of ['{"Mcp-Session-Id":"hush-hush"}', '{"X":"hush\\nhush"}']) {
      const error = await failureOf(connected(server.url, script(`printf '%s' '${printed}'`)));
      expect(error).toMatchObject({ code: 'mcp_bad_header' });
      expect(error.message).not.toContain('hush');
    }
    expect(server.asked).toEqual([]);
  });

  test('ends with its connection', async () => {
    const server = await up(letsIn());
    const asked = connected(server.url, script('sleep 600'));
    const failed = failureOf(asked);
    await asked.connection.close();
    expect(['mcp_headers_helper', 'mcp_closed']).toContain((await failed).code);
    expect(server.asked).toEqual([]);
  });
});
