import { toolHost } from 'bridle';
import type { Identity, Json, JsonObject } from 'bridle/contracts';
import { describe, expect, test } from 'vitest';
import { eventsOf, JSON_RPC, rpc, start } from './http-client.ts';
import { eventually, made, taskTools } from './task-tools.ts';

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const TAKES = { elicitation: { form: {}, url: {} }, extensions: TASKS };

/** A client of 2026-07-28 that knows nothing but HTTP. */
async function modern(tools = taskTools()) {
  const { url } = await start(await toolHost({ tools: tools.tools }));
  const post = (method: string, params: JsonObject, { who = 'ada', capabilities = TAKES as JsonObject } = {}) => {
    const name = params.name ?? params.taskId;
    return fetch(url, {
      method: 'POST',
      headers: {
        ...JSON_RPC,
        'x-who': who,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
      },
      body: JSON.stringify(
        rpc(1, method, {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': capabilities,
          },
        }),
      ),
    });
  };
  const ask = async (...given: Parameters<typeof post>) =>
    (await (await post(...given)).json()) as {
      result?: Record<string, Json>;
      error?: { code: number; message: string };
    };
  const begin = async (name: string, more: JsonObject = {}) => {
    const { result } = await ask('tools/call', { name, arguments: {}, ...more });
    return result ?? {};
  };
  const get = async (taskId: Json | undefined) => (await ask('tasks/get', { taskId: taskId ?? null })).result ?? {};
  const until = (taskId: Json | undefined, status: string) =>
    eventually(async () => {
      const task = await get(taskId);
      expect(task.status).toBe(status);
      return task;
    });
  return { ...tools, post, ask, begin, get, until };
}

const words = (text: string) => ({ content: [{ type: 'text', text }] });

