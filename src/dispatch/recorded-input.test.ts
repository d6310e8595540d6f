import { expect, test } from 'vitest';
import type { Json, QuestionRecord } from '../contracts/index.ts';
import { rawFrom, rawJson } from '../tools/index.ts';
import { recordedInput } from './recorded-input.ts';

const QUESTION = rawFrom({ method: 'elicitation/create', params: { message: 'Which?' } });
const from = { callId: '1', server: null, tool: 'pick', signal: new AbortController().signal };
const nested = (depth: number) => `${'{"a":'.repeat(depth)}"https://x.example/y?code=1"${'}'.repeat(depth)}`;

async function recorded(ask: () => Promise<Json>, request = QUESTION) {
  const records: QuestionRecord[] = [];
  const recorder = { question: (record: QuestionRecord) => void records.push(record) };
  const who = { agent: 'a', via: 'library' } as const;
  const answer = await recordedInput(ask, { recorder, who, conversation: 'c' })(request, from).catch(() => undefined);
  return { answer, records };
}

test.each([6_000, 100_000])('a question that is nested %i deep is recorded, and its answer returned', async (depth) => {
  const request = rawJson(`{"method":"elicitation/create","params":${nested(depth)}}`);
  const { answer, records } = await recorded(async () => ({ action: 'decline' }), request);
  expect(answer).toEqual({ action: 'decline' });
  expect(records).toMatchObject([{ request: { method: 'elicitation/create' }, answer: { action: 'decline' } }]);
  expect(JSON.stringify(records)).toContain('[not kept: nested more than 200 levels deep]');
});

test.each([6_000, 100_000])(
  'an answer that is nested %i deep is returned as it is, and recorded once',
  async (depth) => {
    const given = { action: 'accept', content: JSON.parse(nested(depth)) as Json };
    const { answer, records } = await recorded(async () => given);
    expect(answer).toBe(given);
    expect(records).toMatchObject([{ answer: { action: 'accept' } }]);
    expect(JSON.stringify(records)).toContain('[not kept: nested more than 200 levels deep]');
  },
);

test('what is nested 200 deep is kept, without what addresses carry', async () => {
  const { records } = await recorded(async () => JSON.parse(nested(200)) as Json);
  expect(JSON.stringify(records[0]?.answer)).toBe(nested(200).replace('?code=1', '?…'));
});

test('an answer that goes round in a circle is recorded all the same', async () => {
  const round: { [name: string]: Json } = {};
  Object.assign(round, { one: round, other: round });
  const { answer, records } = await recorded(async () => round);
  expect(answer).toBe(round);
  expect(JSON.stringify(records)).toContain('[not kept: there is too much of it]');
});
