import { describe, expect, test, vi } from 'vitest';
import {
  answerJson,
  answerStream,
  answerText,
  chatStream,
  closedPort,
} from '../../../test/fixtures/loopback-server.ts';
import { failureOf, server, watch } from '../../../test/fixtures/model-endpoint.ts';
import type { JsonObject } from '../../contracts/index.ts';
import { type OpenAIOptions, openaiModel } from './index.ts';

const REQUEST: JsonObject = { messages: [{ role: 'user', content: 'Hi' }] };

function modelAt(url: string, options: OpenAIOptions = {}) {
  return openaiModel('qwen3:8b', { baseURL: `${url}/v1/`, baseMs: 1, ...options });
}

function chunk(delta: JsonObject, finish: string | null = null): JsonObject {
  return { id: 'chatcmpl-1', model: 'qwen3:8b', choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** The content of the reply to these chunks, streamed a few bytes at a time. */
async function replyTo(chunks: readonly JsonObject[], request: JsonObject = REQUEST) {
  const { url } = await server(answerStream(chatStream(chunks), { bytes: 11 }));
  const { ctx, events } = watch();
  const reply = await modelAt(url).respond(request, ctx);
  const message = reply.message as JsonObject;
  return { ...reply, events, content: message.content as JsonObject[], message };
}

describe('a reply', () => {
  test('of text and calls in interleaved pieces becomes a message with the text first', async () => {
    const { content, stopReason, usage, events, message } = await replyTo([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: '\n' }),
      chunk({ content: 'Grüße ' }),
      chunk({ content: '🐎' }),
      chunk({ tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'one', arguments: '' } }] }),
      chunk({
        tool_calls: [{ index: 1, id: 'call_b', type: 'function', function: { name: 'two', arguments: '{"b"' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
      chunk({ tool_calls: [{ index: 1, function: { arguments: ':2}' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      chunk({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 } } },
    ]);
    expect(content).toEqual([
      { type: 'text', text: '\nGrüße 🐎' },
      { type: 'tool_use', id: 'call_a', name: 'one', input: { a: 1 } },
      { type: 'tool_use', id: 'call_b', name: 'two', input: { b: 2 } },
    ]);
    expect(stopReason).toBe('tool_use');
    expect(usage).toEqual({ input_tokens: 4, output_tokens: 4, cache_read_input_tokens: 6 });
    expect(message).toMatchObject({ id: 'chatcmpl-1', type: 'message', role: 'assistant', model: 'qwen3:8b' });
    const open: unknown[] = [];
    for (const event of events) {
      if (event.type === 'content_block_start') open.push(event.index);
      if (event.type === 'content_block_stop') expect(open.pop()).toBe(event.index);
      expect(open.length).toBeLessThanOrEqual(1);
    }
    expect(events[0]?.type).toBe('message_start');
    expect(events.at(-1)?.type).toBe('message_stop');
  });

  test('that ends by "stop" beside calls means the calls', async () => {
    const call = { index: 0, id: 'c', function: { name: 'one', arguments: '{}' } };
    expect((await replyTo([chunk({ tool_calls: [call] }), chunk({}, 'stop')])).stopReason).toBe('tool_use');
  });

  test.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['invented_reason', 'invented_reason'],
  ])('that ends by "%s" ends by "%s"', async (finish, expected) => {
    expect((await replyTo([chunk({ content: 'x' }), chunk({}, finish)])).stopReason).toBe(expected);
  });

  test('that was cut by length stays cut, calls or not', async () => {
    const call = { index: 0, id: 'c', function: { name: 'one', arguments: '{"a"' } };
    const { stopReason, content } = await replyTo([chunk({ tool_calls: [call] }), chunk({}, 'length')]);
    expect(stopReason).toBe('max_tokens');
    expect(content[0]?.input).toEqual({ INVALID_JSON: '{"a"' });
  });

  test('whose arguments are no JSON object keeps the call with the text as it came', async () => {
    const calls = ['{oops', '[1]', '"text"'].map((text, index) => ({
      index,
      id: `c${index}`,
      function: { name: 'one', arguments: text },
    }));
    const { content } = await replyTo([chunk({ tool_calls: calls }), chunk({}, 'tool_calls')]);
    expect(content.map((block) => block.input)).toEqual([
      { INVALID_JSON: '{oops' },
      { INVALID_JSON: '[1]' },
      { INVALID_JSON: '"text"' },
    ]);
  });

  test('gives every call an id that is allowed and new in the conversation', async () => {
    const request = {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'one', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: 'ok' }] },
      ],
    };
    const ids = ['call_0', 'bad id!', '', 'call_1'];
    const calls = ids.map((id, index) => ({ index, id, function: { name: 'one', arguments: '{}' } }));
    const { content } = await replyTo([chunk({ tool_calls: calls }), chunk({}, 'tool_calls')], request);
    const given = content.map((block) => String(block.id));
    expect(new Set([...given, 'call_0']).size).toBe(5);
    expect(given[3]).toBe('call_1');
    for (const id of given) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  });

  test.each([
    ['one index for all, told apart by id', [0, 0], ['a', 'b']],
    ['no index, told apart by id', [undefined, undefined], ['a', 'b']],
    ['no index and no id', [undefined, undefined], [undefined, undefined]],
    ['one index and no id', [0, 0], [undefined, undefined]],
  ])('keeps calls apart that have %s', async (_how, indices, ids) => {
    const chunks = indices.map((index, at) =>
      chunk({
        tool_calls: [
          {
            ...(index !== undefined && { index }),
            ...(ids[at] !== undefined && { id: ids[at] }),
            function: { name: at === 0 ? 'one' : 'two', arguments: at === 0 ? '{"a":1}' : { b: 2 } },
          },
        ],
      }),
    );
    const { content } = await replyTo([...chunks, chunk({}, 'tool_calls')]);
    expect(content.map((block) => [block.name, block.input])).toEqual([
      ['one', { a: 1 }],
      ['two', { b: 2 }],
    ]);
  });

  test('of only white space has no text block', async () => {
    expect((await replyTo([chunk({ content: ' \n' }), chunk({}, 'stop')])).content).toEqual([]);
  });

  test('that refuses says so', async () => {
    const { content, stopReason } = await replyTo([chunk({ refusal: 'No.' }), chunk({}, 'stop')]);
    expect(stopReason).toBe('refusal');
    expect(content).toEqual([{ type: 'text', text: 'No.' }]);
  });

  test('in one piece is taken all the same', async () => {
    const whole = {
      id: 'x',
      model: 'qwen3:8b',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    };
    const { url } = await server(answerJson(200, whole));
    const reply = await modelAt(url).respond(REQUEST, watch().ctx);
    expect((reply.message as JsonObject).content).toEqual([{ type: 'text', text: 'Hello' }]);
    expect(reply.usage).toEqual({ input_tokens: 1, output_tokens: 2 });
  });

  test('in one piece has a call for each entry, alike or not', async () => {
    const tool_calls = [{ function: { name: 'now', arguments: '' } }, { function: { name: 'now', arguments: '' } }];
    const choice = { index: 0, message: { role: 'assistant', content: null, tool_calls }, finish_reason: 'tool_calls' };
    const { url } = await server(answerJson(200, { id: 'x', choices: [choice] }));
    const reply = await modelAt(url).respond(REQUEST, watch().ctx);
    expect((reply.message as JsonObject).content).toMatchObject([
      { type: 'tool_use', name: 'now', input: {} },
      { type: 'tool_use', name: 'now', input: {} },
    ]);
  });
});

