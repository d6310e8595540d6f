import { request } from 'node:http';
import type { JsonObject, Outcome, ServeHandle } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { afterEach, describe, expect, test } from 'vitest';
import { connect, isModern, KINDS, type TestClient } from './clients.ts';
import { ok, type TableHost, tableHost, text } from './table-host.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(host: TableHost, options: { identify?: (h: ReadonlyMap<string, string>) => Promise<null> } = {}) {
  const handle: ServeHandle = await serve(host, { http: { port: 0, token: false, ...options } });
  open.push(handle);
  if (handle.url === undefined) throw new Error('serving HTTP gives a URL');
  return handle.url;
}

const kept = (client: TestClient) => {
  open.push(client);
  return client;
};

function deferred<T = void>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const denied: Outcome = { kind: 'denied', reasons: [{ room: 'policy', code: 'deny_rule', text: 'Denied by a rule.' }] };
const parked: Outcome = { kind: 'parked', approval: 'AP-1', reasons: [] };

describe.each(KINDS)('over HTTP, a %s client', (kind) => {
  test('lists the tools in the order of the host, and calls one', async () => {
    const host = tableHost({ zeta: () => text('z'), alpha: (call) => text(call.args.text) });
    const client = kept(await connect(kind, { url: await start(host) }));
    expect((await client.list()).map((tool) => tool.name)).toEqual(['zeta', 'alpha']);
    expect(await client.call('alpha', { n: 1, deep: { list: [null] } })).toMatchObject({
      content: [{ type: 'text', text: '{"n":1,"deep":{"list":[null]}}' }],
    });
    expect(host.calls.map((call) => [call.name, call.profile])).toEqual([['alpha', 'relay']]);
    if (isModern(kind)) expect(client.revision()).toBe('2026-07-28');
  });

  test('gets what goes wrong inside a tool as an error result with the failure as JSON', async () => {
    const host = tableHost({
      late: () => ({
        kind: 'failed',
        failure: {
          category: 'business',
          retryable: false,
          message: 'Too late.',
          executed: 'not_executed',
          attempts: ['asked the ledger'],
        },
      }),
      forbidden: () => denied,
      waits: () => parked,
    });
    const client = kept(await connect(kind, { url: await start(host) }));
    const said = async (name: string) => {
      const result = await client.call(name);
      expect(result.isError).toBe(true);
      const [block] = result.content as { text: string }[];
      return JSON.parse(block?.text ?? '') as JsonObject;
    };
    expect(await said('late')).toEqual({
      errorCategory: 'business',
      isRetryable: false,
      description: 'Too late.',
      outcome: 'not_executed',
      attempted: ['asked the ledger'],
    });
    expect(await said('forbidden')).toMatchObject({ errorCategory: 'permission', description: 'Denied by a rule.' });
    expect(await said('waits')).toMatchObject({ approval: 'AP-1', description: expect.stringContaining('AP-1') });
  });

  test('is told of a tool that is not there, hidden or absent, by a protocol error', async () => {
    const client = kept(await connect(kind, { url: await start(tableHost({})) }));
    await expect(client.call('nothing')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool: nothing'),
    });
  });

  test('sees progress in order, before the result', async () => {
    let step = deferred();
    const host = tableHost({
      async slow({ ctx }) {
        for (const progress of [1, 2, 3]) {
          step = deferred();
          ctx.onEvent?.({ kind: 'progress', raw: { text: '', parse: () => ({ progress, total: 3 }) } });
          await step.promise;
        }
        return text('done');
      },
    });
    const client = kept(await connect(kind, { url: await start(host) }));
    const seen: number[] = [];
    // A client's SDK forgets a call's progress handler with its result, so each step waits until it was seen.
    const onprogress = ({ progress }: { progress: number }) => {
      seen.push(progress);
      step.resolve();
    };
    await client.call('slow', {}, { onprogress });
    expect(seen).toEqual([1, 2, 3]);
  });

  test('cancels a call, and the host hears of it', async () => {
    const started = deferred();
    const cancelled = deferred();
    const host = tableHost({
      async forever({ ctx }) {
        ctx.signal.addEventListener('abort', () => cancelled.resolve());
        started.resolve();
        await cancelled.promise;
        return text('nobody reads this');
      },
    });
    const client = kept(await connect(kind, { url: await start(host) }));
    const abort = new AbortController();
    const call = client.call('forever', {}, { signal: abort.signal });
    await started.promise;
    abort.abort();
    await expect(call).rejects.toThrow();
    await cancelled.promise;
  });

  test('hears that the list changed', async () => {
    const host = tableHost({ one: () => text('1') });
    const changed = deferred();
    const client = kept(await connect(kind, { url: await start(host) }, { onListChanged: changed.resolve }));
    await client.list();
    // The stream that carries it is opened beside the connection, so the change is repeated until it is heard.
    const repeat = setInterval(() => host.add('two', () => text('2')), 20);
    await changed.promise;
    clearInterval(repeat);
    expect((await client.list()).map((tool) => tool.name)).toEqual(['one', 'two']);
  });

  test('is refused without a known identity', async () => {
    const url = await start(tableHost({}), { identify: async () => null });
    await expect(connect(kind, { url })).rejects.toThrow();
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
  });

  test('gets structured content as its era can carry it', async () => {
    const host = tableHost(
      {
        list: () => ok({ content: [{ type: 'text', text: '[1,2]' }], structuredContent: [1, 2] }),
        object: () => ok({ content: [], structuredContent: { a: 1 } }),
      },
      { list: { outputSchema: { type: 'array', items: { type: 'integer' } } } },
    );
    const client = kept(await connect(kind, { url: await start(host) }));
    expect(await client.call('list')).toEqual(expect.objectContaining({ content: [{ type: 'text', text: '[1,2]' }] }));
    expect((await client.call('list')).structuredContent).toEqual(isModern(kind) ? [1, 2] : undefined);
    expect((await client.call('object')).structuredContent).toEqual({ a: 1 });
  });
});

