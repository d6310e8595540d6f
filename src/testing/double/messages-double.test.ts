import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import { type MessagesDouble, messagesDouble, type ScriptedTurn } from '../index.ts';

let running: MessagesDouble | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

type Way = 'http' | 'fetch';

/** The official client against a double, over a socket or in this process. */
async function clientFor(
  way: Way,
  turns: readonly ScriptedTurn[],
): Promise<{ client: Anthropic; double: MessagesDouble }> {
  const double = messagesDouble({ turns });
  running = double;
  const client = new Anthropic({
    apiKey: 'sk-any',
    authToken: null,
    maxRetries: 0,
    ...(way === 'http' ? { baseURL: await double.start() } : { baseURL: 'http://double', fetch: double.fetch }),
  });
  return { client, double };
}

const hello = { model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const reply: ScriptedTurn = {
  thinking: 'Which order? 🧭',
  text: 'Looking… 👀',
  calls: [{ name: 'get_order', input: { id: 'O-1', note: 'ünï "quoted" 🎉', amount: -12.5e-7, deep: [{ a: null }] } }],
};
const tools = [{ name: 'get_order', input_schema: { type: 'object' as const } }];

describe.each<Way>(['http', 'fetch'])('the official client over %s', (way) => {
  test('gets a reply', async () => {
    const { client, double } = await clientFor(way, ['Hello.']);
    const message = await client.beta.messages.create(hello);
    expect(message.content).toEqual([{ type: 'text', text: 'Hello.', citations: null }]);
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    expect(double.requests).toEqual([hello]);
  });

  test('folds a stream into what it gets unstreamed', async () => {
    const { client } = await clientFor(way, [reply, reply]);
    const whole = await client.beta.messages.create({ ...hello, tools });
    const streamed = await client.beta.messages.stream({ ...hello, tools }).finalMessage();
    expect(streamed.content).toEqual(
      whole.content.map((block) => (block.type === 'tool_use' ? { ...block, id: 'toolu_script_2_1' } : block)),
    );
    expect(streamed.usage).toMatchObject({ ...whole.usage });
  });

  test('counts tokens', async () => {
    const { client } = await clientFor(way, []);
    const { model, messages } = hello;
    expect((await client.beta.messages.countTokens({ model, messages })).input_tokens).toBeGreaterThan(0);
  });

  test('is refused in the words of the API, with the rule for whoever reads the exchanges', async () => {
    const { client, double } = await clientFor(way, ['Hello.']);
    const messages = [
      ...hello.messages,
      { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'x', input: {} }] },
      { role: 'user' as const, content: 'And?' },
    ];
    const refused = client.beta.messages.create({ ...hello, messages });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(
        'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1',
      ),
    });
    expect(double.exchanges.at(-1)?.refusals.map(({ rule }) => rule)).toEqual(['every-call-answered']);
  });

  test('runs its tool runner over a thread that the double holds', async () => {
    const { client, double } = await clientFor(way, [
      { calls: [{ name: 'get_order', input: { id: 'O-1' } }] },
      'It is on its way.',
    ]);
    const final = await client.beta.messages.toolRunner({
      ...hello,
      tools: [
        {
          ...tools[0],
          type: 'custom' as const,
          name: 'get_order',
          input_schema: { type: 'object' as const },
          run: async () => 'on its way',
          parse: (input: unknown) => input,
        },
      ],
    });
    expect(final.content).toMatchObject([{ type: 'text', text: 'It is on its way.' }]);
    expect(double.exchanges.map(({ status }) => status)).toEqual([200, 200]);
    expect(double.exchanges[1]?.body).toMatchObject({ thread: { type: 'continue' } });
  });
});