test('a request has the fields that the model was made with, under those that it brings itself', async () => {
  const { url, requests } = await server(answerStream(chatStream([chunk({ content: 'x' }, 'stop')])));
  const model = modelAt(url, { request: { reasoning_effort: 'low', temperature: 1, stream: false } });
  await model.respond({ ...REQUEST, temperature: 0 }, watch().ctx);
  expect(requests[0]?.body).toMatchObject({ reasoning_effort: 'low', temperature: 0, stream: true });
});

describe('the key', () => {
  const answer = answerStream(chatStream([chunk({ content: 'x' }), chunk({}, 'stop')]));

  test('of the environment goes to OPENAI_BASE_URL', async () => {
    const { url, requests } = await server(answer);
    vi.stubEnv('OPENAI_BASE_URL', `${url}/v1`);
    vi.stubEnv('OPENAI_API_KEY', 'secret');
    await openaiModel('gpt').respond(REQUEST, watch().ctx);
    expect(requests[0]?.path).toBe('/v1/chat/completions');
    expect(requests[0]?.headers.authorization).toBe('Bearer secret');
  });

  test('of the environment does not go to another server', async () => {
    const { url, requests } = await server(answer);
    vi.stubEnv('OPENAI_BASE_URL', '');
    vi.stubEnv('OPENAI_API_KEY', 'secret');
    await modelAt(url).respond(REQUEST, watch().ctx);
    expect(requests[0]?.headers.authorization).toBeUndefined();
  });

  test('must be there for the public API', async () => {
    vi.stubEnv('OPENAI_BASE_URL', '');
    vi.stubEnv('OPENAI_API_KEY', '');
    expect((await failureOf(openaiModel('gpt').respond(REQUEST, watch().ctx))).code).toBe('model_no_key');
  });
});

