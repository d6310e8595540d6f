import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallOutcomeRecord, IntentRecord, Outcome, TraceEvent } from '../contracts/index.ts';
import { rawFrom, rawJson } from '../tools/index.ts';
import { decision, definition } from './fixtures.ts';
import { listTraces, readTrace } from './read-trace.ts';
import { createTrace, type TraceOptions } from './trace.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trace-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const WHO = { agent: 'tester', via: 'library' } as const;
const open = (more: Partial<TraceOptions> = {}) =>
  createTrace({ dir, run: 'run-1', agent: 'tester', model: 'offline', task: 'Say hello.', ...more });

function intent(more: Partial<IntentRecord> = {}): IntentRecord {
  const { ref, effect } = definition('work');
  return {
    callId: 'c',
    conversation: 'v',
    who: WHO,
    ref,
    effect,
    args: { a: 1 },
    argsDigest: 'd',
    decision: decision('allow'),
    ...more,
  };
}

function ended(outcome: Outcome, more: Partial<CallOutcomeRecord> = {}): CallOutcomeRecord {
  return {
    callId: 'c',
    conversation: 'v',
    who: WHO,
    name: 'work',
    args: {},
    startedAt: 1,
    ms: 2,
    attempts: 1,
    outcome,
    ...more,
  };
}

async function read(file: string, onSkipped?: (line: number) => void): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  for await (const event of readTrace(file, onSkipped)) events.push(event);
  return events;
}

const DONE: Outcome = { kind: 'ok', raw: rawJson('{"content": []}'), isError: false, content: 'shaped' };

describe('writing', () => {
  test('a run is written in order, as lines of version 1 behind a header', async () => {
    const trace = await open();
    await trace.intent(intent());
    trace.outcome(ended(DONE));
    trace.event({ v: 1, at: 5, type: 'input', content: 'hello\u2028there' });
    trace.end('answered', { turns: 1 });
    await trace.close();
    const events = await read(trace.path);
    expect(events.map(({ v, type }) => [v, type])).toEqual([
      [1, 'run'],
      [1, 'decided'],
      [1, 'call'],
      [1, 'input'],
      [1, 'end'],
    ]);
    expect(events[0]).toMatchObject({ run: 'run-1', agent: 'tester', model: 'offline', task: 'Say hello.' });
    expect(events[3]).toMatchObject({ content: 'hello\u2028there' });
    expect(trace.lost()).toBe(0);
  });

  test('an intent is in the file when its promise resolves', async () => {
    const trace = await open();
    await Promise.all(['one', 'two', 'three'].map((callId) => trace.intent(intent({ callId }))));
    const events = await read(trace.path);
    expect(events.flatMap((event) => (event.type === 'decided' ? [event.intent.callId] : []))).toEqual([
      'one',
      'two',
      'three',
    ]);
    await trace.close();
  });

  test('only the owner may read the file and the folder that was made for it', async () => {
    const trace = await open({ dir: join(dir, 'deep', 'traces') });
    await trace.close();
    expect((await stat(trace.path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'deep', 'traces'))).mode & 0o777).toBe(0o700);
  });

  test.each(['../../outside', '/etc/outside', '', '.', 'a/b', 'x'.repeat(300), 'con\u0000trol'])(
    'a run called %j stays in its folder',
    async (run) => {
      const trace = await open({ run });
      await trace.close();
      expect(trace.path.startsWith(`${dir}/`)).toBe(true);
      expect(trace.path.slice(dir.length + 1)).not.toContain('/');
      expect((await listTraces(dir)).map((one) => one.run)).toEqual([run]);
    },
  );

  test('an intent that can not be written rejects, and one that need not be durable is counted', async () => {
    const trace = await open();
    await trace.close();
    await expect(trace.intent(intent())).rejects.toThrow('closed');
    await trace.intent(intent({ effect: 'read' }));
    trace.outcome(ended(DONE));
    await trace.close();
    expect(trace.lost()).toBe(2);
  });

  test('a folder that can not be made is named, with what to do', async () => {
    await writeFile(join(dir, 'file'), '');
    const opened = open({ dir: join(dir, 'file', 'traces') });
    await expect(opened).rejects.toMatchObject({ code: 'trace_not_writable', hint: expect.stringContaining('folder') });
  });

  test('arguments and facts that are too long are cut, and the cut is noted', async () => {
    const trace = await open();
    const args = { text: 'x'.repeat(1_000_000) };
    await trace.intent(intent({ args, facts: args }));
    trace.outcome(ended(DONE, { args }));
    await trace.close();
    expect((await stat(trace.path)).size).toBeLessThan(20_000);
    const [, decided, call] = await read(trace.path);
    const note = { 'bridle/cut': { characters: 1_000_011, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } };
    expect(decided).toMatchObject({ intent: { args: note, facts: note } });
    expect(call).toMatchObject({ call: { args: note } });
  });

  test('a result that is too long is noted in the line of the call, and whole in the event of the loop', async () => {
    const trace = await open();
    const big: Outcome = {
      kind: 'ok',
      raw: rawFrom({ content: [{ type: 'text', text: 'x'.repeat(1_000_000) }] }),
      isError: false,
    };
    trace.outcome(ended(big));
    trace.event({ v: 1, at: 1, type: 'outcome', callId: 'c', outcome: big });
    await trace.close();
    const [, call, event] = await read(trace.path);
    if (call?.type !== 'call' || event?.type !== 'outcome') throw new Error('other events than were written');
    if (call.call.outcome.kind !== 'ok' || event.outcome.kind !== 'ok') throw new Error('other outcomes');
    expect(call.call.outcome.raw.parse()).toMatchObject({
      _meta: { 'bridle/cut': { characters: big.raw.text.length } },
    });
    expect(event.outcome.raw.text).toBe(big.raw.text);
  });
});

