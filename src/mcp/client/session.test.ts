import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Json, RawJson } from '../../contracts/index.ts';
import { McpError } from './errors.ts';
import { Session, type SessionHost } from './session.ts';

type Sent = { id?: number; method?: string; params?: Record<string, unknown>; result?: unknown; error?: unknown };

function session(more: Partial<SessionHost> = {}) {
  const sent: Sent[] = [];
  const heard: string[] = [];
  const host: SessionHost = {
    name: 'MCP server "test"',
    send(text) {
      sent.push(JSON.parse(text));
      return true;
    },
    noise: (line) => heard.push(`noise ${line}`),
    stray: () => heard.push('stray'),
    notification: (method) => heard.push(method),
    ...more,
  };
  const it = new Session(host);
  const receive = (message: object) => it.receive(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return { it, sent, heard, receive };
}

const limits = (more: object = {}) => ({ signal: new AbortController().signal, idleMs: 1000, hardMs: 5000, ...more });

/** What a promise came to, by code. */
function settled(promise: Promise<RawJson>): { outcome: string } {
  const state = { outcome: 'pending' };
  promise.then(
    (raw) => {
      state.outcome = raw.text;
    },
    (error: McpError) => {
      state.outcome = `${error.code} ${error.executed}`;
    },
  );
  return state;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const flush = () => vi.advanceTimersByTimeAsync(0);

describe('limits', () => {
  test('silence ends a request at its idle limit, and says so to the server', async () => {
    const { it, sent } = session();
    const call = settled(it.request('tools/call', {}, limits()));
    await vi.advanceTimersByTimeAsync(999);
    expect(call.outcome).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(call.outcome).toBe('mcp_idle_timeout unknown');
    expect(sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
  });

  test('progress starts the idle limit anew; nothing extends the hard limit', async () => {
    const { it, sent, receive } = session();
    const call = settled(it.request('tools/call', {}, limits({ onEvent: () => {} })));
    const meta = sent[0]?.params?._meta;
    expect(meta).toEqual({ progressToken: 1 });
    for (let at = 900; at < 5000; at += 900) {
      await vi.advanceTimersByTimeAsync(900);
      receive({ method: 'notifications/progress', params: { progressToken: 1, progress: at } });
      expect(call.outcome).toBe('pending');
    }
    await vi.advanceTimersByTimeAsync(500);
    expect(call.outcome).toBe('mcp_hard_timeout unknown');
  });

  test('progress of another request does not help', async () => {
    const { it, receive } = session();
    const call = settled(it.request('tools/call', {}, limits()));
    await vi.advanceTimersByTimeAsync(900);
    receive({ method: 'notifications/progress', params: { progressToken: 99, progress: 1 } });
    await vi.advanceTimersByTimeAsync(100);
    expect(call.outcome).toBe('mcp_idle_timeout unknown');
  });

  test('the idle limit stands still while the server waits for the host', async () => {
    const { it, sent, receive } = session();
    const input = () => new Promise<Json>((resolve) => setTimeout(() => resolve({ action: 'accept' }), 3000));
    const call = settled(it.request('tools/call', {}, limits({ input })));
    receive({ id: 'q', method: 'elicitation/create', params: {} });
    await vi.advanceTimersByTimeAsync(3000);
    expect(sent.at(-1)).toMatchObject({ id: 'q', result: { action: 'accept' } });
    expect(call.outcome).toBe('pending');
    await vi.advanceTimersByTimeAsync(1000);
    expect(call.outcome).toBe('mcp_idle_timeout unknown');
  });

  test('an answered request leaves no timer and no listener behind', async () => {
    const { it, sent, receive } = session();
    const abort = new AbortController();
    const call = settled(it.request('tools/call', {}, limits({ signal: abort.signal })));
    receive({ id: 1, result: { ok: true } });
    await flush();
    expect(call.outcome).toBe('{"ok":true}');
    expect(vi.getTimerCount()).toBe(0);
    abort.abort();
    expect(sent).toHaveLength(1);
  });
});

describe('cancellation', () => {
  test('ends the request here at once; what comes for it later is stray', async () => {
    const { it, sent, heard, receive } = session();
    const abort = new AbortController();
    const call = settled(it.request('tools/call', {}, limits({ signal: abort.signal })));
    abort.abort();
    await flush();
    expect(call.outcome).toBe('mcp_cancelled unknown');
    expect(sent.at(-1)).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } });
    receive({ id: 1, result: {} });
    expect(heard).toEqual(['stray']);
  });

  test('before sending, nothing is sent', async () => {
    const { it, sent } = session();
    const call = settled(it.request('tools/call', {}, limits({ signal: AbortSignal.abort() })));
    await flush();
    expect(call.outcome).toBe('mcp_cancelled not_executed');
    expect(sent).toEqual([]);
  });

  test('initialize is never cancelled on the wire', async () => {
    const { it, sent } = session();
    const call = settled(it.request('initialize', {}, limits()));
    await vi.advanceTimersByTimeAsync(1000);
    expect(call.outcome).toBe('mcp_idle_timeout unknown');
    expect(sent.map((message) => message.method)).toEqual(['initialize']);
  });

  test('a question that the server takes back is not answered', async () => {
    const { it, sent, receive } = session();
    const input = () => new Promise<Json>((resolve) => setTimeout(() => resolve({ action: 'accept' }), 500));
    settled(it.request('tools/call', {}, limits({ input })));
    receive({ id: 7, method: 'elicitation/create', params: {} });
    receive({ method: 'notifications/cancelled', params: { requestId: 7 } });
    await vi.advanceTimersByTimeAsync(500);
    expect(sent).toHaveLength(1);
  });
});

