import { describe, expect, test, vi } from 'vitest';
import {
  answerJson,
  answerStream,
  answerText,
  closedPort,
  messagesStream,
} from '../../test/fixtures/loopback-server.ts';
import { failureOf, server, watch } from '../../test/fixtures/model-endpoint.ts';
import type { Json, JsonObject } from '../contracts/index.ts';
import { type AnthropicOptions, anthropicModel } from './anthropic.ts';
import { invalidInputText } from './invalid-input.ts';
import { messageEvents } from './message-events.ts';

const MESSAGE: JsonObject = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5-5',
  content: [
    { type: 'thinking', thinking: 'Ü', signature: 'sig' },
    { type: 'text', text: 'Grüße 🐎 an alle' },
    { type: 'tool_use', id: 'toolu_1', name: 'get_order', input: { order: 'O-104 🐎' } },
    { type: 'newly_invented', payload: { kept: [1, 2] } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
};
const WHOLE = messagesStream([...messageEvents(MESSAGE, { pieceLength: 3 })]);
const REQUEST: Json = { messages: [{ role: 'user', content: 'Hi' }] };

function modelAt(url: string, options: AnthropicOptions = {}) {
  return anthropicModel('claude-opus-5-5', { apiKey: 'key', baseURL: url, baseMs: 1, ...options });
}

describe('a reply', () => {
  test('is put together from a stream that is cut inside characters and lines', async () => {
    const { url } = await server(answerStream(WHOLE, { bytes: 5 }));
    const { ctx, events } = watch();
    const reply = await modelAt(url).respond(REQUEST, ctx);
    expect(reply.message).toEqual(MESSAGE);
    expect(reply.stopReason).toBe('tool_use');
    expect(reply.usage).toEqual({ input_tokens: 10, output_tokens: 5 });
    expect(events.map((event) => event.type)).toEqual([
      ...[...messageEvents(MESSAGE, { pieceLength: 3 })].map((event) => event.type),
    ]);
  });

  test('keeps the text of an input that is not JSON instead of throwing', async () => {
    const events = [...messageEvents(MESSAGE)].map((event) => {
      const delta = event.delta as JsonObject | undefined;
      return delta?.type === 'input_json_delta'
        ? { ...event, delta: { ...delta, partial_json: '{"order": O-' } }
        : event;
    });
    const { url } = await server(answerStream(messagesStream(events), { bytes: 1000 }));
    const reply = await modelAt(url).respond(REQUEST, watch().ctx);
    const call = ((reply.message as JsonObject).content as JsonObject[])[2];
    expect(call?.input).toEqual({ INVALID_JSON: '{"order": O-' });
    expect(invalidInputText(call?.input ?? null)).toBe('{"order": O-');
  });

  test('that a proxy gives in one piece is taken all the same', async () => {
    const { url } = await server(answerJson(200, MESSAGE));
    const { ctx, events } = watch();
    expect((await modelAt(url).respond(REQUEST, ctx)).message).toEqual(MESSAGE);
    expect(events.at(-1)).toEqual({ type: 'message_stop' });
  });

  test('whose consumer throws fails with that error and is not asked for again', async () => {
    const { url, requests } = await server(answerStream(WHOLE));
    const ctx = {
      signal: new AbortController().signal,
      onDelta() {
        throw new TypeError('terminated');
      },
    };
    await expect(modelAt(url).respond(REQUEST, ctx)).rejects.toThrow(TypeError);
    expect(requests).toHaveLength(1);
  });
});

/** What goes to a model that binds thinking to what stood before it. */
const DROPPING = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };

