import { describe, expect, test } from 'vitest';
import type { Json, Outcome, SourceResult } from '../contracts/index.ts';
import { outcomeToToolResult, rawFrom, rawJson } from '../tools/index.ts';
import { bench, definition, fakeSource, manualClock, ok } from './fixtures.ts';
import { resultReader } from './result-reader.ts';
import { createResultStore } from './result-store.ts';

const TYPED = definition('count', {
  outputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
});

function structured(value: Json): SourceResult {
  return { kind: 'result', raw: rawFrom({ content: [], structuredContent: value }), isError: false };
}

describe('output schema', () => {
  const run = (answer: SourceResult, profile: 'agent' | 'relay' = 'agent') =>
    bench([TYPED], fakeSource({ count: () => answer })).call('count', {}, { profile });

  test('a result that matches is an ordinary one', async () => {
    expect(await run(structured({ n: 3 }))).toMatchObject({ kind: 'ok', content: '{"n":3}' });
  });

  test('a result that does not match has run all the same: the data is kept, the wrong field named', async () => {
    const outcome = await run(structured({ n: 'three' }));
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { category: 'validation', executed: 'executed', retryable: false },
    });
    if (outcome.kind !== 'failed') return;
    expect(outcome.failure.message).toContain('/n');
    expect(outcome.failure.partial?.parse()).toMatchObject({ structuredContent: { n: 'three' } });
  });

  test('a result without the promised structure does not match', async () => {
    expect(await run(ok('3'))).toMatchObject({ kind: 'failed', failure: { executed: 'executed' } });
  });

  test('an error is not held to the output schema', async () => {
    expect(await run({ ...ok('no'), isError: true } as SourceResult)).toMatchObject({ kind: 'ok', isError: true });
  });

  test('the relay passes on what came', async () => {
    const raw = rawJson('{ "structuredContent": {"n": "three"}, "content": [] }');
    const outcome = await run({ kind: 'result', raw, isError: false }, 'relay');
    expect(outcome).toEqual({ kind: 'ok', raw, isError: false });
  });

  test('an output schema that can not be used costs the check, not the result, and is told', async () => {
    const events: unknown[] = [];
    const tool = definition('count', { outputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } });
    const { call } = bench([tool], fakeSource({ count: () => structured({ n: 3 }) }));
    const outcome = await call('count', {}, { ctx: { onEvent: ({ raw }) => void events.push(raw.parse()) } });
    expect(outcome.kind).toBe('ok');
    expect(events).toMatchObject([{ level: 'warning' }]);
  });
});

describe('size', () => {
  const BIG = `${'0123456789'.repeat(1_000)}THE END`;
  const setup = (answer: () => SourceResult, maxResultChars = 1_000) => {
    const results = createResultStore();
    const reader = resultReader(results);
    const source = fakeSource({ big: answer });
    const big = definition('big');
    const find = (name: string) => {
      if (name === big.ref.name) return { tool: big, source };
      return name === 'read_result' && readTool ? { tool: readTool, source: reader } : undefined;
    };
    let readTool: Parameters<typeof bench>[0][number] | undefined;
    const made = bench([], source, { find, results, limits: { maxResultChars } });
    return {
      ...made,
      async ready() {
        readTool = (await reader.list(new AbortController().signal)).tools[0];
      },
      read: (args: Json, conversation = 'c1', agent = 'tester') =>
        made.call('', args, { name: 'read_result', conversation, ctx: { who: { agent, via: 'library' } } }),
    };
  };
  const contentOf = (outcome: Outcome) => (outcome.kind === 'ok' ? String(outcome.content) : JSON.stringify(outcome));
  const handleIn = (text: string) => /res_[0-9a-f]+/.exec(text)?.[0] ?? '';

  async function readAll(b: ReturnType<typeof setup>, handle: string): Promise<string> {
    let text = '';
    for (let offset = 0, turn = 0; turn < 100; turn += 1) {
      const part = await b.read({ result: handle, offset });
      if (part.kind !== 'ok') throw new Error(contentOf(part));
      const { content } = part.raw.parse() as { content: { text: string }[] };
      expect(contentOf(part).length).toBeLessThanOrEqual(1_000);
      expect(contentOf(part)).not.toContain('[cut:');
      text += content[0]?.text;
      const next = /offset (\d+)/.exec(content[1]?.text ?? '');
      if (!next) break;
      offset = Number(next[1]);
    }
    return text;
  }

  test('a long result is cut for the model, whole for everyone else, and can be read to its end', async () => {
    const b = setup(() => ok(BIG));
    await b.ready();
    const outcome = await b.call('mcp__shop__big');
    const content = contentOf(outcome);
    expect(content.length).toBeLessThanOrEqual(1_000);
    expect(outcome.kind === 'ok' && outcome.raw.text).toContain('THE END');
    expect(await readAll(b, handleIn(content))).toBe(BIG);
  });

  test('parts never split a character', async () => {
    const text = '😀'.repeat(3_000);
    const b = setup(() => ok(text));
    await b.ready();
    expect(await readAll(b, handleIn(contentOf(await b.call('mcp__shop__big'))))).toBe(text);
  });

  test('a handle of another conversation or agent reads like one that does not exist', async () => {
    const b = setup(() => ok(BIG));
    await b.ready();
    const handle = handleIn(contentOf(await b.call('mcp__shop__big')));
    expect((await b.read({ result: handle })).kind).toBe('ok');
    const made = handle.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const words = (outcome: Outcome) => JSON.stringify(outcome).replaceAll(handle, 'H').replaceAll(made, 'H');
    const absent = words(await b.read({ result: made }));
    expect(words(await b.read({ result: handle }, 'c2'))).toBe(absent);
    expect(words(await b.read({ result: handle }, 'c1', 'other'))).toBe(absent);
    expect(absent).toContain('no kept result');
  });

  test('an offset past the end is named as such', async () => {
    const b = setup(() => ok(BIG));
    await b.ready();
    const handle = handleIn(contentOf(await b.call('mcp__shop__big')));
    expect(contentOf(await b.read({ result: handle, offset: 99_999 }))).toContain('past the end');
  });

  test('what a failure carries keeps to the budget too, and can be read on', async () => {
    const failure = {
      category: 'business',
      retryable: false,
      message: 'm'.repeat(50_000),
      executed: 'executed',
      attempts: [],
      partial: rawFrom({ content: [{ type: 'text', text: BIG }] }),
    } as const;
    const b = setup(() => ({ kind: 'failure', failure }));
    await b.ready();
    const outcome = await b.call('mcp__shop__big');
    const block = JSON.stringify(outcomeToToolResult('toolu_1', outcome));
    expect(block.length).toBeLessThan(4_000);
    expect(await readAll(b, handleIn(block))).toBe(BIG);
  });
});

