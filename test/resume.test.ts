import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAgent, replay, type UnsureAnswer } from '../src/agent/index.ts';
import type { Json } from '../src/contracts/index.ts';
import { readTraceLine, traceLine } from '../src/dispatch/trace-lines.ts';
import { checkMessagesRequest, scriptedModel } from '../src/testing/index.ts';
import { defineTool } from '../src/tools/index.ts';
import {
  ANSWER,
  type BreakPoint,
  CONVERSATION,
  memoryJournal,
  resultsIn,
  resumeWorld,
  WRITES,
} from './helpers/resume-world.ts';
import { statedCounts } from './helpers/stated-counts.ts';
import { propertySeed } from './helpers/property-seed.ts';

const library = { createAgent, defineTool };
const RUNS = Number(process.env.BRIDLE_PROPERTY_RUNS ?? 60);
const SEED = propertySeed();
const TIMEOUT_MS = 600_000;

/** What happened so far, over all processes that a run had. */
interface History {
  readonly lines: string[];
  readonly effects: string[];
  readonly asked: string[];
}

function nothingYet(): History {
  return { lines: [], effects: [], asked: [] };
}

/** Begins the run, or goes on with it, until it ends or breaks off. True when it ended. */
async function live(
  history: History,
  breakAt: BreakPoint | undefined,
  answer: UnsureAnswer = 'unknown',
): Promise<{ readonly messages: readonly Json[]; readonly text: string; readonly error?: { code: string } } | null> {
  let broken: () => void = () => {};
  const breaking = new Promise<null>((resolve) => {
    broken = () => resolve(null);
  });
  const world = resumeWorld(library, {
    effect: (line) => history.effects.push(line),
    request: (body) => expect(checkMessagesRequest(body)).toEqual([]),
    breakAt,
    broken,
  });
  const agent = await world.agent();
  const memory = memoryJournal(traceLine, readTraceLine, history.lines);
  const trace = world.journal(memory.journal);
  const hasInput = memory.journal.events().some(({ type }) => type === 'input');
  const run = hasInput
    ? agent.resume(trace, {
        unsure: (call) => {
          history.asked.push(`${call.name} ${(call.args as { n: number }).n}`);
          return answer;
        },
      })
    : agent.run('Do it all.', { trace, conversation: CONVERSATION });
  const ended = await Promise.race([run.result, breaking]);
  if (breakAt === undefined) await agent.close();
  return ended;
}

/** How many lines a run that nothing disturbs writes. */
async function wholeRun(): Promise<{ readonly lines: number; readonly results: ReadonlyMap<string, string> }> {
  const history = nothingYet();
  const ended = await live(history, undefined);
  expect(ended).toMatchObject({ end: 'answered', text: ANSWER });
  expect(history.effects.filter((line) => WRITES.includes(line))).toEqual(WRITES);
  return { lines: history.lines.length, results: resultsIn(ended?.messages ?? []) };
}

function checkEnd(
  history: History,
  ended: Awaited<ReturnType<typeof live>>,
  results: ReadonlyMap<string, string>,
): void {
  expect(ended).toMatchObject({ end: 'answered', text: ANSWER });
  const messages = ended?.messages ?? [];
  expect(
    checkMessagesRequest({ max_tokens: 1, messages: [...messages, { role: 'user', content: 'And now?' }] }),
  ).toEqual([]);
  for (const write of WRITES) {
    const times = history.effects.filter((line) => line === write).length;
    expect(times, `${write} with ${history.effects.join(', ')}`).toBeLessThanOrEqual(1);
    // One that didn't run, or of which nobody knows, was asked about.
    if (times === 0) expect(history.asked).toContain(write);
  }
  const found = resultsIn(messages);
  expect([...found.keys()]).toEqual([...results.keys()]);
  for (const [id, text] of found) {
    if (text !== results.get(id)) expect(text).toContain('not known');
  }
}

test(
  'a run that breaks off after any line of its journal goes on from there, and no write is made twice',
  async () => {
    const { lines, results } = await wholeRun();
    let points = 0;
    for (const mode of ['at_once', 'late'] as const) {
      for (let line = 1; line < lines; line++) {
        const history = nothingYet();
        expect(await live(history, { line, mode })).toBeNull();
        checkEnd(history, await live(history, undefined), results);
        points += 1;
      }
    }
    expect(points).toBeGreaterThan(80);
    const said = `${points} points at which the run was broken off`;
    console.info(said);
    expect(statedCounts()).toContain(said);
  },
  TIMEOUT_MS,
);