describe('an end without a reply', () => {
  test('at a port where nothing listens names the address', async () => {
    const url = await closedPort();
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_unreachable');
    expect(error.message).toContain(`${url}/v1`);
  });

  test('by a web page shows what came back', async () => {
    const { url } = await server(answerText(200, 'text/html; charset=utf-8', '<html>\n<body>Welcome</body></html>'));
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_bad_answer');
    expect(error.message).toContain('text/html');
    expect(error.message).toContain('Welcome');
  });

  test('by broken JSON in the stream shows what came back', async () => {
    const { url, requests } = await server(answerStream('data: {"choices": [oops\n\n'));
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_bad_answer');
    expect(error.message).toContain('oops');
    expect(requests).toHaveLength(1);
  });

  test.each([
    [400, 'model_request_refused', { error: { message: 'does not support tools' } }, 'does not support tools'],
    [404, 'model_not_found', { error: 'model "qwen3:8b" not found' }, 'model "qwen3:8b" not found'],
    [401, 'model_key_refused', { detail: 'no token' }, 'no token'],
    [422, 'model_request_refused', { message: 'bad field' }, 'bad field'],
  ])('HTTP %i is %s with the words of the server', async (status, code, body, words) => {
    const { url, requests } = await server(answerJson(status, body));
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    expect(requests).toHaveLength(1);
  });

  test('with HTTP 200 and an error instead of a reply is that error', async () => {
    const { url } = await server(answerJson(200, { error: { message: 'context too long', code: 400 } }));
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_request_refused');
    expect(error.message).toContain('context too long');
  });

  test.each([
    [{ type: 'invalid_request_error', code: null }, 'model_request_refused'],
    [{ type: 'invalid_request_error', code: 'context_length_exceeded' }, 'model_request_refused'],
    [{ type: 'BadRequestError' }, 'model_request_refused'],
    [{ type: 'authentication_error' }, 'model_key_refused'],
  ])('in the middle of a stream, of a kind that stays, is not asked for again: %j', async (kind, code) => {
    const told = { error: { message: 'no such thing', ...kind } };
    const { url, requests } = await server(answerStream(chatStream([chunk({ content: 'x' }), told])));
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe(code);
    expect(requests).toHaveLength(1);
  });

  test('stopping in the middle of a stream ends it at once', async () => {
    const { url, requests } = await server(
      answerStream(`data: ${JSON.stringify(chunk({ content: 'x' }))}\n\n`, { ending: 'hang' }),
    );
    const stop = new AbortController();
    const error = await failureOf(modelAt(url).respond(REQUEST, { signal: stop.signal, onDelta: () => stop.abort() }));
    expect(error.code).toBe('model_aborted');
    expect(requests).toHaveLength(1);
  });
});

test('a model that reasons for long is heard to be alive', async () => {
  const thought = chunk({ reasoning_content: 'Hm.' });
  const { url } = await server(answerStream(chatStream([thought, thought, chunk({ content: 'x' }, 'stop')])));
  const { ctx, events } = watch();
  const reply = await modelAt(url).respond(REQUEST, ctx);
  expect(events.filter((event) => event.type === 'ping').length).toBeGreaterThan(0);
  expect((reply.message as JsonObject).content).toEqual([{ type: 'text', text: 'x' }]);
});

describe('waiting', () => {
  const good = answerStream(chatStream([chunk({ content: 'x' }), chunk({}, 'stop')]));

  test('follows 503 and 429, and is shown', async () => {
    const { url, requests } = await server(
      answerJson(503, { error: { message: 'loading model' } }, { 'retry-after': '0' }),
      answerJson(429, {}, { 'retry-after-ms': '2' }),
      good,
    );
    const { ctx, waits } = watch();
    expect((await modelAt(url).respond(REQUEST, ctx)).stopReason).toBe('end_turn');
    expect(requests).toHaveLength(3);
    expect(waits).toEqual([
      { ms: 0, reason: 'overloaded (HTTP 503)' },
      { ms: 2, reason: 'rate limit reached (HTTP 429)' },
    ]);
  });

  test('follows a dropped connection and a stream that ends too early', async () => {
    const half = `data: ${JSON.stringify(chunk({ content: 'x' }))}\n\n`;
    const { url, requests } = await server(answerStream(half, { ending: 'drop' }), answerStream(half), good);
    expect((await modelAt(url).respond(REQUEST, watch().ctx)).stopReason).toBe('end_turn');
    expect(requests).toHaveLength(3);
  });
});
