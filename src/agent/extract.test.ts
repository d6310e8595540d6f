import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '../contracts/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { extract, recordType } from './extract.ts';

const invoice = recordType({
  name: 'invoice',
  description: 'A standalone invoice: number, lines, total.',
  schema: {
    type: 'object',
    properties: {
      number: { type: ['string', 'null'] },
      lines: { type: 'array', items: { type: 'number' } },
      total: { type: ['number', 'null'] },
    },
    required: ['number', 'lines', 'total'],
  },
  check: ({ number, lines, total }) => {
    const sum = lines.reduce((all, line) => all + line, 0);
    return [
      ...(number === null ? [{ path: '/number', message: 'is not stated', absent: true }] : []),
      ...(total !== null && total !== sum ? [{ path: '/total', message: `is ${total}, the lines make ${sum}` }] : []),
    ];
  },
});
const contract = recordType({
  name: 'contract',
  description: 'An agreement, also one that speaks of invoices.',
  schema: {
    type: 'object',
    properties: { parties: { type: 'array', items: { type: 'string' } } },
    required: ['parties'],
  },
});

const GOOD = { number: 'R-1', lines: [40, 60], total: 100 };
const call = (name: string, input: object) => ({ calls: [{ name, input: input as JsonObject }] });
const toolsOf = (request: JsonObject | undefined) =>
  Array.isArray(request?.tools) ? (request.tools as JsonObject[]) : [];
const reasoned = { choice_reason: z.string() };
const why = { choice_reason: 'It bills for goods.' };

async function play(turns: Parameters<typeof scriptedModel>[0], more: Partial<Parameters<typeof extract>[0]> = {}) {
  const model = scriptedModel(turns);
  const extraction = await extract({ model, input: 'Invoice R-1', types: [invoice, contract], ...more });
  return { extraction, requests: model.requests };
}

