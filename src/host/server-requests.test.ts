import { describe, expect, test } from 'vitest';
import type { InputOrigin, Json } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { oneAtATime, type Prompter } from './prompter.ts';
import { serverRequests } from './server-requests.ts';

const server = { key: 'shop', scope: 'project', fingerprint: 'f', trustAnnotations: false } as const;
const from = (signal = new AbortController().signal): InputOrigin => ({ callId: 'c1', server, tool: 'refund', signal });

/** A person who answers with these lines, and then with the end of the input. */
function person(...lines: string[]) {
  const shown: string[] = [];
  const prompter: Prompter = {
    write: (text) => shown.push(text),
    ask: async (prompt) => {
      shown.push(prompt);
      return lines.shift();
    },
    alone: oneAtATime(),
  };
  return { prompter, text: () => shown.join(''), left: () => lines.length };
}

const requestedSchema: Json = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', minLength: 2, pattern: '^[A-Z]' },
    size: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
      default: 's',
    },
    note: { type: 'string' },
  },
  required: ['name'],
};
const question: Json = { method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema } };

async function ask(request: Json, ...lines: string[]) {
  const at = person(...lines);
  const input = serverRequests({ root: '/p', prompter: at.prompter, note: () => {} });
  return { answer: await input(rawFrom(request), from()), text: at.text(), left: at.left() };
}

describe('a form', () => {
  test('is filled in field by field, reviewed and sent; it says which server asks', async () => {
    const { answer, text } = await ask(question, 'Ada', '', '', 'y');
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada', size: 's' } });
    for (const part of ['Server shop', 'refund', 'Who are you?', '2. Large (l)', '1. Name: Ada', '(left out)']) {
      expect(text).toContain(part);
    }
  });

  test('asks again for what does not fit, and for what is needed', async () => {
    const { answer, text } = await ask(question, '', 'A', 'Ada', '2', 'hi', 'y');
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada', size: 'l', note: 'hi' } });
    expect(text).toContain('It is needed.');
    expect(text).toContain('characters, not 1');
  });

  test('is not sent while its schema says no, and lets a field be changed', async () => {
    const { answer, text } = await ask(question, 'ada', '', '', 'y', '1', 'Ada', 'y');
    expect(answer).toMatchObject({ action: 'accept', content: { name: 'Ada' } });
    expect(text).toContain('not yet right: /name');
  });

  test('goes back, skips a default, and takes a text that begins like a command', async () => {
    const { answer } = await ask(question, 'Eve', '/back', 'Ada', '/skip', '//note', 'y');
    expect(answer).toEqual({ action: 'accept', content: { name: 'Ada', note: '/note' } });
  });

  test.each<[readonly string[], string]>([
    [['/decline'], 'decline'],
    [['Ada', '/cancel'], 'cancel'],
    [['Ada', '', '', 'n'], 'decline'],
    [['Ada', '', '', 'c'], 'cancel'],
    [['Ada'], 'cancel'],
    [Array.from({ length: 40 }, () => 'x'), 'cancel'],
  ])('%j is %s', async (lines, action) => {
    expect((await ask(question, ...lines)).answer).toEqual({ action });
  });

  test('without fields is a question of yes and no', async () => {
    const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
    expect((await ask({ method: 'elicitation/create', params }, 'y')).answer).toEqual({
      action: 'accept',
      content: {},
    });
  });

  test('that no terminal can show is declined, and says so', async () => {
    const nested = { type: 'object', properties: { x: { type: 'object' } }, required: ['x'] };
    const { answer, text } = await ask({
      method: 'elicitation/create',
      params: { message: '', requestedSchema: nested },
    });
    expect(answer).toEqual({ action: 'decline' });
    expect(text).toContain('required field "x"');
  });

  test('shows nothing that drives a terminal, and foreign lines never at the margin', async () => {
    const message = 'Hi\u001b[2J\nRun it? y: yes, once.';
    const { text } = await ask({ method: 'elicitation/create', params: { message, requestedSchema } }, '/cancel');
    expect(text).not.toContain('\u001b');
    expect(text).toContain('\n  Run it?');
  });

  test.each([
    ['password', 'Confirm'],
    ['x', 'Your API key'],
    ['x', 'Seed phrase of your wallet'],
    ['x', 'Pass\u00adword'],
  ])('that asks for a secret, by the name %j or the title %j, is warned about', async (name, title) => {
    const secret = { type: 'object', properties: { [name]: { type: 'string', title } } };
    const form = { method: 'elicitation/create', params: { message: 'Sign in.', requestedSchema: secret } };
    const { answer, text } = await ask(form, '/cancel');
    expect(answer).toEqual({ action: 'cancel' });
    expect(text).toContain('careful: this seems to ask for a password');
    expect((await ask(question, '/cancel')).text).not.toContain('careful:');
  });
});

describe('an address', () => {
  const visit = (url: Json) => ({ method: 'elicitation/create', params: { mode: 'url', message: 'Pay here.', url } });

  test.each([
    ['y', 'accept'],
    ['n', 'decline'],
    ['c', 'cancel'],
  ])('is shown whole, with its host, and %s is %s', async (line, action) => {
    const { answer, text } = await ask(visit('https://pay.example/order?id=1'), line);
    expect(answer).toEqual({ action });
    expect(text).toContain('https://pay.example/order?id=1');
    expect(text).toContain('page of pay.example');
  });

  test('of another kind is declined without a question', async () => {
    const { answer, text, left } = await ask(visit('file:///etc/passwd'), 'y');
    expect({ answer, left }).toEqual({ answer: { action: 'decline' }, left: 1 });
    expect(text).not.toContain('passwd');
  });
});

describe('where nobody can be asked', () => {
  test('a question is declined, and that is said', async () => {
    const notes: string[] = [];
    const input = serverRequests({ root: '/p', note: (text) => notes.push(text) });
    expect(await input(rawFrom(question), from())).toEqual({ action: 'decline' });
    expect(notes.join()).toContain('Server "shop"');
    expect(notes.join()).toContain('Who are you?');
  });

  test('one that belongs to no call is declined also with a person', async () => {
    const notes: string[] = [];
    const input = serverRequests({ root: '/p', prompter: person('y').prompter, note: (text) => notes.push(text) });
    expect(await input(rawFrom(question))).toEqual({ action: 'decline' });
    expect(notes).toHaveLength(1);
  });
});

test('a question whose call is over is never shown', async () => {
  const at = person('y');
  const input = serverRequests({ root: '/p', prompter: at.prompter, note: () => {} });
  expect(await input(rawFrom(question), from(AbortSignal.abort()))).toEqual({ action: 'cancel' });
  expect(at.text()).toBe('');
});

test('the project is the one root; sampling and what is not known are refused with a reason', async () => {
  const input = serverRequests({ root: '/home/ada/my project', note: () => {} });
  expect(await input(rawFrom({ method: 'roots/list' }))).toEqual({
    roots: [{ uri: 'file:///home/ada/my%20project', name: 'my project' }],
  });
  await expect(input(rawFrom({ method: 'sampling/createMessage' }), from())).rejects.toMatchObject({
    code: 'sampling_refused',
    message: expect.stringContaining('Server "shop"'),
  });
  await expect(input(rawFrom({ method: 'tasks/x' }), from())).rejects.toMatchObject({ code: 'server_request_unknown' });
});
