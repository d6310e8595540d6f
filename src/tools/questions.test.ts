import { describe, expect, test, vi } from 'vitest';
import type { CallContext, InputKind, Json, JsonObject, RawJson, SourceResult } from '../contracts/index.ts';
import { defineTool, type Tool, type ToolContext } from './define-tool.ts';

const context = (more: Partial<CallContext> = {}): CallContext => ({
  callId: 'c1',
  who: { agent: 'a', via: 'library' },
  signal: new AbortController().signal,
  idleMs: 1000,
  hardMs: 1000,
  ...more,
});

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const tool = (handler: (ctx: ToolContext) => unknown): Tool =>
  defineTool({ name: 'asks', description: 'Asks.', input: { type: 'object', properties: {} } }, (_, ctx) =>
    handler(ctx),
  ) as Tool;
const textOf = (result: SourceResult) => (result.kind === 'result' ? result.raw.text : JSON.stringify(result));

const SAID = { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' };
const FOLDERS = { roots: [{ uri: 'file:///work', name: 'Work' }] };
const MESSAGES = [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }] as const;

/** A caller that comes back, with each answer under the key of its question. */
function second(first: SourceResult, answer: (request: JsonObject) => Json) {
  if (first.kind !== 'input_required' || first.state === undefined) throw new Error(JSON.stringify(first));
  const requests = first.requests.parse() as Record<string, JsonObject>;
  const responses = Object.fromEntries(Object.entries(requests).map(([key, request]) => [key, answer(request)]));
  return { requests, answers: { state: first.state, responses } };
}

const answerTo = ({ method }: JsonObject): Json => {
  if (method === 'roots/list') return FOLDERS;
  return method === 'sampling/createMessage' ? SAID : { action: 'accept', content: { name: 'Ada' } };
};

describe("what else than a person's words may be asked for", () => {
  const all = tool(async ({ sample, roots, visit }) => {
    const said = await sample({ messages: MESSAGES, maxTokens: 10, modelPreferences: { speedPriority: 1 } });
    const [root] = await roots();
    const { action } = await visit('Please sign in.', 'https://example.com/in');
    return `${(said.content as JsonObject).text} ${root?.uri} ${action}`;
  });

  test('a caller that waits is asked in the middle of the call', async () => {
    const asked: JsonObject[] = [];
    const input = async (request: RawJson) => {
      const value = request.parse() as JsonObject;
      asked.push(value);
      return answerTo(value);
    };
    expect(textOf(await all.call({}, context({ input })))).toContain('Paris file:///work accept');
    expect(asked).toEqual([
      {
        method: 'sampling/createMessage',
        params: { messages: MESSAGES, maxTokens: 10, modelPreferences: { speedPriority: 1 } },
      },
      { method: 'roots/list', params: {} },
      {
        method: 'elicitation/create',
        params: {
          mode: 'url',
          message: 'Please sign in.',
          url: 'https://example.com/in',
          elicitationId: expect.any(String),
        },
      },
    ]);
  });

  test('a caller that comes back is asked one leg after another, and no answer is asked for twice', async () => {
    const methods: unknown[] = [];
    let result = await all.call({}, context({ takesQuestions: true }));
    while (result.kind === 'input_required') {
      const { requests, answers } = second(result, answerTo);
      methods.push(...Object.values(requests).map(({ method }) => method));
      result = await all.call({}, context({ takesQuestions: true, answers }));
    }
    expect(methods).toEqual(['sampling/createMessage', 'roots/list', 'elicitation/create']);
    expect(textOf(result)).toContain('Paris file:///work accept');
  });

  test.each<[string, (ctx: ToolContext) => unknown, Json]>([
    ['a model says nothing', ({ sample }) => sample({ messages: MESSAGES, maxTokens: 1 }), { role: 'assistant' }],
    ['folders are no list', ({ roots }) => roots(), { roots: [{ name: 'no address' }] }],
    ['a visit ends in nothing', ({ visit }) => visit('Go', 'https://example.com'), { done: true }],
  ])('where %s, the call fails and says so', async (_, handler, answer) => {
    const result = await tool(handler).call({}, context({ input: async () => answer }));
    expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'not_executed' } });
    expect(textOf(result)).toContain('what came back is no');
  });

  test('nobody is sent to what is no web address', async () => {
    const input = vi.fn(async () => ({ action: 'accept' }));
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'nowhere']) {
      expect(await tool(({ visit }) => visit('Go', url)).call({}, context({ input }))).toMatchObject({
        kind: 'failure',
      });
    }
    expect(input).not.toHaveBeenCalled();
  });

  test('a handler knows what its caller can be asked', async () => {
    const kinds: readonly InputKind[] = ['form', 'url', 'sampling', 'roots'];
    const seen = tool(({ canAsk }) => kinds.filter(canAsk).join(' '));
    const input = async () => null;
    expect(textOf(await seen.call({}, context({ input, canAnswer: ['sampling'] })))).toContain('"sampling"');
    expect(textOf(await seen.call({}, context({ takesQuestions: true })))).toContain('"form url sampling roots"');
    expect(textOf(await seen.call({}, context({ canAnswer: kinds })))).toContain('"text":""');
  });
});