describe('an extraction', () => {
  test('is the call of the tool that fits, with the reason for it, and ends there', async () => {
    const { extraction, requests } = await play([call('extract_invoice', { ...why, ...GOOD })]);
    expect(extraction).toMatchObject({ status: 'extracted', type: 'invoice', value: GOOD, reason: why.choice_reason });
    expect(extraction.run).toMatchObject({ end: 'answered', turns: 1 });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ tool_choice: { type: 'any', disable_parallel_tool_use: true } });
    const tools = toolsOf(requests[0]);
    expect(tools.map(({ name }) => name)).toEqual(['extract_invoice', 'extract_contract', 'no_record']);
    expect(tools.every(({ strict }) => strict === true)).toBe(true);
  });

  test('by a verified type offers that tool alone, and keeps who verified it', async () => {
    const { extraction, requests } = await play([call('extract_invoice', GOOD)], {
      verified: { type: 'invoice', by: 'the accounting inbox' },
    });
    expect(extraction).toMatchObject({ status: 'extracted', reason: 'verified by the accounting inbox' });
    expect(requests[0]).toMatchObject({ tool_choice: { type: 'tool', name: 'extract_invoice' } });
    expect(requests[0]?.tools).toHaveLength(1);
    expect(JSON.stringify(requests[0]?.tools)).not.toContain('choice_reason');
  });

  test('is tried again with exactly what was wrong, in the result of its call, and every attempt is kept', async () => {
    const { extraction, requests } = await play([
      call('extract_invoice', { ...why, ...GOOD, total: 90 }),
      call('extract_invoice', { ...why, ...GOOD, total: 'a lot' }),
      call('extract_invoice', { ...why, ...GOOD }),
    ]);
    expect(extraction).toMatchObject({ status: 'extracted', value: GOOD });
    expect(extraction.attempts.map(({ isTaken }) => isTaken)).toEqual([false, false, true]);
    expect(extraction.attempts[0]).toMatchObject({
      value: { total: 90 },
      issues: [{ path: '/total', message: 'is 90, the lines make 100' }],
    });
    expect(extraction.attempts[1]?.issues[0]?.message).toContain('total');
    const result = JSON.stringify(requests[1]?.messages);
    expect(result).toContain('is 90, the lines make 100');
    expect(result).toContain('"is_error":true');
  });

  test('that still does not hold after the retries is invalid, and has no value', async () => {
    const wrong = (total: number) => call('extract_invoice', { ...why, ...GOOD, total });
    const { extraction } = await play([wrong(1), wrong(2)], { retries: 1 });
    expect(extraction).toMatchObject({ status: 'invalid', type: 'invoice', run: { end: 'limit' } });
    expect(extraction).not.toHaveProperty('value');
    expect(extraction.attempts).toHaveLength(2);
  });

  test('is not tried again for what the document does not say', async () => {
    const { extraction } = await play([call('extract_invoice', { ...why, ...GOOD, number: null })]);
    expect(extraction).toMatchObject({ status: 'incomplete', value: { number: null }, run: { turns: 1 } });
    expect(extraction.missing).toEqual([{ path: '/number', message: 'is not stated', absent: true }]);
  });

  test('says why there is none when no type fits', async () => {
    const { extraction } = await play([call('no_record', { reason: 'It is a recipe.' })]);
    expect(extraction).toMatchObject({ status: 'none', reason: 'It is a recipe.', attempts: [] });
  });

  test.each([
    ['refused', { text: 'No.', stopReason: 'refusal' }],
    ['answered', 'Which document do you mean?'],
  ])('of a run that is %s is none', async (end, turn) => {
    const { extraction } = await play([turn]);
    expect(extraction).toMatchObject({ status: 'none', attempts: [], run: { end } });
  });

  test('takes keys that nobody knew before, and says so to the model', async () => {
    const sheet = recordType({
      name: 'data_sheet',
      description: 'A data sheet.',
      schema: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
    });
    const { extraction, requests } = await play([call('extract_data_sheet', { weight_kg: 3, colour: 'red' })], {
      types: [sheet],
      verified: { type: 'data_sheet', by: 'the caller' },
    });
    expect(extraction).toMatchObject({ status: 'extracted', value: { weight_kg: 3, colour: 'red' } });
    const [tool] = toolsOf(requests[0]);
    expect(tool).not.toHaveProperty('strict');
    expect(tool?.description).toContain('yours to name');
  });

  test('makes strict what the bounds of a request leave room for, in order', async () => {
    const wide = (name: string) => {
      const keys = Array.from({ length: 10 }, (_, at) => `p${at}`);
      const properties = Object.fromEntries(keys.map((key) => [key, { type: ['string', 'null'] }]));
      return recordType({ name, description: name, schema: { type: 'object', properties, required: keys } });
    };
    const { requests } = await play([call('no_record', { reason: 'x' })], { types: [wide('a'), wide('b'), contract] });
    expect(toolsOf(requests[0]).map(({ strict = false }) => strict)).toEqual([true, false, true, true]);
  });

  test('by a Zod schema is held to its refinements', async () => {
    const term = recordType({
      name: 'term',
      description: 'A term.',
      schema: z
        .object({ from: z.string(), to: z.string() })
        .refine(({ from, to }) => from < to, 'from comes before to'),
    });
    const good = { from: '2026-01-01', to: '2026-02-01' };
    const { extraction } = await play(
      [call('extract_term', { from: good.to, to: good.from }), call('extract_term', good)],
      { types: [term], verified: { type: 'term', by: 'the caller' } },
    );
    expect(extraction).toMatchObject({ status: 'extracted', value: good });
    expect(extraction.attempts[0]?.issues).toMatchObject([{ message: 'from comes before to' }]);
  });

  test('warns of a schema that can not say that something is missing', async () => {
    const bad = recordType({
      name: 'bad',
      description: 'A thing.',
      schema: { type: 'object', properties: { due: { type: 'string' } }, required: ['due'] },
    });
    const { extraction } = await play([call('extract_bad', { due: 'x' })], {
      types: [bad],
      verified: { type: 'bad', by: 'the caller' },
    });
    expect(extraction.warnings).toMatchObject([{ code: 'schema_cannot_say_missing' }]);
  });

  test('whose check throws is an error of the program', async () => {
    const broken = recordType({
      ...contract,
      check: () => {
        throw new Error('no such field');
      },
    });
    const tried = play([call('extract_contract', { ...why, parties: [] })], { types: [broken] });
    await expect(tried).rejects.toMatchObject({ code: 'answer_check_failed' });
  });

  test.each([
    ['no types', { types: [] }],
    ['two of one name', { types: [invoice, invoice] }],
    ['a verified type that is none of them', { verified: { type: 'letter', by: 'me' } }],
    ['a member in the place of the model’s reason', { types: [{ ...contract, schema: z.object(reasoned) }] }],
  ])('refuses %s', async (_, more) => {
    await expect(play([], more)).rejects.toMatchObject({ code: 'extract_types_invalid' });
  });

  test('refuses a document without a word, and asks nothing for it', async () => {
    await expect(play([], { input: ' \n' })).rejects.toMatchObject({ code: 'input_empty' });
  });

  test.each(['refusal', 'max_tokens', 'end_turn'])(
    'has no record of a call that stands in a reply of %s',
    async (stopReason) => {
      const cut = { ...call('extract_invoice', { ...why, ...GOOD }), stopReason };
      const { extraction } = await play([cut, cut]);
      expect(extraction).toMatchObject({ status: 'none', attempts: [{ isTaken: false }] });
      expect(extraction.run.end).not.toBe('answered');
      expect(extraction).not.toHaveProperty('type');
    },
  );
});
