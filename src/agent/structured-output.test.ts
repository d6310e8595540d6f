import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject, LoopEvent } from '../contracts/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { createAgent } from './create-agent.ts';
import { drain } from './fixtures.ts';
import { replay } from './replay.ts';
import type { OutputOptions } from './structured-output.ts';

const INVOICE = {
  type: 'object',
  properties: {
    lines: { type: 'array', items: { type: 'number', minimum: 0 } },
    total: { type: ['number', 'null'] },
  },
  required: ['lines', 'total'],
} as const;

const sums: OutputOptions['check'] = ({ lines, total }: { lines: number[]; total: number | null }) => {
  if (total === null) return { path: '/total', message: 'is not stated', absent: true };
  const sum = lines.reduce((all, line) => all + line, 0);
  return sum === total ? undefined : { path: '/total', message: `is ${total}, and the lines add up to ${sum}` };
};

const lastOf = (request: JsonObject | undefined) => (Array.isArray(request?.messages) ? request.messages.at(-1) : null);
const json = (value: unknown) => JSON.stringify(value);

const SILENT = { event: () => {}, end: () => {}, intent: async () => {}, outcome: () => {} };

async function ask(
  turns: Parameters<typeof scriptedModel>[0],
  output: OutputOptions,
  input = 'What is on the invoice?',
) {
  const model = scriptedModel(turns);
  const agent = await createAgent({ model, output });
  const events: LoopEvent[] = [];
  const trace = { ...SILENT, event: (event: LoopEvent) => void events.push(event) };
  const run = agent.run(input, { trace });
  const told = await drain(run);
  const result = await run.result;
  await agent.close();
  return { result, told, events, requests: model.requests };
}

describe('a run with an output', () => {
  test('holds the model to the schema in every request, and gives the value', async () => {
    const { result, requests } = await ask([json({ lines: [40, 60], total: 100 })], { schema: INVOICE, check: sums });
    expect(result).toMatchObject({ end: 'answered', output: { value: { lines: [40, 60], total: 100 }, missing: [] } });
    expect(requests[0]?.output_config).toMatchObject({
      format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } },
    });
    // What the API doesn't take stands in words, and is checked here.
    expect(json(requests[0])).toContain('"description":"minimum: 0"');
  });

  test('asks again with exactly what was wrong, and keeps every attempt', async () => {
    const wrong = { lines: [40, 60], total: 90 };
    const { result, requests, told } = await ask([json(wrong), json({ ...wrong, total: 100 })], {
      schema: INVOICE,
      check: sums,
    });
    expect(result).toMatchObject({ end: 'answered', turns: 2, output: { value: { total: 100 } } });
    expect(result.output?.attempts).toEqual([
      { text: json(wrong), value: wrong, issues: [{ path: '/total', message: 'is 90, and the lines add up to 100' }] },
      { text: json({ ...wrong, total: 100 }), value: { ...wrong, total: 100 }, issues: [] },
    ]);
    const again = lastOf(requests[1]);
    expect(again).toMatchObject({ role: 'user' });
    expect(json(again)).toContain('/total: is 90, and the lines add up to 100');
    expect(requests[1]?.output_config).toEqual(requests[0]?.output_config);
    expect(told.filter((event) => event.type === 'checked').map(({ retrying }) => retrying)).toEqual([true, false]);
  });

  test('fails after so many retries, with what is still wrong and without a value', async () => {
    const wrong = json({ lines: [1], total: 2 });
    const { result } = await ask([wrong, wrong], { schema: INVOICE, check: sums, retries: 1 });
    expect(result).toMatchObject({ end: 'failed', turns: 2, error: { code: 'output_invalid' } });
    expect(result.error?.message).toContain('the lines add up to 1');
    expect(result.output?.attempts).toHaveLength(2);
    expect(result.output).not.toHaveProperty('value');
  });

  test('does not ask again for what the source does not say', async () => {
    const { result } = await ask([json({ lines: [1], total: null })], { schema: INVOICE, check: sums });
    expect(result).toMatchObject({ end: 'answered', turns: 1 });
    expect(result.output).toMatchObject({ value: { total: null }, missing: [{ path: '/total', absent: true }] });
  });

  test.each([
    ['is no JSON', 'Here it is: {}', 'is no JSON'],
    ['breaks a rule that only we check', json({ lines: [-1], total: 1 }), '/lines/0'],
    ['lacks a member', json({ lines: [] }), 'total'],
  ])('asks again when the answer %s', async (_, first, words) => {
    const { result, requests } = await ask([first, json({ lines: [1], total: 1 })], { schema: INVOICE, check: sums });
    expect(result.end).toBe('answered');
    expect(json(requests[1]?.messages)).toContain(words);
  });

  test('takes a Zod schema, whose refinements count too', async () => {
    const schema = z
      .object({ from: z.string(), to: z.string() })
      .refine(({ from, to }) => from < to, 'from comes before to');
    const good = { from: '2026-01-01', to: '2026-02-01' };
    const { result, requests } = await ask([json({ from: good.to, to: good.from }), json(good)], { schema });
    expect(result.output).toMatchObject({ value: good });
    expect(json(requests[1]?.messages)).toContain('from comes before to');
  });

  test.each([
    ['refused', 'refusal'],
    ['truncated', 'model_context_window_exceeded'],
  ])('that is %s has no output, whatever its text', async (end, stopReason) => {
    const { result } = await ask([{ text: json({ lines: [1], total: 1 }), stopReason }], { schema: INVOICE });
    expect(result).toMatchObject({ end, output: { attempts: [] } });
    expect(result.output).not.toHaveProperty('value');
  });

  test('ends as failed when the check itself breaks off', async () => {
    const check = () => {
      throw new Error('no such field');
    };
    const { result } = await ask([json({ lines: [1], total: 1 })], { schema: INVOICE, check });
    expect(result).toMatchObject({ end: 'failed', error: { code: 'answer_check_failed' } });
    expect(result.error?.message).toContain('no such field');
  });

  test.each([
    ['an open object', { type: 'object', additionalProperties: { type: 'string' } }],
    ['no object', { type: 'array', items: { type: 'string' } }],
    [
      'more nullable members than the API takes',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`p${at}`, { type: ['string', 'null'] }])),
        required: Array.from({ length: 17 }, (_, at) => `p${at}`),
      },
    ],
  ])('refuses a schema of %s before anything is asked', async (_, schema) => {
    const { result, requests } = await ask(['{}'], { schema });
    expect(result).toMatchObject({ end: 'failed', error: { code: 'output_schema_unusable' } });
    expect(requests).toHaveLength(0);
  });

  test('refuses a document that asks for citations, which have no place in it', async () => {
    const model = scriptedModel(['{}']);
    const agent = await createAgent({ model, output: { schema: INVOICE } });
    const source = { type: 'text', media_type: 'text/plain', data: 'Total: 1' };
    const { end, error } = await agent.run([{ type: 'document', source, citations: { enabled: true } }]).result;
    expect([end, error?.code]).toEqual(['failed', 'output_with_citations']);
    await agent.close();
  });

  test('can be stopped while its answer is checked', async () => {
    const model = scriptedModel([json({ lines: [1], total: 1 })]);
    const check = () => new Promise<undefined>(() => {});
    const agent = await createAgent({ model, output: { schema: INVOICE, check } });
    const run = agent.run('What is on it?');
    for await (const event of run) if (event.type === 'message') run.abort();
    expect(await run.result).toMatchObject({ end: 'aborted', output: { attempts: [] } });
    await agent.close();
  });
});