describe('a request', () => {
  test('is whole: streamed, with the model, a limit that the model can give, and no thread', async () => {
    const { url, requests } = await server(answerStream(WHOLE));
    const request = { ...(REQUEST as JsonObject), thread: { type: 'create' }, betas: ['b-1'] };
    await modelAt(url, { betas: ['a-1'] }).respond(request, watch().ctx);
    expect(requests[0]?.body).toEqual({
      ...(REQUEST as JsonObject),
      model: 'claude-opus-5-5',
      stream: true,
      max_tokens: 32_000,
      thinking: DROPPING,
    });
    expect(requests[0]?.headers['anthropic-beta']).toBe('a-1,b-1,thinking-binding-controls-2026-08-01');
    expect(request.thread).toEqual({ type: 'create' });
  });

  test('keeps its own max_tokens', async () => {
    const { url, requests } = await server(answerStream(WHOLE));
    await modelAt(url, { maxTokens: 5 }).respond({ ...(REQUEST as JsonObject), max_tokens: 7 }, watch().ctx);
    expect(requests[0]?.body.max_tokens).toBe(7);
  });

  test('has the fields that the model was made with, under those that it brings itself', async () => {
    const { url, requests } = await server(answerStream(WHOLE));
    const fields = {
      thinking: { type: 'adaptive' },
      cache_control: { type: 'ephemeral' },
      messages: [],
      betas: ['c-1'],
    };
    await modelAt(url, { request: fields, betas: ['a-1'] }).respond(REQUEST, watch().ctx);
    expect(requests[0]?.body).toEqual({
      ...(REQUEST as JsonObject),
      thinking: DROPPING,
      cache_control: { type: 'ephemeral' },
      model: 'claude-opus-5-5',
      stream: true,
      max_tokens: 32_000,
    });
    expect(requests[0]?.headers['anthropic-beta']).toBe('a-1,c-1,thinking-binding-controls-2026-08-01');
  });

  test('says nothing of thinking for a model that does not bind it, nor over what the request says itself', async () => {
    const { url, requests } = await server(answerStream(WHOLE));
    const strict = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'error' } };
    await modelAt(url, { request: { thinking: strict }, betas: ['a-1'] }).respond(REQUEST, watch().ctx);
    expect(requests[0]?.body.thinking).toEqual(strict);
    expect(requests[0]?.headers['anthropic-beta']).toBe('a-1');
    const other = anthropicModel('claude-haiku-4-5', { apiKey: 'any', baseURL: url });
    await other.respond(REQUEST, watch().ctx);
    expect(requests[1]?.body.thinking).toBeUndefined();
  });

  test('names the skills that the model was made with beside the container that it goes on in', async () => {
    const { url, requests } = await server(answerStream(WHOLE));
    const skills = [{ type: 'anthropic', skill_id: 'xlsx' }];
    const model = modelAt(url, { request: { container: { skills } } });
    await model.respond({ ...(REQUEST as JsonObject), container: 'container_1' }, watch().ctx);
    expect(requests[0]?.body.container).toEqual({ id: 'container_1', skills });
  });

  test('goes to ANTHROPIC_BASE_URL with the key of the environment', async () => {
    const { url, requests } = await server(answerStream(WHOLE));
    vi.stubEnv('ANTHROPIC_BASE_URL', url);
    vi.stubEnv('ANTHROPIC_API_KEY', 'from-env');
    await anthropicModel('claude-opus-5-5').respond(REQUEST, watch().ctx);
    expect(requests[0]?.path).toMatch(/^\/v1\/messages/);
    expect(JSON.stringify(requests[0]?.headers)).toContain('from-env');
  });

  test('without a key says what to set, and that offline needs none', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', '');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', '');
    const error = await failureOf(anthropicModel('claude-opus-5-5').respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_no_key');
    expect(error.hint).toContain('ANTHROPIC_API_KEY');
    expect(error.hint).toContain('--model offline');
  });
});