describe('over HTTP', () => {
  const rpc = (method: string, params: JsonObject = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const headers = (name: string): Record<string, string> => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  });
  const call = (url: string, name: string, more: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers(name), ...more },
      body: rpc('tools/call', { name, arguments: {}, _meta: envelope }),
    });

  test('a result passes whole: blocks and fields that no revision knows are kept', async () => {
    const result = {
      content: [{ type: 'hologram', data: [1, 2], annotations: { depth: 3 } }],
      structuredContent: { n: 1 },
      futureField: { a: [true] },
      _meta: { 'x/y': 1 },
    };
    const response = await call(await start(tableHost({ odd: () => ok(result) })), 'odd');
    const body = (await response.json()) as { result: JsonObject };
    expect(body.result).toMatchObject(result);
  });

  test('input_required reaches a client of the modern era, and its answers come back to the host', async () => {
    const requests = { who: { method: 'elicitation/create', params: { message: 'Who?' } } };
    const host = tableHost({
      ask: ({ ctx }) =>
        ctx.answers === undefined
          ? { kind: 'input_required', requests: { text: '', parse: () => requests }, state: 'S1' }
          : ok({ content: [], structuredContent: { got: ctx.answers.responses, state: ctx.answers.state ?? null } }),
    });
    const url = await start(host);
    const first = (await (await call(url, 'ask')).json()) as { result: JsonObject };
    expect(first.result).toMatchObject({ resultType: 'input_required', inputRequests: requests, requestState: 'S1' });
    const second = await fetch(url, {
      method: 'POST',
      headers: headers('ask'),
      body: rpc('tools/call', {
        name: 'ask',
        arguments: {},
        inputResponses: { who: { action: 'accept', content: { name: 'Ada' } } },
        requestState: 'S1',
        _meta: envelope,
      }),
    });
    const answered = (await second.json()) as { result: { structuredContent: JsonObject } };
    expect(answered.result.structuredContent).toEqual({
      got: { who: { action: 'accept', content: { name: 'Ada' } } },
      state: 'S1',
    });
  });

  test.each(['v1', 'v2 legacy'] as const)('a %s client is asked on its own stream', async (kind) => {
    const host = tableHost({
      async ask({ ctx }) {
        const request = {
          method: 'elicitation/create',
          params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
        };
        const answer = await ctx.input?.({ text: '', parse: () => request });
        return ok({ content: [], structuredContent: { answer: answer ?? null } });
      },
    });
    const client = kept(await connect(kind, { url: await start(host) }, { answer: { name: 'Ada' } }));
    expect((await client.call('ask')).structuredContent).toEqual({
      answer: { action: 'accept', content: { name: 'Ada' } },
    });
  });

  test.each(['v1', 'v2 legacy'] as const)(
    'a %s client is asked what input_required asks, round by round',
    async (kind) => {
      const question = (message: string) => ({
        method: 'elicitation/create',
        params: { message, requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
      });
      const host = tableHost({
        ask({ ctx }) {
          const round = Number(ctx.answers?.state ?? 0);
          if (round === 2) return ok({ content: [], structuredContent: { got: ctx.answers?.responses ?? null } });
          const requests = { [`q${round}`]: question(`Question ${round}`) };
          return { kind: 'input_required', requests: { text: '', parse: () => requests }, state: String(round + 1) };
        },
      });
      const client = kept(await connect(kind, { url: await start(host) }, { answer: { name: 'Ada' } }));
      expect((await client.call('ask')).structuredContent).toEqual({
        got: { q1: { action: 'accept', content: { name: 'Ada' } } },
      });
      expect(host.calls).toHaveLength(3);
    },
  );

  test.each(KINDS)('a %s client is not asked for what it did not declare', async (kind) => {
    const requests = { pick: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } };
    const host = tableHost({
      sample: () => ({ kind: 'input_required', requests: { text: '', parse: () => requests } }),
    });
    const client = kept(await connect(kind, { url: await start(host) }));
    if (isModern(kind)) {
      await expect(client.call('sample')).rejects.toMatchObject({ code: -32021 });
    } else {
      expect(await client.call('sample')).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('this client has no sampling') }],
      });
    }
  });

  test('the status says what a client of the modern era reads off it', async () => {
    const requests = { pick: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } };
    const host = tableHost({
      sample: () => ({ kind: 'input_required', requests: { text: '', parse: () => requests } }),
    });
    const url = await start(host);
    const undeclared = await call(url, 'sample');
    expect([undeclared.status, await undeclared.json()]).toMatchObject([
      400,
      { error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } } },
    ]);
    const unknown = await fetch(url, {
      method: 'POST',
      headers: { ...headers('x'), 'mcp-method': 'prompts/list' },
      body: rpc('prompts/list', { _meta: envelope }),
    });
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: -32601 } }]);
  });

  test('arguments that are not an object are refused before the host is called', async () => {
    const host = tableHost({ one: () => text('1') });
    const response = await fetch(await start(host), {
      method: 'POST',
      headers: headers('one'),
      body: rpc('tools/call', { name: 'one', arguments: [1], _meta: envelope }),
    });
    expect(await response.json()).toMatchObject({ error: { code: -32602 } });
    expect(host.calls).toEqual([]);
  });

  test('a web page of another site is refused, by Host and by Origin', async () => {
    const url = await start(tableHost({ one: () => text('1') }));
    expect((await call(url, 'one', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await call(url, 'one', { origin: 'http://localhost:3000' })).status).toBe(200);
    // `fetch` always names the host it connects to; a page behind a rebound name does not.
    const rebound = await new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers: { host: 'evil.example' } }, (got) => {
        got.resume();
        resolve(got.statusCode);
      });
      sent.once('error', reject).end('{}');
    });
    expect(rebound).toBe(403);
  });

  test('a body that is not JSON, too long, or for another path is answered and the server goes on', async () => {
    const url = await start(tableHost({ one: () => text('1') }));
    const post = (to: string, body: string) => fetch(to, { method: 'POST', headers: headers('one'), body });
    expect((await post(url, '{')).status).toBe(400);
    expect((await post(`${url}/other`, '{}')).status).toBe(404);
    const long = await post(url, JSON.stringify('x'.repeat(11 * 1024 * 1024))).then(
      (response) => response.status,
      () => 'cut off',
    );
    expect([413, 'cut off']).toContain(long);
    expect((await call(url, 'one')).status).toBe(200);
  });

  test("someone else's session looks like one that does not exist", async () => {
    const handle = await serve(tableHost({}), {
      http: { port: 0, identify: async (given) => ({ agent: given.get('x-agent') ?? '?', via: 'gateway' }) },
    });
    open.push(handle);
    const url = handle.url ?? '';
    const as = (agent: string, body: string, session?: string) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-agent': agent,
          ...(session !== undefined && { 'mcp-session-id': session }),
        },
        body,
      });
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
    const opened = await as('ada', rpc('initialize', initialize));
    const session = opened.headers.get('mcp-session-id') ?? '';
    await opened.text();
    expect((await as('ada', rpc('tools/list'), session)).status).toBe(200);
    const stolen = await as('eve', rpc('tools/list'), session);
    const invented = await as('eve', rpc('tools/list'), 'no-such-session');
    expect([stolen.status, await stolen.text()]).toEqual([invented.status, await invented.text()]);
    expect(stolen.status).toBe(404);
  });

  test('a port that is taken is named', async () => {
    const url = new URL(await start(tableHost({})));
    await expect(serve(tableHost({}), { http: { port: Number(url.port) } })).rejects.toMatchObject({
      code: 'serve_address',
      message: expect.stringContaining(url.port),
    });
  });
});