describe('a call that becomes a task, in 2026-07-28', () => {
  test('is answered with the task, which has the result when the call has ended', async () => {
    const { begin, get, until, ends } = await modern();
    const created = await begin('long');
    expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 3_600_000, pollIntervalMs: 1_000 });
    for (const absent of ['result', 'error', 'inputRequests', 'requestState', 'task'])
      expect(created).not.toHaveProperty(absent);
    expect(await get(created.taskId)).toMatchObject({ resultType: 'complete', status: 'working' });
    await eventually(() => expect(ends.has('long')).toBe(true));
    ends.get('long')?.resolve('Done.');
    expect(await until(created.taskId, 'completed')).toMatchObject({ result: words('Done.') });
  });

  test('with an error of its tool it has completed all the same', async () => {
    const { begin, until } = await modern();
    const { taskId } = await begin('fails');
    const task = await until(taskId, 'completed');
    expect(task).toMatchObject({ result: { isError: true } });
    expect(task.statusMessage).toContain('It broke.');
  });

  test('fails with the error that the call would have been answered with', async () => {
    const { begin, until, ask } = await modern();
    const { taskId } = await begin('folders');
    const task = await until(taskId, 'failed');
    expect(task).not.toHaveProperty('result');
    const plain = await ask('tools/call', { name: 'folders', arguments: {} }, { capabilities: { elicitation: {} } });
    expect(task.error).toEqual(plain.error);
    expect(plain.error).toMatchObject({ code: -32021 });
  });

  test('keeps numbers of its result as they were received', async () => {
    const big = '12345678901234567890';
    const tools = taskTools();
    const host = await toolHost({ tools: tools.tools });
    const { url } = await start({
      ...host,
      call: async () => ({
        kind: 'ok',
        isError: false,
        raw: { text: `{"content":[],"structuredContent":{"n":${big}}}`, parse: () => ({ content: [] }) },
      }),
    });
    const say = async (method: string, name: string, params: string) => {
      const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":${JSON.stringify(TAKES)}}`;
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...JSON_RPC, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name },
        body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${params},${meta}}}`,
      });
      return answer.text();
    };
    const created = JSON.parse(await say('tools/call', 'long', '"name":"long","arguments":{}')) as {
      result: { taskId: string };
    };
    const { taskId } = created.result;
    await eventually(async () =>
      expect(await say('tasks/get', taskId, `"taskId":"${taskId}"`)).toContain(`{"n":${big}}`),
    );
  });

  test('asks in its task, and goes on with the answer where it was', async () => {
    const { begin, until, ask } = await modern();
    const { taskId } = await begin('asks');
    const task = await until(taskId, 'input_required');
    expect(task.statusMessage).toBe('Asking.');
    const [[key = '', request] = []] = Object.entries(task.inputRequests as JsonObject);
    expect(request).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } });
    const answered = { nobody: { action: 'accept' }, [key]: { action: 'accept', content: { name: 'Ada' } } };
    const update = await ask('tasks/update', { taskId: taskId ?? null, inputResponses: answered });
    expect(Object.keys(update.result ?? {}).sort()).toEqual(['_meta', 'resultType']);
    expect(await until(taskId, 'completed')).toMatchObject({ result: words('Hello, Ada!') });
  });

  test('sends its person to an address without the name that older revisions gave that', async () => {
    const { begin, until } = await modern();
    const { taskId } = await begin('visits');
    const { inputRequests } = await until(taskId, 'input_required');
    const [request] = Object.values(inputRequests as JsonObject);
    expect(request).toMatchObject({ params: { mode: 'url', url: 'https://example.com/pay' } });
    expect(request).not.toHaveProperty(['params', 'elicitationId']);
  });

  test('is cancelled where its client says so, and its handler hears of it', async () => {
    const { begin, get, ask, ends } = await modern();
    const { taskId = '' } = await begin('long');
    await eventually(() => expect(ends.has('long')).toBe(true));
    expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
    await eventually(() => expect(ends.get('long')?.signal.aborted).toBe(true));
    const task = await get(taskId);
    expect(task.status).toBe('cancelled');
    expect(task).not.toHaveProperty('result');
    expect((await ask('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
  });

  test('outlives the request that began it', async () => {
    const { post, until, ends } = await modern();
    const answer = await post('tools/call', { name: 'long', arguments: {} });
    const { result } = (await answer.json()) as { result: { taskId: string } };
    await eventually(() => expect(ends.has('long')).toBe(true));
    expect(ends.get('long')?.signal.aborted).toBe(false);
    ends.get('long')?.resolve('Still there.');
    expect(await until(result.taskId, 'completed')).toMatchObject({ result: words('Still there.') });
  });
});

describe('who takes tasks', () => {
  test('a client that did not declare the extension gets a result, and never a task', async () => {
    const { ask } = await modern();
    const capabilities = {};
    const { result } = await ask('tools/call', { name: 'at_once', arguments: {} }, { capabilities });
    expect(result).toMatchObject({ resultType: 'complete', ...words('Done at once.') });
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const { error } = await ask(method, { taskId: 'any', inputResponses: {} }, { capabilities });
      expect(error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: TASKS } },
      });
    }
    const only = await ask('tools/call', { name: 'only', arguments: {} }, { capabilities });
    expect(only.error).toMatchObject({ code: -32021 });
  });

  test('a tool without a word on tasks is never one, whatever the request says', async () => {
    const { begin } = await modern();
    expect(await begin('plain', { task: { ttl: 1000 } })).toMatchObject({ resultType: 'complete', ...words('Plain.') });
  });

  test('a server whose tools never are tasks offers none', async () => {
    const { ask } = await modern({ tools: [made('plain', () => 'Plain.')], starts: [], ends: new Map() });
    const { result } = await ask('server/discover', {});
    expect(result?.capabilities).not.toHaveProperty('extensions');
    expect((await ask('tasks/get', { taskId: 'any' })).error).toMatchObject({ code: -32601 });
  });

  test('the extension is offered by a server with such a tool', async () => {
    const { ask } = await modern();
    const { result } = await ask('server/discover', {});
    expect(result?.capabilities).toMatchObject({ extensions: TASKS });
  });

  test('methods of the older revision are unknown', async () => {
    const { ask } = await modern();
    for (const method of ['tasks/result', 'tasks/list'])
      expect((await ask(method, { taskId: 'any' })).error).toMatchObject({ code: -32601, message: 'Method not found' });
  });

  test("another's task is told word for word as one that isn't there", async () => {
    const { begin, ask } = await modern();
    const { taskId = '' } = await begin('long');
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const foreign = await ask(method, { taskId, inputResponses: {} }, { who: 'eve' });
      const absent = await ask(method, { taskId: 'absent', inputResponses: {} }, { who: 'eve' });
      expect(foreign.error).toMatchObject({ code: -32602 });
      expect(foreign.error?.message.replace(String(taskId), 'absent')).toBe(absent.error?.message);
    }
  });
});

describe('a tool whose call becomes a task when it lets its caller go', () => {
  test('asks before that as any call does, and in its task after it', async () => {
    const { begin, until, ask } = await modern();
    const first = await begin('asks_first');
    expect(first).toMatchObject({ resultType: 'input_required' });
    expect(first).not.toHaveProperty('taskId');
    const second = await begin('asks_first', {
      requestState: first.requestState ?? null,
      inputResponses: { who: { action: 'accept', content: { name: 'Ada' } } },
    });
    expect(second).toMatchObject({ resultType: 'task' });
    expect(second).not.toHaveProperty('requestState');
    const { taskId = '' } = second;
    const { inputRequests } = await until(taskId, 'input_required');
    const [key = ''] = Object.keys(inputRequests as JsonObject);
    await ask('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: { name: 'all' } } } });
    expect(await until(taskId, 'completed')).toMatchObject({ result: words('Ada gets all.') });
  });

  test('is answered at once where it ends before that', async () => {
    const { begin } = await modern();
    const first = await begin('asks_first');
    const second = await begin('asks_first', {
      requestState: first.requestState ?? null,
      inputResponses: { who: { action: 'accept', content: { name: 'nobody' } } },
    });
    expect(second).toMatchObject({ resultType: 'complete', ...words('Nothing to do.') });
  });
});

describe('a client that listens for its tasks', () => {
  const listening = (taskIds: Json[]): JsonObject => ({ notifications: { taskIds } });

  test('is told of each change, with what tasks/get says', async () => {
    const { begin, post, get, ask, until } = await modern();
    const { taskId = '' } = await begin('asks');
    const { inputRequests } = await until(taskId, 'input_required');
    const [key = ''] = Object.keys(inputRequests as JsonObject);
    const stream = eventsOf(await post('subscriptions/listen', listening([taskId, 'absent'])));
    expect(await stream.until('subscriptions/acknowledged')).toContain(`"taskIds":["${taskId}"]`);
    await ask('tasks/update', { taskId, inputResponses: { [key]: { action: 'decline' } } });
    const seen = await stream.until('"status":"completed"');
    const told = seen
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Record<string, Json>] : []))
      .filter(({ method }) => method === 'notifications/tasks')
      .map(({ params }) => params as JsonObject);
    const { _meta, resultType: _, ...last } = await get(taskId);
    expect(told.map(({ status }) => status)).toEqual(['working', 'completed']);
    expect(told.at(-1)).toMatchObject(last);
    await stream.cancel();
  });

  test('hears nothing of a task of another, as of none', async () => {
    const { begin, post } = await modern();
    const { taskId = '' } = await begin('long');
    const stream = eventsOf(await post('subscriptions/listen', listening([taskId]), { who: 'eve' }));
    expect(await stream.until('subscriptions/acknowledged')).not.toContain(String(taskId));
    await stream.cancel();
  });

  test('has to take tasks', async () => {
    const { ask } = await modern();
    const { error } = await ask('subscriptions/listen', listening(['any']), { capabilities: {} });
    expect(error).toMatchObject({ code: -32021 });
  });
});

test('someone is who they are with all that they may do', async () => {
  const { begin, ask } = await modern();
  const { taskId = '' } = await begin('long');
  const { error } = await ask('tasks/get', { taskId }, { who: 'ada admin' satisfies Identity['agent'] });
  expect(error).toMatchObject({ code: -32602 });
});
