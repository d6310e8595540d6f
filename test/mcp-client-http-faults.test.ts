import { afterEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../src/contracts/index.ts';
import { closeHttp, connect, content, isCall, up } from './helpers/http-peers.ts';
import { json, legacyStart, listening, modernStart, stream, tell } from './helpers/http-servers.ts';
import { context, eventually, textOf } from './helpers/mcp.ts';

afterEach(closeHttp);

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
