import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { toolHost } from 'bridle';
import type { Json, JsonObject } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { describe, expect, test } from 'vitest';
import { eventsOf, open, rpc, start } from './http-client.ts';
import { eventually, made, taskTools } from './task-tools.ts';

type Answer = { result?: Record<string, Json>; error?: { code: number; message: string } };

/** What comes on the stream of one request: its own answer, or the answer alone as JSON. */
async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const lines = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []));
  return JSON.parse(lines.at(-1) ?? text) as Answer;
}

/** Sessions of 2025-11-25, of clients that know nothing but HTTP. */
async function older(tools = taskTools()) {
  const server = await start(await toolHost({ tools: tools.tools }));
  const session = async (who: string, protocolVersion = '2025-11-25') => {
    const capabilities = { elicitation: { form: {}, url: {} } };
    const clientInfo = { name: 'c', version: '1' };
    const answer = await server.send(who, rpc(0, 'initialize', { protocolVersion, capabilities, clientInfo }));
    const { result } = (await answer.json()) as Answer;
    const id = answer.headers.get('mcp-session-id') ?? '';
    const post = (method: string, params: JsonObject = {}, number = 1) =>
      server.send(who, rpc(number, method, params), id);
    const ask = async (method: string, params: JsonObject = {}) => answerOf(await post(method, params));
    const begin = async (name: string, task: JsonObject = {}, more: JsonObject = {}) => {
      const answered = await ask('tools/call', { name, arguments: {}, task, ...more });
      return (answered.result?.task ?? {}) as Record<string, Json>;
    };
    const until = (taskId: Json | undefined, status: string) =>
      eventually(async () => {
        const { result = {} } = await ask('tasks/get', { taskId: taskId ?? '' });
        expect(result.status).toBe(status);
        return result;
      });
    const tell = (body: unknown) => server.send(who, body, id);
    return { id, result, post, ask, begin, until, tell };
  };
  return { ...server, ...tools, session };
}

const words = (text: string) => ({ content: [{ type: 'text', text }] });
const RELATED = 'io.modelcontextprotocol/related-task';