test(
  'a run may break off again and again',
  async () => {
    const { results } = await wholeRun();
    const point = fc.record({
      line: fc.integer({ min: 1, max: 40 }),
      mode: fc.constantFrom<BreakPoint['mode']>('at_once', 'late'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(point, { minLength: 2, maxLength: 5 }), async (points) => {
        const history = nothingYet();
        let ended: Awaited<ReturnType<typeof live>> = null;
        for (const at of points) {
          ended = await live(history, at);
          if (ended !== null || history.lines.at(-1)?.includes('"type":"end"')) return;
        }
        checkEnd(history, await live(history, undefined), results);
        expect(
          (await replay(memoryJournal(traceLine, readTraceLine, history.lines).journal.events())).conversation,
        ).toBe(CONVERSATION);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    console.info(`${RUNS} runs that broke off again and again (seed ${SEED})`);
  },
  TIMEOUT_MS,
);

test('a write that may have run is made again only when somebody says so', async () => {
  // The first line in which the write `send 1` is decided on, and the run ends as late as it can.
  const whole = nothingYet();
  await live(whole, undefined);
  const line = whole.lines.findIndex((each) => each.includes('"type":"decided"') && each.includes('"send"')) + 1;
  for (const [answer, times, says] of [
    ['run_again', 2, '"sent'],
    ['took_effect', 1, 'took effect'],
    ['unknown', 1, 'not known'],
  ] as const) {
    const history = nothingYet();
    expect(await live(history, { line, mode: 'late' })).toBeNull();
    const ended = await live(history, undefined, answer);
    expect(history.asked).toEqual(['send 1']);
    expect(history.effects.filter((each) => each === 'send 1')).toHaveLength(times);
    expect(
      resultsIn(ended?.messages ?? [])
        .get('toolu_0_2')
        ?.replaceAll('\\', ''),
    ).toContain(says);
    const records = memoryJournal(traceLine, readTraceLine, history.lines).journal.events();
    expect(records.filter((each) => each.type === 'call' && each.call.callId === 'toolu_0_2')).toHaveLength(1);
  }
});

test('journals of earlier versions go on, with the same tools', async () => {
  const tools = [
    defineTool({ name: 'get_order', description: 'Looks up an order.', input: ORDER, effect: 'read' }, ({ id }) => ({
      id,
    })),
    defineTool({ name: 'refund', description: 'Refunds an order.', input: ORDER, effect: 'write' }, ({ id }) => ({
      id,
    })),
  ];
  for (const [name, replies, asked, results] of [
    ['v1-killed-in-reads', [{ calls: [{ name: 'refund', id: 'toolu_z', input: { id: 'O-1' } }] }, 'Done.'], 0, 3],
    ['v1-killed-in-a-write', ['Done.'], 1, 4],
    ['v1-killed-chat', ['Done.'], 0, 1],
  ] as const) {
    const lines = (await readFile(new URL(`fixtures/journals/${name}.jsonl`, import.meta.url), 'utf8')).split('\n');
    const { journal } = memoryJournal(traceLine, readTraceLine, lines);
    const model = scriptedModel([...replies]);
    const agent = await createAgent({ name: 'main', model, tools, permissions: { allow: ['get_order', 'refund'] } });
    let questions = 0;
    const { end, messages } = await agent.resume(journal, {
      unsure: () => {
        questions += 1;
        return 'took_effect';
      },
    }).result;
    expect(end, name).toBe('answered');
    expect(questions, name).toBe(asked);
    expect(resultsIn(messages).size, name).toBe(results);
    expect(checkMessagesRequest({ max_tokens: 1, messages })).toEqual([]);
    await agent.close();
  }
  for (const name of ['v1-run', 'v1-chat']) {
    const lines = (await readFile(new URL(`fixtures/journals/${name}.jsonl`, import.meta.url), 'utf8')).split('\n');
    const events = lines.flatMap((line) => readTraceLine(line) ?? []);
    expect(events).toHaveLength(lines.length - 1);
    const { messages } = await replay(events);
    expect((messages.at(-1) as { role: string }).role).toBe('assistant');
    const agent = await createAgent({ model: scriptedModel([]), tools });
    const { error } = await agent.resume(memoryJournal(traceLine, readTraceLine, lines).journal).result;
    expect(error?.code).toBe('run_ended');
  }
});

const ORDER = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } as const;
