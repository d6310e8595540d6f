import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Connection, Json, PreviewPlan, RawJson } from '../../contracts/index.ts';
import { rawJson } from '../../tools/index.ts';
import { McpError } from './errors.ts';
import { mcpSource } from './mcp-source.ts';

function connectionTo(answers: Readonly<Record<string, string | McpError>>) {
  let listener: (method: string, params: RawJson) => void = () => {};
  const asked: { method: string; params: Json }[] = [];
  const connection: Connection = {
    server: { key: 'shop', scope: 'code', fingerprint: 'f', trustAnnotations: false },
    era: null,
    async request(method, params) {
      asked.push({ method, params });
      const answer = answers[method];
      if (answer instanceof McpError) throw answer;
      return rawJson(answer ?? '{}');
    },
    onNotification(given) {
      listener = given;
      return () => {
        listener = () => {};
      };
    },
    status: () => ({ state: 'ready', reasons: [] }),
    close: async () => {},
  };
  return { connection, asked, tell: (method: string) => listener(method, rawJson('{}')) };
}

const context = {
  callId: 'c',
  who: { agent: 'a', via: 'library' as const },
  signal: new AbortController().signal,
  idleMs: 1000,
  hardMs: 1000,
};

describe('listing', () => {
  test('a tool that can not be used is set aside alone, with its reasons', async () => {
    const { connection } = connectionTo({
      'tools/list':
        '{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"string"}},7]}',
    });
    const { tools, setAside } = await mcpSource(connection).list(context.signal);
    expect(tools.map((tool) => tool.ref.tool)).toEqual(['good']);
    expect(setAside.map(({ tool, reasons }) => [tool, reasons.length])).toEqual([
      ['bad', 1],
      ['', 1],
    ]);
  });

  test('a server without tools has an empty list, and the reason says so', async () => {
    const unknown = (code: number) =>
      connectionTo({
        'tools/list': new McpError('mcp_error_answer', 'no', {
          executed: 'not_executed',
          rpc: { code, message: 'no' },
        }),
      }).connection;
    const { tools, setAside } = await mcpSource(unknown(-32601)).list(context.signal);
    expect([tools, setAside[0]?.reasons[0]?.code]).toEqual([[], 'mcp_no_tools']);
    await expect(mcpSource(unknown(-32603)).list(context.signal)).rejects.toThrow('no');
  });

  test('a definition is kept as received', async () => {
    const definition = '{"name":"n","inputSchema":{"type":"object","properties":{"x":{"maximum":1.0}}},"new":[1.50]}';
    const { connection } = connectionTo({ 'tools/list': `{"tools": [ ${definition} ]}` });
    const { tools } = await mcpSource(connection).list(context.signal);
    expect(tools[0]?.raw.text).toBe(definition);
  });

  test('a preview that the configuration gives stands above that of the server', async () => {
    const { connection } = connectionTo({
      'tools/list': JSON.stringify({
        tools: [
          {
            name: 'refund',
            inputSchema: { type: 'object' },
            _meta: { 'bridle/preview': { tool: 'server_says', arguments: { id: '/id' } } },
          },
        ],
      }),
    });
    const own = await mcpSource(connection).list(context.signal);
    expect(own.tools[0]?.preview).toMatchObject({ tool: 'server_says', by: 'server' });
    const plan: PreviewPlan = { kind: 'tool', tool: 'get_refund', arguments: { id: '/id' }, by: 'config' };
    const mapped = await mcpSource(connection, { previews: new Map([['refund', plan]]) }).list(context.signal);
    expect(mapped.tools[0]?.preview).toEqual(plan);
  });
});

