import { expect, test } from 'vitest';
import { messagesDouble } from '../index.ts';

const BETA = 'message-threads-2026-08-12';
const base = { model: 'claude-haiku-4-5', max_tokens: 9 };
const hi = { role: 'user', content: 'Hi' };

interface Answer {
  readonly id?: string;
  readonly error?: { readonly message: string; readonly details?: { readonly error_code: string } };
}

function ask(turns: readonly string[]): (body: object, beta?: string) => Promise<Answer> {
  const { fetch } = messagesDouble({ turns });
  return async (body, beta = BETA) => {
    const answer = await fetch('http://double/v1/messages', {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', 'anthropic-beta': beta },
      body: JSON.stringify({ ...base, ...body }),
    });
    return (await answer.json()) as Answer;
  };
}

const codeOf = ({ error }: Answer): string | undefined => error?.details?.error_code;

test('a thread goes on from its last reply, once, with what it was made with', async () => {
  const post = ask(['One.', 'Two.', 'Three.']);
  const system = 'Be brief.';
  const first = await post({ system, messages: [hi], thread: { type: 'create' } });
  const on = { type: 'continue', previous_message_id: first.id };
  expect(codeOf(await post({ system: 'Be long.', messages: [hi], thread: on }))).toBe('thread_fingerprint_mismatch');
  const second = await post({ messages: [hi], thread: on });
  expect(second.id).toBeDefined();
  expect(codeOf(await post({ messages: [hi], thread: on }))).toBe('thread_already_continued');
  expect((await post({ messages: [hi], thread: { ...on, previous_message_id: second.id } })).id).toBeDefined();
});

test('a thread that nobody made is not found, and none is there without the beta', async () => {
  const post = ask(['One.']);
  const nowhere = { type: 'continue', previous_message_id: 'msg_none' };
  expect(codeOf(await post({ messages: [hi], thread: nowhere }))).toBe('thread_not_found');
  expect((await post({ messages: [hi], thread: { type: 'create' } }, 'other')).error?.message).toContain('thread');
  expect((await post({ messages: [hi], thread: { type: 'join' } })).error?.message).toContain('create or continue');
});

test('what the conversation of a thread comes to is held to the rules as a whole', async () => {
  const post = ask(['One.']);
  const first = await post({ messages: [hi], thread: { type: 'create' } });
  const stray = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] };
  const on = { type: 'continue', previous_message_id: first.id };
  expect((await post({ messages: [stray], thread: on })).error?.message).toContain('messages.2.content.0');
});
