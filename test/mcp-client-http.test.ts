import { serve } from 'bridle/server';
import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../src/contracts/index.ts';
import { closeAll, connectHttp, type HttpOptions, type HttpServer, mcpSource } from '../src/mcp/client/index.ts';
import { entry, everything, type Running, sdkV1, sdkV2 } from './helpers/http-servers.ts';
import { context, eventually, never, textOf } from './helpers/mcp.ts';
import { tableHost, text } from './serve/table-host.ts';

const running: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await closeAll();
  for (const one of running.splice(0)) await one.close();
});

async function up<R extends { close(): Promise<unknown> }>(server: Promise<R>): Promise<R> {
  const one = await server;
  running.push(one);
  return one;
}

function connect(server: Running, more: Partial<HttpServer> = {}, options: HttpOptions = {}) {
  const connection = connectHttp(entry(server.url, more), options);
  return { connection, source: mcpSource(connection) };
}

const names = async (source: ReturnType<typeof mcpSource>) =>
  (await source.list(never())).tools.map(({ ref }) => ref.tool);

const ELICITS: HttpOptions = { capabilities: { elicitation: {} } };
const ANSWER = async (): Promise<Json> => ({ action: 'accept', content: { name: 'Ada' } });

describe.each(['streamableHttp', 'sse'] as const)('the published everything server over %s', (mode) => {
  test('lists its tools, reports progress, answers many calls at once, and follows its cancellation', async () => {
    const { connection, source } = connect(await up(everything(mode)));
    expect(await names(source)).toContain('echo');
    expect(connection.era?.revision).toBe('2025-11-25');
    const progress: Json[] = [];
    const result = await source.call(
      'trigger-long-running-operation',
      { duration: 0.4, steps: 4 },
      context({ onEvent: (event) => event.kind === 'progress' && progress.push(event.raw.parse()) }),
    );
    expect(textOf(result)).toContain('completed');
    expect(progress.length).toBeGreaterThanOrEqual(3);
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, n) => source.call('echo', { message: `m${n}` }, context())),
    );
    expect(many.map(textOf)).toEqual(many.map((_, n) => `Echo: m${n}`));
    const stop = new AbortController();
    const long = source.call(
      'trigger-long-running-operation',
      { duration: 60, steps: 2 },
      context({ signal: stop.signal }),
    );
    setTimeout(() => stop.abort(), 100);
    expect(await long).toMatchObject({ kind: 'failure', failure: { executed: 'unknown' } });
    expect(textOf(await source.call('echo', { message: 'still here' }, context()))).toContain('still here');
    const codes = connection.status().reasons.map(({ code }) => code);
    expect(codes.includes('mcp_old_transport')).toBe(mode === 'sse');
    expect(connection.status().state).toBe('ready');
  });
});

describe.each([
  ['with sessions', {}],
  ['with sessions and JSON answers', { asJson: true }],
  ['without sessions', { stateless: true }],
] as const)('a server on the official SDK, version 1, %s', (_, options) => {
  test('is found to be legacy, lists and answers', async () => {
    const { connection, source } = connect(await up(sdkV1(options)));
    expect(await names(source)).toEqual(['add', 'who', 'learn']);
    expect(textOf(await source.call('add', { a: 2, b: 3 }, context()))).toBe('5');
    expect(connection.era).toMatchObject({ revision: '2025-11-25', provenBy: 'initialize answered with it' });
  });
});

describe('a server on the official SDK, version 1', () => {
  test('asks the person of the call that its question came with, also beside other calls', async () => {
    const { source } = connect(await up(sdkV1()), {}, ELICITS);
    const asking = (name: string) =>
      source.call('who', {}, context({ input: async () => ({ action: 'accept', content: { name } }) }));
    const [ada, bob, sum] = await Promise.all([
      asking('Ada'),
      asking('Bob'),
      source.call('add', { a: 1, b: 1 }, context()),
    ]);
    expect(textOf(ada)).toContain('"Ada"');
    expect(textOf(bob)).toContain('"Bob"');
    expect(textOf(sum)).toBe('2');
  });

  test('tells over its own stream that its list changed', async () => {
    const { source } = connect(await up(sdkV1()));
    let changes = 0;
    source.onChange(() => {
      changes += 1;
    });
    await source.list(never());
    await source.call('learn', {}, context());
    expect(await eventually(() => changes > 0)).toBe(true);
    expect(await names(source)).toContain('learned');
  });

  test('that has forgotten the session gets a new one, and the call is made once', async () => {
    const server = await up(sdkV1());
    const { connection, source } = connect(server);
    await source.list(never());
    for (const transport of server.sessions.values()) await transport.close();
    server.sessions.clear();
    const results = await Promise.all(
      Array.from({ length: 5 }, (_, n) => source.call('add', { a: n, b: 1 }, context())),
    );
    expect(results.map(textOf)).toEqual(['1', '2', '3', '4', '5']);
    expect(connection.status().state).toBe('ready');
    // The five share one new session; the stream that ended may have asked for another.
    expect(server.sessions.size).toBeLessThanOrEqual(2);
  });

  test('is told when the session is over', async () => {
    const server = await up(sdkV1());
    const { connection } = connect(server);
    await connection.connect();
    const [transport] = server.sessions.values();
    let closed = false;
    if (transport) transport.onclose = () => (closed = true);
    await connection.close();
    expect(await eventually(() => closed)).toBe(true);
  });
});