describe('the journal of a run with an output', () => {
  const turns = [json({ lines: [1], total: 2 }), json({ lines: [1], total: 1 })];
  const output: OutputOptions = { schema: INVOICE, check: sums };

  test('gives its messages again, what was asked again included', async () => {
    const { result, events } = await ask(turns, output);
    const end = { v: 1, at: 9, type: 'end', how: 'answered', detail: {} } as const;
    const { messages } = await replay([...events, end]);
    expect(messages).toEqual(result.messages);
    expect(messages).toHaveLength(4);
  });

  test.each([
    ['before the check', 0],
    ['after the check, before it was asked again', 1],
  ])('that breaks off %s goes on there, and the answer is held to the same', async (_, more) => {
    const { result, events } = await ask(turns, output);
    const cut = events.findIndex((event) => event.type === 'checked') + more;
    const model = scriptedModel(turns.slice(1));
    const agent = await createAgent({ model });
    const journal = { ...SILENT, events: () => events.slice(0, cut) };
    const resumed = await agent.resume(journal, { output }).result;
    expect(resumed).toMatchObject({ end: 'answered', output: { value: { total: 1 } } });
    expect(resumed.output?.attempts).toEqual(result.output?.attempts);
    await agent.close();
  });

  test('fails where the program that goes on with it has no check', async () => {
    const { events } = await ask(turns, output);
    const cut = events.findIndex((event) => event.type === 'checked');
    const agent = await createAgent({ model: scriptedModel([]) });
    const journal = { ...SILENT, events: () => events.slice(0, cut) };
    expect(await agent.resume(journal).result).toMatchObject({ end: 'failed', error: { code: 'output_unchecked' } });
    await agent.close();
  });
});