describe('waiting', () => {
  test('lasts as long as a rate limit says, and is shown', async () => {
    const limited = answerJson(
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } },
      {
        'retry-after-ms': '3',
      },
    );
    const { url, requests } = await server(limited, answerStream(WHOLE));
    const { ctx, waits } = watch();
    expect((await modelAt(url).respond(REQUEST, ctx)).stopReason).toBe('tool_use');
    expect(requests).toHaveLength(2);
    expect(waits).toEqual([{ ms: 3, reason: 'rate limit reached (HTTP 429)' }]);
  });

  test('ends at once when the server asks for more time than there is', async () => {
    const limited = answerJson(
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } },
      {
        'retry-after': '3600',
      },
    );
    const { url, requests } = await server(limited);
    const { ctx, waits } = watch();
    const error = await failureOf(modelAt(url).respond(REQUEST, ctx));
    expect(error.code).toBe('model_rate_limited');
    expect(error.message).toContain('slow');
    expect(requests).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  test('for an overloaded model is bounded', async () => {
    const { url, requests } = await server(
      answerJson(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    );
    const { ctx, waits } = watch();
    const error = await failureOf(modelAt(url, { maxRetries: 2 }).respond(REQUEST, ctx));
    expect(error.code).toBe('model_overloaded');
    expect(error.message).toContain('tried 3 times');
    expect(requests).toHaveLength(3);
    expect(waits.map((wait) => wait.reason)).toEqual(['overloaded (HTTP 529)', 'overloaded (HTTP 529)']);
  });

  test('also follows an overload that is told in one piece, with status 200', async () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const { url, requests } = await server(answerJson(200, overloaded), answerStream(WHOLE));
    expect((await modelAt(url).respond(REQUEST, watch().ctx)).message).toEqual(MESSAGE);
    expect(requests).toHaveLength(2);
  });

  test('also follows an overload that is told in the middle of a stream', async () => {
    const [begin = {}] = [...messageEvents(MESSAGE)];
    const told = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const { url } = await server(answerStream(messagesStream([begin, told])), answerStream(WHOLE));
    const { ctx, waits } = watch();
    expect((await modelAt(url).respond(REQUEST, ctx)).message).toEqual(MESSAGE);
    expect(waits[0]?.reason).toBe('overloaded (HTTP 529)');
  });

  test('follows a connection that drops in the middle, and the next reply starts anew', async () => {
    const half = WHOLE.slice(0, WHOLE.length / 2);
    const { url, requests } = await server(answerStream(half, { ending: 'drop' }), answerStream(WHOLE));
    const { ctx, events, waits } = watch();
    expect((await modelAt(url).respond(REQUEST, ctx)).message).toEqual(MESSAGE);
    expect(requests).toHaveLength(2);
    expect(events.filter((event) => event.type === 'message_start')).toHaveLength(2);
    expect(waits[0]?.reason).toContain('broke');
  });

  test('follows a stream that ends cleanly but too early', async () => {
    const half = messagesStream([...messageEvents(MESSAGE)].slice(0, 4));
    const { url } = await server(answerStream(half), answerStream(WHOLE));
    expect((await modelAt(url).respond(REQUEST, watch().ctx)).message).toEqual(MESSAGE);
  });

  test('can be stopped', async () => {
    const { url, requests } = await server(answerJson(529, {}, { 'retry-after': '200' }));
    const stop = new AbortController();
    const ctx = { signal: stop.signal, onWait: () => stop.abort() };
    const error = await failureOf(modelAt(url).respond(REQUEST, ctx));
    expect(error.code).toBe('model_aborted');
    expect(requests).toHaveLength(1);
  });
});