describe.each([
  ['of both eras', {}],
  ['of the modern era alone', { modernOnly: true }],
] as const)('a server on the official SDK, version 2, %s', (_, options) => {
  test('is found to be modern, lists, answers, asks by input_required and tells that its list changed', async () => {
    const { connection, source } = connect(await up(sdkV2(options)), {}, ELICITS);
    expect(await names(source)).toEqual(['add', 'region', 'who', 'learn']);
    expect(connection.era?.revision).toBe('2026-07-28');
    expect(textOf(await source.call('add', { a: 2, b: 3 }, context()))).toBe('5');
    const asked = await source.call('who', {}, context({ input: ANSWER }));
    if (asked.kind !== 'input_required') throw new Error(`not asked: ${JSON.stringify(asked)}`);
    expect(asked.requests.parse()).toMatchObject({ who: { method: 'elicitation/create' } });
    const answers = {
      responses: { who: { action: 'accept', content: { name: 'Ada' } } },
      ...(asked.state !== undefined && { state: asked.state }),
    };
    expect(textOf(await source.call('who', {}, context({ input: ANSWER, answers })))).toContain('"Ada"');
    let changes = 0;
    source.onChange(() => {
      changes += 1;
    });
    await source.call('learn', {}, context());
    expect(await eventually(() => changes > 0)).toBe(true);
    expect(await names(source)).toContain('learned');
  });

  test('gets the headers that its definitions ask for, whatever the value', async () => {
    const { source } = connect(await up(sdkV2(options)));
    // Without a list before it, the first call is refused, the list is read, and the call is made again.
    for (const where of ['us-west1', 'Zürich', ' padded ', '=?base64?eA==?=', 'a\nb', '']) {
      const args = { where, deep: { n: -7 } };
      expect(JSON.parse(textOf(await source.call('region', args, context())))).toEqual(args);
    }
  });
});

test('a server of both eras is spoken to in the one that its entry names', async () => {
  const server = await up(sdkV2());
  const legacy = connect(server, { era: 'legacy' });
  const modern = connect(server, { era: 'modern' });
  expect(textOf(await legacy.source.call('add', { a: 1, b: 2 }, context()))).toBe('3');
  expect(textOf(await modern.source.call('add', { a: 1, b: 2 }, context()))).toBe('3');
  expect(legacy.connection.era?.revision).toBe('2025-11-25');
  expect(modern.connection.era?.revision).toBe('2026-07-28');
});

describe.each(['auto', 'legacy'] as const)('our own server, era %s', (era) => {
  test('lists, answers, follows cancellation and tells that its list changed', async () => {
    let cancelled = false;
    const host = tableHost({
      alpha: (call) => text(call.args.text),
      slow: (call) =>
        new Promise((resolve) => {
          call.ctx.signal.addEventListener('abort', () => {
            cancelled = true;
            resolve(text('stopped'));
          });
        }),
    });
    const handle = await up(serve(host, { http: { port: 0, token: false } }));
    const { connection, source } = connect({ url: handle.url ?? '', close: handle.close }, { era });
    expect(await names(source)).toEqual(['alpha', 'slow']);
    expect(connection.era?.revision).toBe(era === 'auto' ? '2026-07-28' : '2025-11-25');
    expect(textOf(await source.call('alpha', { n: 1 }, context()))).toBe('{"n":1}');
    const stop = new AbortController();
    const slow = source.call('slow', {}, context({ signal: stop.signal }));
    expect(await eventually(() => host.calls.length === 2)).toBe(true);
    stop.abort();
    expect(await slow).toMatchObject({ kind: 'failure', failure: { executed: 'unknown' } });
    expect(await eventually(() => cancelled)).toBe(true);
    let changes = 0;
    source.onChange(() => {
      changes += 1;
    });
    host.add('beta', () => text('b'));
    expect(await eventually(() => changes > 0)).toBe(true);
    expect(await names(source)).toContain('beta');
  });
});