describe('a call that its client wants as a task, in 2025-11-25', () => {
  test('is answered with the task, and tasks/result waits for what the call would have been answered with', async () => {
    const { session, ends } = await older();
    const { begin, post } = await session('ada');
    const task = await begin('only', { ttl: 60_000 });
    expect(task).toMatchObject({ status: 'working', ttl: 60_000, pollInterval: 1_000 });
    const { taskId = '' } = task;
    const waiting = post('tasks/result', { taskId });
    await eventually(() => expect(ends.has('only')).toBe(true));
    ends.get('only')?.resolve('Done.');
    const { result } = await answerOf(await waiting);
    expect(result).toEqual({ ...words('Done.'), _meta: { [RELATED]: { taskId } } });
  });

  test('has failed when its tool has, and the result says how', async () => {
    const { session } = await older();
    const { begin, until, ask } = await session('ada');
    const { taskId = '' } = await begin('fails');
    expect((await until(taskId, 'failed')).statusMessage).toContain('It broke.');
    expect((await ask('tasks/result', { taskId })).result).toMatchObject({ isError: true });
  });

  test('asks whoever waits for its result, and says of which task it asks', async () => {
    const { session } = await older();
    const { begin, until, post, tell } = await session('ada');
    const { taskId = '' } = await begin('asks');
    await until(taskId, 'input_required');
    const stream = eventsOf(await post('tasks/result', { taskId }));
    const seen = await stream.until('elicitation/create');
    const asked = JSON.parse(/data: (\{.*elicitation\/create.*\})/.exec(seen)?.[1] ?? '') as {
      id: string;
      params: JsonObject;
    };
    expect(asked.params).toMatchObject({ message: 'Who?', _meta: { [RELATED]: { taskId } } });
    await tell({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { name: 'Ada' } } });
    expect(await stream.rest()).toContain('Hello, Ada!');
    await until(taskId, 'completed');
  });

  test('asks again where nobody waits any more who was asked', async () => {
    const { session } = await older();
    const { begin, until, post, tell } = await session('ada');
    const { taskId = '' } = await begin('asks');
    const first = eventsOf(await post('tasks/result', { taskId }, 7));
    await first.until('elicitation/create');
    await tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    await first.rest();
    await until(taskId, 'input_required');
    const second = eventsOf(await post('tasks/result', { taskId }, 8));
    expect(await second.until('elicitation/create')).toContain('Who?');
    await second.cancel();
  });

  test('is cancelled once', async () => {
    const { session, ends } = await older();
    const { begin, ask } = await session('ada');
    const { taskId = '' } = await begin('long');
    await eventually(() => expect(ends.has('long')).toBe(true));
    expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ taskId, status: 'cancelled' });
    await eventually(() => expect(ends.get('long')?.signal.aborted).toBe(true));
    expect((await ask('tasks/cancel', { taskId })).error).toMatchObject({ code: -32602 });
    expect((await ask('tasks/result', { taskId })).result).toMatchObject({ isError: true });
  });

  test('tells its session how far it is, and when it has ended', async () => {
    const { session, listen } = await older();
    const { id, begin, ask, until } = await session('ada');
    const stream = eventsOf(await listen(id));
    const { taskId = '' } = await begin('asks', {}, { _meta: { progressToken: 'p' } });
    const seen = await stream.until('notifications/progress');
    expect(seen).toContain('"progressToken":"p"');
    expect(await stream.until('"status":"input_required"')).toContain('notifications/tasks/status');
    await until(taskId, 'input_required');
    await ask('tasks/cancel', { taskId });
    await stream.until('"status":"cancelled"');
    await stream.cancel();
  });
});

describe('what a session of 2025-11-25 knows of tasks', () => {
  test('is said where it begins, and only where there are any', async () => {
    const { session } = await older();
    const declared = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
    expect((await session('ada')).result?.capabilities).toMatchObject(declared);
    expect((await session('ada', '2025-06-18')).result?.capabilities).not.toHaveProperty('tasks');
    const none = await older({ tools: [made('plain', () => 'Plain.')], starts: [], ends: new Map() });
    const { result, ask } = await none.session('ada');
    expect(result?.capabilities).not.toHaveProperty('tasks');
    expect((await ask('tasks/list')).error).toMatchObject({ code: -32601 });
    const call = { name: 'plain', arguments: {}, task: {} };
    expect((await ask('tools/call', call)).result).toMatchObject(words('Plain.'));
  });

  test('is told by its tools', async () => {
    const { session } = await older();
    const { result } = await (await session('ada')).ask('tools/list');
    const said = ((result?.tools ?? []) as { name: string; execution?: Json }[]).map(({ name, execution }) => [
      name,
      execution,
    ]);
    expect(Object.fromEntries(said)).toMatchObject({
      long: { taskSupport: 'optional' },
      only: { taskSupport: 'required' },
      asks_first: { taskSupport: 'optional' },
      plain: undefined,
    });
  });

  test('is kept to: a tool that is a task only is called as nothing else, and one that is none never as a task', async () => {
    const { session } = await older();
    const { ask } = await session('ada');
    const refused = { code: -32601 };
    expect((await ask('tools/call', { name: 'only', arguments: {} })).error).toMatchObject(refused);
    expect((await ask('tools/call', { name: 'plain', arguments: {}, task: {} })).error).toMatchObject(refused);
    expect((await ask('tools/call', { name: 'at_once', arguments: {} })).result).toMatchObject(words('Done at once.'));
    const wrong = await ask('tools/call', { name: 'long', arguments: {}, task: { ttl: 'long' } });
    expect(wrong.error).toMatchObject({ code: -32602 });
    expect((await ask('tools/call', { name: 'absent', arguments: {}, task: {} })).error?.message).toContain('absent');
  });

  test('a session of an older revision has none of it', async () => {
    const { session } = await older();
    const { ask } = await session('ada', '2025-06-18');
    const call = { name: 'at_once', arguments: {}, task: {} };
    expect((await ask('tools/call', call)).result).toMatchObject(words('Done at once.'));
    expect((await ask('tasks/get', { taskId: 'any' })).error).toMatchObject({ code: -32601 });
  });

  test('update is of the other revision', async () => {
    const { session } = await older();
    const { error } = await (await session('ada')).ask('tasks/update', { taskId: 'any', inputResponses: {} });
    expect(error).toMatchObject({ code: -32601 });
  });
});