test('a long failure of several tries keeps to the budget, tries included', async () => {
  const failure = {
    category: 'transient',
    retryable: true,
    message: 'm'.repeat(50_000),
    executed: 'not_executed',
    attempts: [],
    alternatives: ['a'.repeat(50_000)],
  } as const;
  const clock = manualClock();
  const source = fakeSource({ big: () => ({ kind: 'failure', failure }) });
  const { call } = bench([definition('big')], source, { clock, limits: { maxResultChars: 2_000 } });
  const outcome = await clock.until(call('big'));
  expect(source.calls.length).toBeGreaterThan(1);
  expect(JSON.stringify(outcomeToToolResult('toolu_1', outcome)).length).toBeLessThan(12_000);
});

test("a source's own limit on what is shown holds, as far as the host's lets it", async () => {
  const big = () => ok('x'.repeat(30_000));
  const shown = async (own: number, cap?: number) => {
    const source = { ...fakeSource({ big }), limits: { maxResultChars: own } };
    const outcome = await bench([definition('big')], source, cap ? { limits: { maxResultChars: cap } } : {}).call(
      'big',
    );
    return JSON.stringify(outcome.kind === 'ok' ? outcome.content : outcome).length;
  };
  expect(await shown(2_000)).toBeLessThan(3_000);
  expect(await shown(20_000, 2_000)).toBeLessThan(3_000);
  expect(await shown(60_000)).toBeGreaterThan(30_000);
});

describe('the store of results', () => {
  const owner = { who: { agent: 'a', via: 'library' }, conversation: 'c' } as const;

  test('what was used longest ago makes room, by number', () => {
    const store = createResultStore({ maxResults: 2 });
    const first = store.keep(owner, 'one');
    const second = store.keep(owner, 'two');
    store.read(owner, first);
    const third = store.keep(owner, 'three');
    expect([first, second, third].map((handle) => store.read(owner, handle))).toEqual(['one', undefined, 'three']);
  });

  test('what was used longest ago makes room, by size', () => {
    const store = createResultStore({ maxChars: 10 });
    const first = store.keep(owner, '12345678');
    const second = store.keep(owner, '12345');
    expect(store.read(owner, first)).toBeUndefined();
    expect(store.read(owner, second)).toBe('12345');
  });

  test('a text larger than all there is room for is not kept, and costs nothing later', () => {
    const store = createResultStore({ maxChars: 10 });
    expect(store.read(owner, store.keep(owner, '12345678901'))).toBeUndefined();
    const handle = store.keep(owner, '1234567890');
    expect(store.read(owner, handle)).toBe('1234567890');
  });

  test('the same text kept twice is kept once', () => {
    const store = createResultStore({ maxChars: 10 });
    const first = store.keep(owner, '123456');
    expect(store.keep(owner, '123456')).toBe(first);
    expect(store.read(owner, first)).toBe('123456');
  });
});
