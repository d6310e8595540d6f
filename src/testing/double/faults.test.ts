import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, test } from 'vitest';
import {
  FAULT_KINDS,
  type Fault,
  type MessagesDouble,
  messagesDouble,
  readFaults,
  type ScriptedTurn,
  scriptedTurns,
  withFaults,
} from '../index.ts';

let running: MessagesDouble | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const hello = { model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };
const spoken = 'A sentence that is long enough to be cut.';
const both: ScriptedTurn = { text: spoken, calls: [{ name: 'look', input: { path: '/a/long/path' } }] };

/** A client of a double whose first reply meets the fault; over a socket, so that connections are real. */
async function clientWith(fault: Fault, turn: ScriptedTurn = both, maxRetries = 0): Promise<Anthropic> {
  const double = messagesDouble({ turns: withFaults(scriptedTurns([turn]), new Map([[1, fault]])) });
  running = double;
  return new Anthropic({ apiKey: 'k', authToken: null, baseURL: await double.start(), maxRetries });
}

const finalOf = (client: Anthropic) => client.beta.messages.stream(hello).finalMessage();

describe('what comes instead of a reply', () => {
  test.each([
    [{ kind: 'rate_limit', retryAfter: 7 } as const, 429, 'rate_limit_error'],
    [{ kind: 'overloaded' } as const, 529, 'overloaded_error'],
    [{ kind: 'server_error' } as const, 500, 'api_error'],
  ])('%j', async (fault, status, type) => {
    const client = await clientWith(fault);
    const error: unknown = await client.beta.messages.create(hello).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ status, error: { error: { type } } });
    if (fault.kind === 'rate_limit') {
      expect(error instanceof Anthropic.APIError && error.headers?.get('retry-after')).toBe('7');
    }
    // The turn is still there.
    expect((await client.beta.messages.create(hello)).stop_reason).toBe('tool_use');
  });

  test('a connection that closes before an answer', async () => {
    const client = await clientWith({ kind: 'drop' });
    await expect(client.beta.messages.create(hello)).rejects.toBeInstanceOf(Anthropic.APIConnectionError);
    expect(running?.exchanges.at(0)).toMatchObject({ status: 0, fault: 'drop' });
  });

  test('the official client gets over it with its own retries', async () => {
    const client = await clientWith({ kind: 'overloaded' }, both, 2);
    expect((await client.beta.messages.create(hello)).stop_reason).toBe('tool_use');
    expect(running?.exchanges.map(({ status }) => status)).toEqual([529, 200]);
  });
});

describe('what happens on the way', () => {
  test('the connection closes in the middle of the stream', async () => {
    const client = await clientWith({ kind: 'drop_during' });
    await expect(finalOf(client)).rejects.toThrow();
  });

  test('an error event ends the stream', async () => {
    const client = await clientWith({ kind: 'error_during' });
    await expect(finalOf(client)).rejects.toMatchObject({ error: { error: { type: 'overloaded_error' } } });
  });

  test('a slow stream is whole in the end', async () => {
    const client = await clientWith({ kind: 'slow', ms: 1 });
    expect((await finalOf(client)).content).toMatchObject([{ text: spoken }, { input: { path: '/a/long/path' } }]);
  });

  test('in this process a broken connection looks as it does over the network', async () => {
    const double = messagesDouble({
      turns: [{ fault: { kind: 'drop' } }, { ...both, fault: { kind: 'drop_during' } }],
    });
    const client = new Anthropic({
      apiKey: 'k',
      authToken: null,
      baseURL: 'http://double',
      fetch: double.fetch,
      maxRetries: 0,
    });
    await expect(client.beta.messages.create(hello)).rejects.toBeInstanceOf(Anthropic.APIConnectionError);
    await expect(finalOf(client)).rejects.toThrow(/terminated/);
  });
});

describe('what the reply says', () => {
  const replyTo = async (fault: Fault, turn?: ScriptedTurn) => {
    const client = await clientWith(fault, turn);
    return client.beta.messages.create(hello);
  };

  test('truncate', async () => {
    const { content, stop_reason } = await replyTo({ kind: 'truncate' });
    expect([stop_reason, content.length]).toEqual(['max_tokens', 1]);
    expect(spoken.startsWith(content[0]?.type === 'text' ? content[0].text : '-')).toBe(true);
  });

  test('truncate_call, streamed', async () => {
    const client = await clientWith({ kind: 'truncate_call' });
    let written = '';
    const stream = client.beta.messages.stream(hello).on('inputJson', (piece) => {
      written += piece;
    });
    expect((await stream.finalMessage()).stop_reason).toBe('max_tokens');
    expect('{"path":"/a/long/path"}'.startsWith(written)).toBe(true);
    expect(() => JSON.parse(written)).toThrow(SyntaxError);
  });

  test('refusal', async () => {
    expect(await replyTo({ kind: 'refusal' })).toMatchObject({
      content: [],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal' },
    });
  });

  test('pause', async () => {
    const { content, stop_reason } = await replyTo({ kind: 'pause' });
    expect([stop_reason, content.at(-1)?.type]).toEqual(['pause_turn', 'server_tool_use']);
  });

  test('no_call and stray_call contradict themselves', async () => {
    const none = await replyTo({ kind: 'no_call' });
    expect([none.stop_reason, none.content.map(({ type }) => type)]).toEqual(['tool_use', ['text']]);
    await running?.stop();
    const stray = await replyTo({ kind: 'stray_call' }, 'Done.');
    expect([stray.stop_reason, stray.content.map(({ type }) => type)]).toEqual(['end_turn', ['text', 'tool_use']]);
  });

  test('unknown_block and unknown_stop', async () => {
    expect((await replyTo({ kind: 'unknown_block' })).content[0]?.type).toBe('hologram');
    await running?.stop();
    expect((await replyTo({ kind: 'unknown_stop' })).stop_reason).toBe('solar_flare');
  });
});

describe('faults as a command line gives them', () => {
  test('each kind is read', () => {
    for (const kind of FAULT_KINDS.keys()) expect(readFaults([kind]).get(1)).toMatchObject({ kind });
  });

  test('with a value and a place', () => {
    expect([...readFaults(['429:2', 'slow:5@*', 'truncate@3'])]).toEqual([
      [1, { kind: 'rate_limit', retryAfter: 2 }],
      ['*', { kind: 'slow', ms: 5 }],
      [3, { kind: 'truncate' }],
    ]);
  });

  test.each(['', 'nonsense', 'drop:3', 'slow:x', 'drop@0', 'constructor'])('%j is refused', (text) => {
    expect(() => readFaults([text])).toThrow(/no fault|takes no value/);
  });
});