describe('answers', () => {
  test.each([
    [-32601, 'not_executed'],
    [-32602, 'not_executed'],
    [-32603, 'unknown'],
    [-32000, 'unknown'],
    [1, 'unknown'],
  ])('error %d leaves the call %s', async (code, executed) => {
    const { it, receive } = session();
    const call = it.request('tools/call', {}, limits());
    receive({ id: 1, error: { code, message: 'no\u001b[31m', data: { a: 1 } } });
    const error = await call.catch((thrown) => thrown);
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({ executed, rpc: { code, message: 'no\u001b[31m' } });
    expect(error.message).not.toContain('\u001b');
    expect(error.rpc.data.text).toBe('{"a":1}');
  });

  test('each request has an id of its own, and an answer with another is stray', async () => {
    const { it, sent, heard, receive } = session();
    const first = settled(it.request('a', {}, limits()));
    const second = settled(it.request('b', {}, limits()));
    expect(sent.map((message) => message.id)).toEqual([1, 2]);
    receive({ id: '1', result: {} });
    receive({ id: 3, result: {} });
    receive({ id: 2, result: { second: true } });
    receive({ id: 2, result: { again: true } });
    await flush();
    expect([first.outcome, second.outcome]).toEqual(['pending', '{"second":true}']);
    expect(heard).toEqual(['stray', 'stray', 'stray']);
  });

  test('when the session ends, what is in flight is unknown and what comes after was not sent', async () => {
    const { it, sent } = session();
    const inFlight = settled(it.request('tools/call', {}, limits()));
    it.end(new McpError('mcp_server_exited', 'gone', { executed: 'unknown', passing: true }));
    const after = settled(it.request('tools/call', {}, limits()));
    await flush();
    expect([inFlight.outcome, after.outcome]).toEqual(['mcp_server_exited unknown', 'mcp_server_exited not_executed']);
    expect(sent).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('what can not be written was not executed', async () => {
    const { it } = session({ send: () => false });
    const call = settled(it.request('tools/call', {}, limits()));
    await flush();
    expect(call.outcome).toBe('mcp_not_writable not_executed');
  });
});

describe('what precedes the first message', () => {
  test('a byte order mark does not cost the answer behind it', async () => {
    const { it, heard } = session();
    const call = settled(it.request('server/discover', {}, limits()));
    it.receive('\ufeff{"jsonrpc":"2.0","id":1,"result":{}}');
    await flush();
    expect([call.outcome, ...heard]).toEqual(['{}']);
  });
});

describe('requests of the server', () => {
  test('that came with a request belong to it alone, also beside others', async () => {
    const { it, sent } = session();
    const input = (name: string) => ({ ...limits(), input: async (): Promise<Json> => ({ name }) });
    const calls = [input('first'), input('second')].map((ctx) => settled(it.request('tools/call', {}, ctx)));
    const ask = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'elicitation/create', params: {} });
    it.receive(ask(70), 2);
    // Of a request that is over nobody is asked.
    it.receive(ask(71), 9);
    await flush();
    expect(sent.find(({ id, method }) => id === 70 && method === undefined)).toMatchObject({
      result: { name: 'second' },
    });
    expect(sent.find(({ id, method }) => id === 71 && method === undefined)).toMatchObject({
      result: { action: 'decline' },
    });
    it.end(new McpError('mcp_closed', 'closed', { executed: 'unknown' }));
    await flush();
    expect(calls.map(({ outcome }) => outcome)).toEqual(['mcp_closed unknown', 'mcp_closed unknown']);
  });

  test('are not answered in the modern era, which has none', async () => {
    const { it, sent, heard, receive } = session();
    it.meta = {};
    receive({ id: 1, method: 'ping' });
    receive({ id: 2, method: 'elicitation/create', params: {} });
    await flush();
    expect(sent).toEqual([]);
    expect(heard).toEqual(['stray', 'stray']);
  });

  test('ping is answered, an unknown method is refused', async () => {
    const { sent, receive } = session();
    receive({ id: 1, method: 'ping' });
    receive({ id: 2, method: 'sampling/invent' });
    await flush();
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, error: { code: -32601, message: "This client doesn't answer sampling/invent" } },
    ]);
  });

  test('are answered under their id as it was spelled', async () => {
    const written: string[] = [];
    const { it } = session({ send: (text) => written.push(text) > 0 });
    it.receive('{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}');
    await flush();
    expect(written).toEqual(['{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}']);
  });

  test('a question goes to the only call that can have raised it', async () => {
    const { it, sent, receive } = session();
    const input = vi.fn(async (_: RawJson): Promise<Json> => ({ action: 'accept' }));
    settled(it.request('tools/list', {}, limits()));
    settled(it.request('tools/call', {}, limits({ input })));
    receive({ id: 'q1', method: 'elicitation/create', params: { message: 'Sure?' } });
    await flush();
    expect(input).toHaveBeenCalledOnce();
    expect(sent.at(-1)).toMatchObject({ id: 'q1', result: { action: 'accept' } });
    settled(it.request('tools/call', {}, limits()));
    receive({ id: 'q2', method: 'elicitation/create', params: {} });
    receive({ id: 'q3', method: 'sampling/createMessage', params: {} });
    await flush();
    expect(input).toHaveBeenCalledOnce();
    expect(sent.slice(-2)).toMatchObject([
      { id: 'q2', result: { action: 'decline' } },
      { id: 'q3', error: { code: -32601 } },
    ]);
  });

  test('the folders are asked of the host of the connection, whatever is running', async () => {
    const { it, sent, receive } = session({ input: async () => ({ roots: [] }) });
    settled(it.request('tools/call', {}, limits()));
    settled(it.request('tools/call', {}, limits()));
    receive({ id: 'r', method: 'roots/list' });
    await flush();
    expect(sent.at(-1)).toMatchObject({ id: 'r', result: { roots: [] } });
  });

  test('an answer that is no JSON cancels the question', async () => {
    const { it, sent, receive } = session();
    const round: { [k: string]: Json } = {};
    round.round = round;
    settled(it.request('tools/call', {}, limits({ input: async () => round })));
    receive({ id: 'q', method: 'elicitation/create', params: {} });
    await flush();
    expect(sent.at(-1)).toMatchObject({ id: 'q', result: { action: 'cancel' } });
    const call = settled(it.request('tools/call', round, limits()));
    await flush();
    expect(call.outcome).toBe('mcp_not_json not_executed');
  });

  test('a host that fails to answer cancels the question, and the call goes on', async () => {
    const { it, sent, receive } = session();
    const input = async (): Promise<Json> => {
      throw new Error('terminal closed');
    };
    const call = settled(it.request('tools/call', {}, limits({ input })));
    receive({ id: 'q', method: 'elicitation/create', params: {} });
    await flush();
    expect(sent.at(-1)).toMatchObject({ id: 'q', result: { action: 'cancel' } });
    expect(call.outcome).toBe('pending');
  });
});

