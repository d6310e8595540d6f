import { describe, expect, test } from 'vitest';
import type { Json } from '../../contracts/index.ts';
import { offlineModel } from './index.ts';

const request: Json = {
  messages: [{ role: 'user', content: 'Add 2 and 3' }],
  tools: [
    {
      name: 'sum',
      description: 'Returns the sum of two numbers',
      input_schema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
    },
  ],
};

async function ask(body: Json, events: Json[] = []) {
  return offlineModel().respond(body, { signal: new AbortController().signal, onDelta: (event) => events.push(event) });
}

describe('offlineModel', () => {
  test('a long description is cut between words in its list of tools, and the cut shows', async () => {
    const description = `${'Looks up, '.repeat(11)}whatever there is to look up in here`;
    const tools = [{ name: 'look', description, input_schema: { type: 'object' } }];
    const { message } = await ask({ messages: [{ role: 'user', content: 'What can you do?' }], tools });
    const [{ text }] = (message as unknown as { content: [{ text: string }] }).content;
    expect(text).toContain('Looks up, whatever …');
    expect(text).not.toContain('there is');
  });

  test('answers in the shape of the Messages API', async () => {
    const { message, stopReason, usage } = await ask(request);
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_\w+$/),
      type: 'message',
      role: 'assistant',
      model: 'offline',
      content: [{ type: 'tool_use', id: expect.stringMatching(/^toolu_\w+$/), name: 'sum', input: { a: 2, b: 3 } }],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    expect(stopReason).toBe('tool_use');
    expect(usage).toMatchObject({ input_tokens: 0 });
  });

  test('gives the same reply to the same request, and other ids to another', async () => {
    expect(await ask(request)).toEqual(await ask(structuredClone(request)));
    const other = await ask({ ...(request as object), messages: [{ role: 'user', content: 'Add 2 and 4' }] });
    expect((other.message as { id: string }).id).not.toBe(((await ask(request)).message as { id: string }).id);
  });

  test('marks a question outside its text, and nothing else', async () => {
    const question = await ask({ ...(request as object), messages: [{ role: 'user', content: 'Add two numbers' }] });
    expect(question.message).toMatchObject({ stop_reason: 'end_turn', bridle: { asked: true } });
    expect((await ask(request)).message).not.toHaveProperty('bridle');
    const hello = await ask({ messages: [{ role: 'user', content: 'Hello' }] });
    expect(hello.message).not.toHaveProperty('bridle');
  });

  test('streams the events that make up its message', async () => {
    const events: Json[] = [];
    await ask(request, events);
    expect(events.map((event) => (event as { type: string }).type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[2]).toMatchObject({ delta: { type: 'input_json_delta', partial_json: '{"a":2,"b":3}' } });
  });

  test('isn’t slowed down by a long history of questions', async () => {
    const messages = Array.from({ length: 400 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: at % 2 === 0 ? 'Add 2' : 'I need the b for this: what should it be?',
    }));
    const { message } = await ask({
      ...(request as object),
      messages: [...messages, { role: 'user', content: 'Add 2 and 3' }],
    });
    expect(message).toMatchObject({ content: [{ name: 'sum', input: { a: 2, b: 3 } }] });
  });

  test('rejects when the signal is aborted', async () => {
    await expect(offlineModel().respond(request, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow(
      'stopped',
    );
  });

  test('answers a body that holds nothing', async () => {
    for (const body of [{}, null, { messages: 'x', tools: 7 }, { messages: [{ role: 'user' }] }]) {
      expect((await ask(body)).stopReason).toBe('end_turn');
    }
  });
});