describe('a question with a name', () => {
  const greets = tool(async ({ ask }) => {
    const answer = await ask('What is your name?', FORM, { key: 'user_name' });
    return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action;
  });
  const ada: JsonObject = { action: 'accept', content: { name: 'Ada' } };

  test('travels under it, and counts only for what it asked', async () => {
    let price = 1;
    const pays = tool(async ({ ask }) => (await ask(`Pay ${price}?`, FORM, { key: 'pay' })).action);
    const { requests, answers } = second(await pays.call({}, context({ takesQuestions: true })), () => ada);
    expect(Object.keys(requests)).toEqual(['pay']);
    price = 2;
    const again = await pays.call({}, context({ takesQuestions: true, answers }));
    expect(second(again, () => ada).requests).toMatchObject({ pay: { params: { message: 'Pay 2?' } } });
  });

  test('may be answered along with the call, and another key answers nothing', async () => {
    const call = (responses: JsonObject) => greets.call({}, context({ takesQuestions: true, answers: { responses } }));
    expect(textOf(await call({ user_name: ada, other: ada }))).toContain('Hello Ada');
    expect(await call({ other: ada })).toMatchObject({ kind: 'input_required' });
    expect(await call({ user_name: { action: 'accept', content: { name: 7 } } })).toMatchObject({ kind: 'failure' });
  });

  test('that was answered along keeps its answer over the legs that follow', async () => {
    const two = tool(async ({ ask }) => {
      const one = await ask('What is your name?', FORM, { key: 'user_name' });
      const other = await ask('And the name of your cat?', FORM);
      return `${JSON.stringify([one, other])}`;
    });
    const first = await two.call({}, context({ takesQuestions: true, answers: { responses: { user_name: ada } } }));
    const { requests, answers } = second(first, () => ada);
    expect(Object.values(requests)).toMatchObject([{ params: { message: 'And the name of your cat?' } }]);
    expect((await two.call({}, context({ takesQuestions: true, answers }))).kind).toBe('result');
  });

  test('shares it with no other of the same leg', async () => {
    const two = tool(({ ask }) => Promise.all([ask('One?', FORM, { key: 'q' }), ask('Two?', FORM, { key: 'q' })]));
    const { requests, answers } = second(await two.call({}, context({ takesQuestions: true })), () => ada);
    expect(Object.keys(requests)).toHaveLength(2);
    expect((await two.call({}, context({ takesQuestions: true, answers }))).kind).toBe('result');
  });

  test('without one, nothing that comes along answers it', async () => {
    const plain = tool(({ ask }) => ask('Sure?', FORM));
    const { requests } = second(await plain.call({}, context({ takesQuestions: true })), () => ada);
    const responses = Object.fromEntries(Object.keys(requests).map((key) => [key, ada]));
    const result = await plain.call({}, context({ takesQuestions: true, answers: { responses } }));
    expect(result.kind).toBe('input_required');
  });
});

test('a state that is not its own makes the request a bad one, and the handler is not run', async () => {
  const ran = vi.fn();
  const result = await tool(ran).call({}, context({ takesQuestions: true, answers: { responses: {}, state: 'x.y' } }));
  expect(result).toMatchObject({ kind: 'failure', failure: { category: 'validation', badRequest: true } });
  expect(ran).not.toHaveBeenCalled();
});

test('a leg that is sent again is answered again by what only reads', async () => {
  const reads = defineTool(
    { name: 'reads', description: 'x', input: { type: 'object', properties: {} }, effect: 'read' },
    async (_, { ask }) => (await ask('Which part?', FORM)).action,
  ) as Tool;
  const { answers } = second(await reads.call({}, context({ takesQuestions: true })), () => ({ action: 'decline' }));
  for (const _ of [1, 2]) {
    expect(textOf(await reads.call({}, context({ takesQuestions: true, answers })))).toContain('decline');
  }
});

test('a handler lets its caller go where that can come back, and nothing happens where it can not', async () => {
  const disconnect = vi.fn();
  const leaves = tool((ctx) => ctx.disconnect());
  await leaves.call({}, context({ disconnect }));
  expect((await leaves.call({}, context())).kind).toBe('result');
  expect(disconnect).toHaveBeenCalledTimes(1);
});
