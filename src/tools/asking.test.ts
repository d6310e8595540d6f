import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { CallContext, Json, JsonObject, RawJson, SourceResult } from '../contracts/index.ts';
import { defineTool, type Tool } from './define-tool.ts';

const SEATS = {
  type: 'object',
  properties: { seats: { type: 'integer', minimum: 1 }, row: { type: 'string', enum: ['front', 'back'] } },
  required: ['seats'],
} as const;
const INPUT = { type: 'object', properties: { show: { type: 'string' } }, required: ['show'] } as const;

const context = (more: Partial<CallContext> = {}): CallContext => ({
  callId: 'c1',
  who: { agent: 'a', via: 'library' },
  signal: new AbortController().signal,
  idleMs: 1000,
  hardMs: 1000,
  ...more,
});

function booking(onRun = () => {}): Tool {
  return defineTool({ name: 'book', description: 'Books seats.', input: INPUT }, async ({ show }, { ask }) => {
    onRun();
    const answer = await ask(`How many seats for ${show}?`, SEATS);
    return answer.action === 'accept' ? `${answer.content.seats} seats` : answer.action;
  }) as Tool;
}

const accept = (content: JsonObject): Json => ({ action: 'accept', content });
const textOf = (result: SourceResult) => (result.kind === 'result' ? result.raw.text : JSON.stringify(result));
/** A caller that comes back: what was asked, and how to answer it. */
async function firstLeg(tool: Tool, args: Json = { show: 'Tosca' }, more: Partial<CallContext> = {}) {
  const result = await tool.call(args, context({ takesQuestions: true, ...more }));
  if (result.kind !== 'input_required' || result.state === undefined) throw new Error(JSON.stringify(result));
  const requests = result.requests.parse() as { [key: string]: { method: string; params: JsonObject } };
  const { state } = result;
  const respond = (answer: Json) => ({
    state,
    responses: Object.fromEntries(Object.keys(requests).map((key) => [key, answer])),
  });
  return { requests: Object.values(requests), respond };
}

describe('a caller that waits', () => {
  test('is sent the question as an elicitation, and its answer is checked', async () => {
    const input = vi.fn(async (_: RawJson) => accept({ seats: 2 }));
    expect(textOf(await booking().call({ show: 'Tosca' }, context({ input })))).toContain('2 seats');
    expect(input.mock.calls[0]?.[0].parse()).toEqual({
      method: 'elicitation/create',
      params: {
        message: 'How many seats for Tosca?',
        requestedSchema: { type: 'object', properties: SEATS.properties, required: ['seats'] },
      },
    });
    const wrong = await booking().call({ show: 'Tosca' }, context({ input: async () => accept({ seats: 0 }) }));
    expect(wrong).toMatchObject({ kind: 'failure', failure: { category: 'validation' } });
  });

  test.each(['decline', 'cancel'])('may %s', async (action) => {
    const result = await booking().call({ show: 'Tosca' }, context({ input: async () => ({ action }) }));
    expect(textOf(result)).toContain(action);
  });

  test('that has nobody to ask, or answers nonsense, makes a failure that says so', async () => {
    const none = await booking().call({ show: 'Tosca' }, context());
    expect(none).toMatchObject({ kind: 'failure', failure: { executed: 'not_executed' } });
    expect(textOf(none)).toContain('nobody could be asked');
    const rejects = async () => {
      throw new Error('this client has no elicitation');
    };
    const refused = await booking().call({ show: 'Tosca' }, context({ input: rejects }));
    expect(textOf(refused)).toContain('this client has no elicitation');
    const odd = await booking().call({ show: 'Tosca' }, context({ input: async () => ({ yes: true }) }));
    expect(textOf(odd)).toContain('no answer');
  });
});

