import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Identity, JsonObject, ToolHost } from '../../contracts/index.ts';
import { ANYONE, type Exchange } from './peer.ts';
import { memoryTaskStore } from './task-store.ts';
import { legacyTask, modernTask, resultOfTask } from './task-wire.ts';
import { tasksOf } from './tasks.ts';

const HOUR = 60 * 60_000;
const ADA: Identity = { agent: 'ada', via: 'gateway' };
const EVE: Identity = { agent: 'eve', via: 'gateway' };
const host: ToolHost = {
  list: () => [],
  call: async () => ({ kind: 'unknown_tool', reasons: [] }),
  onChange: () => () => {},
};
const DONE = { kind: 'result', text: '{"content":[]}', isError: false } as const;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function begun(limits?: Parameters<typeof tasksOf>[2]) {
  const store = memoryTaskStore();
  const tasks = tasksOf(host, store, limits);
  const begin = (who = ADA, ttlMs: Parameters<typeof tasks.begin>[1] = {}) => {
    const task = tasks.begin(who, ttlMs);
    if (!task) throw new Error('no room');
    return task;
  };
  return { store, tasks, begin };
}

describe('how long a task is kept', () => {
  test('as its tool says, else for an hour; what still runs then is cancelled and forgotten', () => {
    const { tasks, begin } = begun();
    const task = begin();
    const short = begin(ADA, { tool: 1_000 });
    vi.advanceTimersByTime(1_000);
    expect(short.signal.aborted).toBe(true);
    expect(short.record.isCancelled).toBe(true);
    expect(() => tasks.find(short.record.id, ADA)).toThrow('Unknown task');
    vi.advanceTimersByTime(HOUR - 1_001);
    expect(task.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(task.signal.aborted).toBe(true);
  });

  test('as its client says, up to a day, and never longer than its tool says', () => {
    const { begin } = begun();
    expect(begin(ADA, { client: 5_000 }).record.ttlMs).toBe(5_000);
    expect(begin(ADA, { client: 1_000 * HOUR }).record.ttlMs).toBe(24 * HOUR);
    expect(begin(ADA, { client: HOUR, tool: 1_000 }).record.ttlMs).toBe(1_000);
  });

  test('long enough to fetch its result, however late that came', () => {
    const { tasks, begin } = begun();
    const task = begin();
    vi.advanceTimersByTime(HOUR - 1);
    tasks.end(task, DONE);
    vi.advanceTimersByTime(10 * 60_000 - 1);
    expect(tasks.find(task.record.id, ADA).end).toEqual(DONE);
    vi.advanceTimersByTime(1);
    expect(() => tasks.find(task.record.id, ADA)).toThrow('Unknown task');
  });
});

describe('how many tasks there are', () => {
  test('so many run for one caller, and another has its own', () => {
    const { tasks, begin } = begun({ running: 2, kept: 10, all: 10 });
    begin();
    const second = begin();
    expect(tasks.begin(ADA, {})).toBeUndefined();
    begin(EVE);
    tasks.end(second, DONE);
    begin();
  });

  test("the caller's oldest result makes room, and nobody else's", () => {
    const { tasks, begin } = begun({ running: 3, kept: 2, all: 3 });
    const foreign = begin(EVE);
    tasks.end(foreign, DONE);
    const first = begin();
    const second = begin();
    expect(tasks.begin(ADA, {})).toBeUndefined();
    tasks.end(second, DONE);
    begin();
    expect(() => tasks.find(second.record.id, ADA)).toThrow('Unknown task');
    expect(tasks.find(first.record.id, ADA)).toBe(first.record);
    expect(tasks.find(foreign.record.id, EVE).end).toEqual(DONE);
  });
});

describe('one task', () => {
  test('ends once: what comes after a cancellation is of no account', () => {
    const { tasks, begin } = begun();
    const task = begin();
    tasks.cancel(task);
    tasks.end(task, DONE);
    expect(task.record.isCancelled).toBe(true);
    expect(task.record.end).not.toEqual(DONE);
    expect(tasks.running(task.record.id)).toBeUndefined();
  });

  test('asks under a key that never comes twice, and goes on when all is answered', async () => {
    const { begin } = begun();
    const task = begin();
    const asked = () => [...task.record.requests.keys()];
    const both = Promise.all([task.ask({ method: 'roots/list' }), task.ask({ method: 'roots/list' })]);
    const [first = '', second = ''] = asked();
    expect(modernTask(task.record).status).toBe('input_required');
    task.answer({ [first]: { roots: [] } });
    expect(asked()).toEqual([second]);
    expect(modernTask(task.record).status).toBe('input_required');
    task.answer({ [second]: { roots: [{ uri: 'file:///a' }] }, [first]: { roots: [{ uri: 'file:///b' }] } });
    expect(await both).toEqual([{ roots: [] }, { roots: [{ uri: 'file:///a' }] }]);
    expect(modernTask(task.record).status).toBe('working');
    const third = task.ask({ method: 'roots/list' }).catch((error: Error) => error.message);
    expect(asked()).not.toContain(first);
    expect(asked()).not.toContain(second);
    task.end(DONE, { ttlMs: HOUR });
    expect(await third).toBe('the task has ended');
  });

  test('lets nobody ask without end', async () => {
    const { begin } = begun();
    const task = begin();
    const answers = Array.from({ length: 101 }, () => task.ask({ method: 'roots/list' }));
    await expect(answers.at(-1)).rejects.toThrow('too many');
    for (const answer of answers) answer.catch(() => {});
    task.end(DONE, { ttlMs: HOUR });
  });

  test('tells its followers of what changes, the end last', () => {
    const { tasks, begin } = begun();
    const task = begin();
    const told: JsonObject[] = [];
    task.follow((record) => told.push(legacyTask(record)));
    task.say('a third');
    void task.ask({ method: 'roots/list' }).catch(() => {});
    tasks.end(task, {
      ...DONE,
      isError: true,
      text: '{"content":[{"type":"text","text":"It broke."}],"isError":true}',
    });
    task.say('more');
    expect(told).toMatchObject([
      { status: 'input_required', statusMessage: 'a third' },
      { status: 'failed', statusMessage: 'It broke.' },
    ]);
  });

  test('answers whoever waits when the server ends', async () => {
    const { tasks, begin } = begun();
    const task = begin();
    const exchange: Exchange = {
      peer: { who: ANYONE, conversation: 'c', era: 'legacy' },
      signal: new AbortController().signal,
      meta: {},
      capabilities: {},
      wantsLog: () => false,
      notify: () => {},
    };
    const waiting = task.wait(exchange);
    tasks.close();
    await waiting;
    expect(legacyTask(task.record)).toMatchObject({
      status: 'cancelled',
      statusMessage: 'The task was cancelled: its server ended.',
    });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('what tasks/result says of its task', () => {
  test.each([
    ['{"content":[]}', { content: [] }],
    ['{}', {}],
    ['{"content":[],"_meta":{}}', { content: [] }],
    ['{"_meta":{"a":1},"content":[]}', { content: [], _meta: { a: 1 } }],
    ['{"resultType":"complete","content":[]}', { content: [] }],
  ])('stands in %s', (text, rest) => {
    const meta = { 'io.modelcontextprotocol/related-task': { taskId: 't' } };
    const { _meta, ...result } = JSON.parse(resultOfTask('t', text)) as { _meta: JsonObject };
    const { _meta: before = {}, ...own } = rest as { _meta?: JsonObject };
    expect(result).toEqual(own);
    expect(_meta).toEqual({ ...before, ...meta });
  });
});