describe('an end without a reply', () => {
  test('names the request, as whoever looks into it will ask for it', async () => {
    const refused = { type: 'error', error: { type: 'invalid_request_error', message: 'bad' } };
    const { url } = await server(answerJson(400, refused, { 'request-id': 'req_011' }));
    expect((await failureOf(modelAt(url).respond(REQUEST, watch().ctx))).message).toContain('req_011');
    const inBody = await server(answerJson(400, { ...refused, request_id: 'req_022' }));
    expect((await failureOf(modelAt(inBody.url).respond(REQUEST, watch().ctx))).message).toContain('req_022');
  });

  test.each([
    [400, 'model_request_refused', 'invalid_request_error', 'messages.0: bad'],
    [401, 'model_key_refused', 'authentication_error', 'invalid x-api-key'],
    [403, 'model_forbidden', 'permission_error', 'not yours'],
    [404, 'model_not_found', 'not_found_error', 'model: claude-opus-5-5'],
    [413, 'model_request_refused', 'request_too_large', 'too large'],
  ])('HTTP %i is %s, at the first attempt, with the words of the API', async (status, code, type, message) => {
    const { url, requests } = await server(answerJson(status, { type: 'error', error: { type, message } }));
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(error.message).toContain(String(status));
    expect(requests).toHaveLength(1);
  });

  test('at a port where nothing listens names the address', async () => {
    const url = await closedPort();
    const { ctx, waits } = watch();
    const error = await failureOf(modelAt(url).respond(REQUEST, ctx));
    expect(error.code).toBe('model_unreachable');
    expect(error.message).toContain(url);
    expect(error.message).toContain('ECONNREFUSED');
    expect(waits).toHaveLength(2);
  });

  test.each([
    [200, 'model_bad_answer'],
    [403, 'model_forbidden'],
  ])('a web page with HTTP %i is named as one', async (status, code) => {
    const { url } = await server(answerText(status, 'text/html', '<html>\u0007Sign in</html>'));
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe(code);
    expect(error.message).toContain('<html> Sign in</html>');
  });

  test('a redirect is not followed', async () => {
    const { url, requests } = await server((response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    });
    const error = await failureOf(modelAt(url).respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_bad_answer');
    expect(requests).toHaveLength(1);
  });

  test('stopping in the middle of a stream ends it at once', async () => {
    const half = WHOLE.slice(0, WHOLE.length / 2);
    const { url, requests } = await server(answerStream(half, { ending: 'hang' }));
    const stop = new AbortController();
    const ctx = { signal: stop.signal, onDelta: () => stop.abort() };
    const error = await failureOf(modelAt(url).respond(REQUEST, ctx));
    expect(error.code).toBe('model_aborted');
    expect(requests).toHaveLength(1);
  });

  test('a reply that takes longer than allowed is given up', async () => {
    const { url } = await server(answerStream(WHOLE.slice(0, 200), { ending: 'hang' }));
    const error = await failureOf(modelAt(url, { timeoutMs: 50 }).respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_timeout');
  });

  test('a base URL that is none is named', async () => {
    const error = await failureOf(modelAt('localhost').respond(REQUEST, watch().ctx));
    expect(error.code).toBe('model_bad_url');
  });
});

test('a base URL without its http is named as what it is, before anything is asked', async () => {
  for (const baseURL of ['localhost:4010', 'ftp://127.0.0.1:9']) {
    await expect(modelAt(baseURL).respond(REQUEST, watch().ctx)).rejects.toMatchObject({ code: 'model_bad_url' });
  }
});

test('the headers of ANTHROPIC_CUSTOM_HEADERS are sent, and give way to those that were given in code', async () => {
  const { url, requests } = await server(answerStream(WHOLE));
  vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'X-Team: red\nX-Route: a: b\nnonsense');
  await modelAt(url, { headers: { 'x-team': 'blue' } }).respond(REQUEST, watch().ctx);
  vi.unstubAllEnvs();
  expect(requests[0]?.headers).toMatchObject({ 'x-team': 'blue', 'x-route': 'a: b' });
});

test('a header that can be none is named, and nothing is asked again', async () => {
  const { url, requests } = await server(answerStream(WHOLE));
  const asked = modelAt(url, { headers: { 'x-team': 'a\nb' } }).respond(REQUEST, watch().ctx);
  await expect(asked).rejects.toThrow('x-team');
  expect(requests).toHaveLength(0);
});

test('headers that are given take the place of those that are usual, in whatever case they are written', async () => {
  const { url, requests } = await server(answerStream(WHOLE));
  await modelAt(url, { headers: { 'User-Agent': 'mine', 'X-Team': 'red' } }).respond(REQUEST, watch().ctx);
  expect(requests[0]?.headers).toMatchObject({
    'user-agent': 'mine',
    'x-team': 'red',
    'x-api-key': 'key',
    'anthropic-version': '2026-10-21',
  });
  expect(requests[0]?.headers.authorization).toBeUndefined();
  expect(requests[0]?.path).toBe('/v1/messages?beta=true');
});