describe('notifications', () => {
  test('a log line is told to the one call that runs, and to nobody where there is doubt', () => {
    const { it, heard, receive } = session();
    const onEvent = vi.fn();
    settled(it.request('tools/call', {}, limits({ onEvent })));
    receive({ method: 'notifications/message', params: { level: 'info', data: 'a' } });
    expect(onEvent).toHaveBeenCalledOnce();
    settled(it.request('tools/call', {}, limits({ onEvent })));
    receive({ method: 'notifications/message', params: { level: 'info', data: 'b' } });
    expect(onEvent).toHaveBeenCalledOnce();
    expect(heard).toEqual(['notifications/message', 'notifications/message']);
  });

  test('a listener that throws does not stop the session', async () => {
    const { it, sent, receive } = session();
    const onEvent = () => {
      throw new Error('fault of the listener');
    };
    const call = settled(it.request('tools/call', {}, limits({ onEvent })));
    receive({ method: 'notifications/progress', params: { progressToken: sent[0]?.id, progress: 1 } });
    receive({ id: 1, result: {} });
    await flush();
    expect(call.outcome).toBe('{}');
  });

  test('a progress token of the caller is replaced by one of this hop', () => {
    const { it, sent } = session();
    const params = { _meta: { progressToken: 'theirs', traceparent: '00-1-2-01' } };
    settled(it.request('tools/call', params, limits({ onEvent: () => {} })));
    settled(it.request('tools/call', params, limits()));
    expect(sent[0]?.params?._meta).toEqual({ progressToken: 1, traceparent: '00-1-2-01' });
    expect(sent[1]?.params?._meta).toEqual({ traceparent: '00-1-2-01' });
  });
});