describe('whose tasks they are', () => {
  test('another session of the same caller finds them, and nobody else', async () => {
    const { session } = await older();
    const ada = await session('ada');
    const { taskId = '' } = await ada.begin('long');
    const again = await session('ada');
    expect((await again.ask('tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'working' });
    const eve = await session('eve');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const foreign = await eve.ask(method, { taskId });
      const absent = await eve.ask(method, { taskId: 'absent' });
      expect(foreign.error).toMatchObject({ code: -32602 });
      expect(foreign.error?.message.replace(String(taskId), 'absent')).toBe(absent.error?.message);
    }
    expect((await eve.ask('tasks/list')).result).toEqual({ tasks: [] });
  });

  test('they are listed in pages', async () => {
    const { session } = await older();
    const { begin, ask } = await session('ada');
    const ids: Json[] = [];
    for (let at = 0; at < 101; at += 1) ids.push((await begin('at_once')).taskId ?? null);
    const idsOf = ({ result }: Answer) => ((result?.tasks ?? []) as { taskId: string }[]).map(({ taskId }) => taskId);
    const first = await ask('tasks/list');
    const second = await ask('tasks/list', { cursor: first.result?.nextCursor ?? null });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
    expect(second.result).not.toHaveProperty('nextCursor');
    expect((await ask('tasks/list', { cursor: 'none' })).error).toMatchObject({ code: -32602 });
  });

  test('where nobody is told apart, there is no list', async () => {
    const { tools } = taskTools();
    const handle = await serve(await toolHost({ tools }), { http: { port: 0, token: false } });
    open.push(handle);
    const client = new Client({ name: 'c', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(handle.url ?? '')) as never);
    open.push(client);
    expect(client.getServerCapabilities()?.tasks).toEqual({ cancel: {}, requests: { tools: { call: {} } } });
    await expect(client.request({ method: 'tasks/list' }, CallToolResultSchema)).rejects.toMatchObject({
      code: -32601,
    });
  });
});

test('a server that ends cancels its tasks', async () => {
  const { session, ends } = await older();
  const { begin } = await session('ada');
  await begin('long');
  await eventually(() => expect(ends.has('long')).toBe(true));
  const [handle] = open.splice(0);
  await handle?.close();
  expect(ends.get('long')?.signal.aborted).toBe(true);
});

test('the official client of 2025-11-25 runs a task to its end, and is asked in it', async () => {
  const { tools } = taskTools();
  const handle = await serve(await toolHost({ tools }), { http: { port: 0, token: false } });
  open.push(handle);
  const client = new Client({ name: 'c', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { name: 'Ada' } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(handle.url ?? '')) as never);
  open.push(client);
  await client.listTools();
  const kinds: string[] = [];
  let last: unknown;
  for await (const message of client.experimental.tasks.callToolStream(
    { name: 'asks', arguments: {} },
    CallToolResultSchema,
    { task: {} },
  )) {
    kinds.push(message.type);
    last = message;
  }
  expect(kinds[0]).toBe('taskCreated');
  expect(last).toMatchObject({ type: 'result', result: words('Hello, Ada!') });
});