describe('calling', () => {
  test('an error of a tool is a result; an error of the protocol is a failure', async () => {
    const isError = connectionTo({ 'tools/call': '{"content":[],"isError":true}' });
    expect(await mcpSource(isError.connection).call('t', {}, context)).toMatchObject({ kind: 'result', isError: true });
    const refused = connectionTo({
      'tools/call': new McpError('mcp_error_answer', 'no such tool', {
        executed: 'not_executed',
        rpc: { code: -32602, message: 'no such tool' },
      }),
    });
    expect(await mcpSource(refused.connection).call('t', {}, context)).toMatchObject({
      kind: 'failure',
      failure: { category: 'validation', executed: 'not_executed', retryable: false, message: 'no such tool' },
    });
  });

  test('what broke on the way is transient, with what is known of its effect and what to do', async () => {
    const broken = connectionTo({
      'tools/call': new McpError('mcp_server_exited', 'It exited.', {
        executed: 'unknown',
        passing: true,
        hint: 'It is started again.',
      }),
    });
    expect(await mcpSource(broken.connection).call('t', {}, context)).toMatchObject({
      kind: 'failure',
      failure: {
        category: 'transient',
        executed: 'unknown',
        retryable: true,
        message: 'It exited. It is started again.',
      },
    });
  });

  test('input required without requests or state is still that', async () => {
    const { connection } = connectionTo({
      'tools/call': '{"resultType":"input_required","inputRequests":{"a":{"n":1.0}}}',
    });
    const result = await mcpSource(connection).call('t', {}, context);
    expect(result).toMatchObject({ kind: 'input_required', requests: { text: '{"a":{"n":1.0}}' } });
    expect(result).not.toHaveProperty('state');
  });

  test.each(['null', '[]', '"text"', '{"resultType":"later"}'])(
    '%s is no result, but the call was executed',
    async (text) => {
      const { connection } = connectionTo({ 'tools/call': text });
      expect(await mcpSource(connection).call('t', {}, context)).toMatchObject({
        kind: 'failure',
        failure: { executed: 'executed', retryable: false },
      });
    },
  );

  test('the second leg repeats the call with the answers', async () => {
    const { connection, asked } = connectionTo({ 'tools/call': '{}' });
    const answers = { responses: { a: { action: 'accept' } }, state: 's' };
    await mcpSource(connection).call('t', { x: 1 }, { ...context, answers });
    await mcpSource(connection).call('t', { x: 1 }, { ...context, answers: { responses: {} } });
    expect(asked.map(({ params }) => params)).toEqual([
      { name: 't', arguments: { x: 1 }, inputResponses: answers.responses, requestState: 's' },
      { name: 't', arguments: { x: 1 }, inputResponses: {} },
    ]);
  });
});

describe('a page that a legacy server wants visited first', () => {
  const wants = (data: string) =>
    new McpError('mcp_error_answer', 'shop answered tools/call with error -32042.', {
      executed: 'unknown',
      rpc: { code: -32042, message: 'Visit first', data: rawJson(data) },
    });
  const page = '{"mode":"url","elicitationId":"e","url":"https://pay.example/","message":"Pay."}';

  test('is asked for as a question, and the call is made again as it was once the person agreed', async () => {
    const { connection, asked } = connectionTo({ 'tools/call': wants(`{"elicitations":[${page}]}`) });
    const source = mcpSource(connection);
    const result = await source.call('t', { x: 1 }, context);
    if (result.kind !== 'input_required') throw new Error(JSON.stringify(result));
    expect(result.requests.parse()).toEqual({
      'url-1': { method: 'elicitation/create', params: JSON.parse(page) as Json },
    });
    const answers = (action: string) => ({
      responses: { 'url-1': { action } },
      ...(result.state !== undefined && { state: result.state }),
    });
    await source.call('t', { x: 1 }, { ...context, answers: answers('accept') });
    expect(asked[1]?.params).toEqual({ name: 't', arguments: { x: 1 } });
    expect(await source.call('t', { x: 1 }, { ...context, answers: answers('decline') })).toMatchObject({
      kind: 'failure',
      failure: { executed: 'not_executed', category: 'permission' },
    });
    expect(asked).toHaveLength(2);
  });

  test.each(['{}', '{"elicitations":[]}', '{"elicitations":[{"mode":"form"}]}', '7'])(
    'is a failure like any other when it says %s',
    async (data) => {
      const { connection } = connectionTo({ 'tools/call': wants(data) });
      expect(await mcpSource(connection).call('t', {}, context)).toMatchObject({ kind: 'failure' });
    },
  );
});

describe('changes', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('a storm is one change, a later one another, and none after unsubscribing', () => {
    const { connection, tell } = connectionTo({});
    const listener = vi.fn();
    const stop = mcpSource(connection).onChange(listener);
    for (let i = 0; i < 100; i += 1) tell('notifications/tools/list_changed');
    tell('notifications/prompts/list_changed');
    vi.runAllTimers();
    expect(listener).toHaveBeenCalledTimes(1);
    tell('notifications/tools/list_changed');
    vi.runAllTimers();
    expect(listener).toHaveBeenCalledTimes(2);
    tell('notifications/tools/list_changed');
    stop();
    vi.runAllTimers();
    expect(listener).toHaveBeenCalledTimes(2);
  });

  test('a server whose list changes whenever it is read is read ever more rarely, until it is quiet', () => {
    const { connection, tell } = connectionTo({});
    const listener = vi.fn(() => tell('notifications/tools/list_changed'));
    mcpSource(connection).onChange(listener);
    tell('notifications/tools/list_changed');
    vi.advanceTimersByTime(60_000);
    expect(listener.mock.calls.length).toBeGreaterThan(2);
    expect(listener.mock.calls.length).toBeLessThan(15);
    listener.mockImplementation(() => {});
    vi.advanceTimersByTime(60_000);
    listener.mockClear();
    tell('notifications/tools/list_changed');
    vi.advanceTimersByTime(200);
    expect(listener).toHaveBeenCalledOnce();
  });
});