describe('reading', () => {
  test('raw JSON comes back as the text that it was, and parses', async () => {
    const trace = await open();
    const failure = {
      category: 'business',
      retryable: false,
      message: 'No.',
      executed: 'executed',
      attempts: [],
      partial: rawJson('{ "n": 1.0 }'),
    } as const;
    trace.outcome(ended(DONE));
    trace.outcome(ended({ kind: 'failed', failure }));
    trace.outcome(ended({ kind: 'input_required', requests: rawJson('[ ]') }));
    await trace.close();
    const outcomes = (await read(trace.path)).flatMap((event) => (event.type === 'call' ? [event.call.outcome] : []));
    expect(outcomes).toMatchObject([
      { kind: 'ok', raw: { text: '{"content": []}' } },
      { kind: 'failed', failure: { partial: { text: '{ "n": 1.0 }' } } },
      { kind: 'input_required', requests: { text: '[ ]' } },
    ]);
    expect(outcomes[0]?.kind === 'ok' && outcomes[0].raw.parse()).toEqual({ content: [] });
    expect(outcomes[0]).not.toHaveProperty('content');
  });

  test('a torn last line is passed over, and a run that goes on after it loses nothing', async () => {
    const first = await open();
    await first.intent(intent({ callId: 'before' }));
    await first.close();
    await appendFile(first.path, '{"v":1,"at":3,"type":"deci');
    expect((await read(first.path)).map(({ type }) => type)).toEqual(['run', 'decided']);
    const second = await open();
    await second.intent(intent({ callId: 'after' }));
    await second.close();
    const skipped: number[] = [];
    const events = await read(first.path, (line) => skipped.push(line));
    expect(events.map(({ type }) => type)).toEqual(['run', 'decided', 'decided']);
    expect(skipped).toEqual([3]);
  });

  test('lines that are no events, or of another version, are passed over', async () => {
    const file = join(dir, 'other.jsonl');
    const lines = [
      'null',
      '[]',
      '3',
      '{"v":2,"type":"run"}',
      '{"v":1,"type":"call"}',
      '{"v":1,"type":"call","call":{"outcome":{"kind":"ok"}}}',
      '',
    ];
    await writeFile(file, `${lines.join('\n')}\n{"v":1,"at":1,"type":"end","how":"answered","detail":null}\n`);
    expect((await read(file)).map(({ type }) => type)).toEqual(['end']);
  });

  test('a character that stands across two reads of the file is whole', async () => {
    const trace = await open();
    const text = 'ä😀'.repeat(100_000);
    trace.event({ v: 1, at: 1, type: 'input', content: text });
    await trace.close();
    expect((await read(trace.path))[1]).toMatchObject({ content: text });
  });

  test('a trace that is not there is named', async () => {
    await expect(read(join(dir, 'none.jsonl'))).rejects.toMatchObject({ code: 'trace_not_found' });
  });
});

describe('listing', () => {
  test('the newest run comes first, with how it ended and how many calls it made', async () => {
    const line = (at: number, run: string) =>
      `${JSON.stringify({ v: 1, at, type: 'run', run, agent: 'a', model: 'm', task: 't', bridle: '0' })}\n`;
    await writeFile(join(dir, 'old.jsonl'), line(1_000, 'old'));
    await writeFile(join(dir, 'new.jsonl'), line(2_000, 'new'));
    const trace = await open();
    trace.outcome(ended(DONE));
    trace.outcome(ended(DONE));
    trace.end('answered', null);
    await trace.close();
    const list = await listTraces(dir);
    expect(list.map(({ run, calls, end }) => [run, calls, end])).toEqual([
      ['run-1', 2, 'answered'],
      ['new', 0, undefined],
      ['old', 0, undefined],
    ]);
    expect(list[2]).toMatchObject({ file: join(dir, 'old.jsonl'), startedAt: 1_000, task: 't' });
  });

  test('what is not a trace is left out, and a folder that is not there has none', async () => {
    await writeFile(join(dir, 'notes.txt'), 'x');
    await writeFile(join(dir, 'broken.jsonl'), 'x');
    expect(await listTraces(dir)).toEqual([]);
    expect(await listTraces(join(dir, 'none'))).toEqual([]);
  });

  test('the header stands once, however often a run goes on', async () => {
    for (let n = 0; n < 3; n += 1) await (await open()).close();
    expect((await readFile(join(dir, 'run-1.jsonl'), 'utf8')).split('\n')).toHaveLength(2);
  });
});