describe('a caller that comes back', () => {
  test('gets the question as a result, and the handler runs again with the answer', async () => {
    const ran = vi.fn();
    const tool = booking(ran);
    const { requests, respond } = await firstLeg(tool);
    expect(requests).toMatchObject([
      { method: 'elicitation/create', params: { message: 'How many seats for Tosca?' } },
    ]);
    const answers = respond(accept({ seats: 3 }));
    const second = await tool.call({ show: 'Tosca' }, context({ takesQuestions: true, answers }));
    expect(textOf(second)).toContain('3 seats');
    expect(ran).toHaveBeenCalledTimes(2);
  });

  test('has a state that counts once, for the same tool, arguments and caller', async () => {
    const refused = async (tool: Tool, args: Json, more: Partial<CallContext>) => {
      const result = await tool.call(args, context({ takesQuestions: true, ...more }));
      expect(result).toMatchObject({ kind: 'failure', failure: { category: 'validation', executed: 'not_executed' } });
    };
    const tool = booking();
    const args = { show: 'Tosca' };
    const answers = (await firstLeg(tool)).respond(accept({ seats: 3 }));
    await refused(tool, { show: 'Aida' }, { answers });
    await refused(tool, args, { answers, who: { agent: 'b', via: 'library' } });
    const other = defineTool({ name: 'cancel', description: 'x', input: INPUT }, () => 'done') as Tool;
    await refused(other, args, { answers });
    await refused(tool, args, { answers: { ...answers, state: `${answers.state}x` } });
    expect(textOf(await tool.call(args, context({ takesQuestions: true, answers })))).toContain('3 seats');
    await refused(tool, args, { answers });
  });

  test('is asked several things one after another, and each keeps its answer', async () => {
    const tool = defineTool({ name: 'two', description: 'x', input: INPUT }, async (_, { ask }) => {
      const first = await ask('First?', SEATS);
      const second = await ask('Second?', z.object({ sure: z.boolean() }));
      if (first.action !== 'accept' || second.action !== 'accept') return 'no';
      return `${first.content.seats} ${second.content.sure}`;
    }) as Tool;
    const one = await firstLeg(tool);
    const two = await firstLeg(tool, { show: 'Tosca' }, { answers: one.respond(accept({ seats: 4 })) });
    expect(two.requests).toMatchObject([{ params: { message: 'Second?' } }]);
    const answers = two.respond(accept({ sure: true }));
    expect(textOf(await tool.call({ show: 'Tosca' }, context({ takesQuestions: true, answers })))).toContain('4 true');
  });

  test('is asked together what the handler asks together', async () => {
    const tool = defineTool({ name: 'both', description: 'x', input: INPUT }, async (_, { ask }) => {
      await Promise.all([ask('First?', SEATS), ask('Second?', SEATS)]);
    }) as Tool;
    expect((await firstLeg(tool)).requests).toHaveLength(2);
  });

  test('is asked anew when the question has changed meanwhile', async () => {
    let price = 10;
    const tool = defineTool({ name: 'buy', description: 'x', input: INPUT }, async (_, { ask }) => {
      const { action } = await ask(`Pay ${price}?`, { type: 'object', properties: {} });
      return action;
    }) as Tool;
    const { respond } = await firstLeg(tool);
    price = 12;
    const again = await firstLeg(tool, { show: 'Tosca' }, { answers: respond(accept({})) });
    expect(again.requests).toMatchObject([{ params: { message: 'Pay 12?' } }]);
  });

  test('gets the question, also when the handler catches that there is no answer yet', async () => {
    const tool = defineTool({ name: 'sly', description: 'x', input: INPUT }, async (_, { ask }) => {
      await ask('Sure?', SEATS).catch(() => {});
      return 'went on';
    }) as Tool;
    expect((await firstLeg(tool)).requests).toHaveLength(1);
  });
});

test.each<[string, JsonObject]>([
  ['an object', { type: 'object', properties: {} }],
  ['a list of numbers', { type: 'array', items: { type: 'number' } }],
  ['a choice of numbers', { type: 'string', enum: [1, 2] }],
  ['anything', {}],
])('a question for %s is refused, as no form has it', async (_, property) => {
  const schema = { type: 'object', properties: { it: property } };
  const tool = defineTool({ name: 'odd', description: 'x', input: INPUT }, (_input, { ask }) =>
    ask('?', schema),
  ) as Tool;
  const input = vi.fn();
  expect(textOf(await tool.call({ show: 'x' }, context({ input })))).toContain('no form has');
  expect(input).not.toHaveBeenCalled();
});

test('the form carries only what forms have; the answer is checked against everything', async () => {
  const schema = { type: 'object', properties: { pin: { type: 'string', pattern: '^[0-9]+$', format: 'uuid' } } };
  const tool = defineTool({ name: 'pin', description: 'x', input: INPUT }, (_, { ask }) => ask('?', schema)) as Tool;
  const input = vi.fn(async (_: RawJson) => accept({ pin: 'abc' }));
  expect(await tool.call({ show: 'x' }, context({ input }))).toMatchObject({ kind: 'failure' });
  expect(input.mock.calls[0]?.[0].parse()).toMatchObject({
    params: { requestedSchema: { properties: { pin: { type: 'string' } } } },
  });
});
