import { defineTool, toolHost } from 'bridle';
import type { AskReply, JsonObject, Policy, Recorder, Source, SourceResult } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { afterEach, expect, test } from 'vitest';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

/** One leg of a call of `pay`, as a client of 2026-07-28 sends it. */
async function leg(url: string, more: JsonObject = {}, tool = 'pay'): Promise<JsonObject> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': tool,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: { order: 'O-1' }, ...more, _meta: envelope },
    }),
  });
  const text = await response.text();
  const line = text.startsWith('{')
    ? text
    : (text.split('\n').find((each) => each.startsWith('data: {')) ?? '').slice(6);
  return (JSON.parse(line) as { result: JsonObject }).result;
}

/** @param replies of whoever is asked, in turn; absent: nobody has to be */
async function shop(replies?: AskReply[]) {
  let paid = 0;
  const pay = defineTool(
    { name: 'pay', description: 'Pays.', input: { type: 'object', properties: { order: { type: 'string' } } } },
    async (_, { ask }) => {
      const said = await ask('Really?', { type: 'object', properties: { yes: { type: 'boolean' } } });
      if (said.action !== 'accept') return 'not paid';
      paid += 1;
      return `paid, as number ${paid}`;
    },
  );
  const records: Parameters<Recorder['outcome']>[0][] = [];
  const recorder: Recorder = { intent: async () => {}, outcome: (record) => void records.push(record) };
  const decision = (effect: 'allow' | 'ask') => ({ effect, reasons: [], policyVersion: 'p' });
  const policy: Policy = { view: () => decision('allow'), decide: () => decision(replies ? 'ask' : 'allow') };
  const asker = { ask: async () => replies?.shift() ?? ({ answer: 'parked', approval: 'a' } as const) };
  const handle = await serve(await toolHost({ tools: [pay], recorder, policy, asker }), {
    http: { port: 0, token: false },
  });
  closing.push(() => handle.close());
  return { url: handle.url ?? '', records };
}

/** The answer to the one question of a leg. */
function answerTo({ inputRequests, requestState }: JsonObject, yes: boolean): JsonObject {
  const [key = ''] = Object.keys(inputRequests as JsonObject);
  return { inputResponses: { [key]: { action: 'accept', content: { yes } } }, requestState: requestState ?? null };
}

test('an answer that is sent again after its answer was lost gets the first end, and one conversation has it all', async () => {
  const { url, records } = await shop();
  const answer = answerTo(await leg(url), true);
  const [first, second] = await Promise.all([leg(url, answer), leg(url, answer)]);
  const third = await leg(url, answer);
  for (const each of [first, second, third]) expect(JSON.stringify(each)).toContain('paid, as number 1');
  expect(new Set(records.map(({ conversation }) => conversation)).size).toBe(1);
  expect(new Set(records.map(({ callId }) => callId)).size).toBe(4);
  expect(records.filter(({ answeredBy }) => answeredBy !== undefined)).toHaveLength(2);
});

test('one that was approved gets the first end too when it is sent again, and waits for nobody', async () => {
  const yes: AskReply = { answer: 'allow', by: 'pia' };
  const { url, records } = await shop([yes, yes]);
  const answer = answerTo(await leg(url), true);
  for (const each of [await leg(url, answer), await leg(url, answer)]) {
    expect(JSON.stringify(each)).toContain('paid, as number 1');
  }
  expect(records.map(({ asked, answeredBy }) => [asked?.answer, answeredBy !== undefined])).toEqual([
    ['allow', false],
    ['allow', false],
    [undefined, true],
  ]);
});

test('another answer under the same state is refused, and the same call made anew is another one', async () => {
  const { url } = await shop();
  const asked = await leg(url);
  expect(JSON.stringify(await leg(url, answerTo(asked, true)))).toContain('paid, as number 1');
  expect(await leg(url, answerTo(asked, false))).toMatchObject({ isError: true });
  expect(JSON.stringify(await leg(url, answerTo(await leg(url), true)))).toContain('paid, as number 2');
});

/** Two tools of a source that keeps nothing between legs: its states say how far a call is, and nothing else. */
async function stateless() {
  let done = 0;
  const raw = (value: JsonObject) => ({ text: JSON.stringify(value), parse: () => value });
  const inputSchema = { type: 'object' };
  const definition = (tool: string) => ({
    ref: { server: null, tool, name: tool, fingerprint: tool },
    description: 'Acts.',
    inputSchema,
    raw: raw({ name: tool, inputSchema }),
    effect: 'write' as const,
  });
  const asks = (state: string): SourceResult => {
    const params = { mode: 'form', message: 'Really?', requestedSchema: { type: 'object', properties: {} } };
    return { kind: 'input_required', requests: raw({ q: { method: 'elicitation/create', params } }), state };
  };
  const source: Source = {
    server: null,
    list: async () => ({ tools: ['pay', 'refund'].map(definition), setAside: [] }),
    async call(tool, _, { answers }) {
      if (answers?.state === undefined) return asks('1');
      if (answers.state === '1') return asks('2');
      done += 1;
      return { kind: 'result', raw: raw({ content: [{ type: 'text', text: `${tool} ${done}` }] }), isError: false };
    },
    onChange: () => () => {},
  };
  const handle = await serve(await toolHost({ sources: [source] }), { http: { port: 0, token: false } });
  closing.push(() => handle.close());
  return handle.url ?? '';
}

test('a leg in the middle that is sent again does not cost the last one its protection', async () => {
  const url = await stateless();
  const second = answerTo(await leg(url), true);
  const [asked, again] = [await leg(url, second), await leg(url, second)];
  expect(again).toEqual(asked);
  const last = answerTo(asked, true);
  for (const end of [await leg(url, last), await leg(url, last)]) expect(JSON.stringify(end)).toContain('pay 1');
});

test('two tools that give equal states are each protected', async () => {
  const url = await stateless();
  for (const tool of ['pay', 'refund']) await leg(url, answerTo(await leg(url, {}, tool), true), tool);
  const last = { inputResponses: { q: { action: 'accept', content: {} } }, requestState: '2' };
  for (const [tool, said] of [
    ['pay', 'pay 1'],
    ['pay', 'pay 1'],
    ['refund', 'refund 2'],
    ['refund', 'refund 2'],
  ] as const) {
    expect(JSON.stringify(await leg(url, last, tool))).toContain(said);
  }
});
