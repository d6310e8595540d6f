import { describe, expect, test } from 'vitest';
import { MESSAGES_HTTP_RULES, messagesDouble } from '../index.ts';

const HEADERS = { 'x-api-key': 'right', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
const BODY = '{"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}';

const post = (
  headers: Readonly<Record<string, string | null>>,
  body: string,
  path = '/v1/messages',
): Promise<Response> => {
  const all = Object.entries({ ...HEADERS, ...headers }).filter((each): each is [string, string] => each[1] !== null);
  return messagesDouble({ turns: ['Hello.'], key: 'right' }).fetch(`http://double${path}`, {
    method: 'POST',
    headers: Object.fromEntries(all),
    body,
  });
};

describe.each(MESSAGES_HTTP_RULES.map((rule) => [rule.id, rule] as const))('%s', (id, rule) => {
  test('refuses its breach with its status', async () => {
    const answer = await post(rule.breach.headers ?? {}, rule.breach.body ?? BODY);
    expect([answer.status, answer.headers.get('x-bridle-rule')]).toEqual([rule.status ?? 400, id]);
    expect(await answer.json()).toMatchObject({
      type: 'error',
      error: { type: rule.errorType ?? 'invalid_request_error', message: expect.any(String) },
      request_id: expect.stringMatching(/^req_/),
    });
  });
});

test.each([
  ['2023-06-01', { 'x-api-key': 'right' }],
  ['2026-10-21', { 'x-api-key': null, authorization: 'Bearer right' }],
  ['2023-06-01', { 'x-api-key': null, authorization: 'Bearer right' }],
])('takes version %s with %j', async (version, key) => {
  const answer = await post({ 'anthropic-version': version, ...key }, BODY);
  expect([answer.status, answer.headers.get('request-id')]).toEqual([200, expect.stringMatching(/^req_/)]);
});

test('tells whoever counts tokens more for more, and refuses the same requests', async () => {
  const count = async (body: string) =>
    (await post({}, body, '/v1/messages/count_tokens')).json() as Promise<{ input_tokens: number }>;
  const short = await count(BODY);
  const long = await count(BODY.replace('Hi', 'Hi '.repeat(500)));
  expect(long.input_tokens).toBeGreaterThan(short.input_tokens + 300);
  const broken = await post({}, BODY.replace('"user"', '"tool"'), '/v1/messages/count_tokens');
  expect(broken.status).toBe(400);
});

test('lists models, and answers whoever only looks whether anybody is there', async () => {
  const { fetch } = messagesDouble({ turns: [] });
  const list = (await (await fetch('http://double/v1/models', { headers: HEADERS })).json()) as {
    data: { id: string }[];
  };
  const [first] = list.data;
  expect(await (await fetch(`http://double/v1/models/${first?.id}`, { headers: HEADERS })).json()).toMatchObject({
    id: first?.id,
    type: 'model',
  });
  expect((await fetch('http://double/v1/models/nobody', { headers: HEADERS })).status).toBe(404);
  expect((await fetch('http://double/', { method: 'HEAD' })).status).toBe(200);
  expect((await fetch('http://double/v1/elsewhere', { headers: HEADERS })).status).toBe(404);
});

test('a script that has ended says so, and asks nobody to try again', async () => {
  const double = messagesDouble({ turns: [] });
  const answer = await double.fetch('http://double/v1/messages', { method: 'POST', headers: HEADERS, body: BODY });
  expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([500, 'false']);
  expect(await answer.text()).toContain('script_ended');
});
