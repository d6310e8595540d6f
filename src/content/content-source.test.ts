import { expect, test } from 'vitest';
import type { CallContext, Identity } from '../contracts/index.ts';
import { isBridleError, ToolFailure } from '../tools/index.ts';
import { contentSource } from './content-source.ts';
import { definePrompt, defineResource, defineResourceTemplate } from './own-content.ts';

const ANN: Identity = { agent: 'ann', via: 'library' };
const BOB: Identity = { agent: 'bob', via: 'library' };
const SIGNAL = new AbortController().signal;

function ctx(who: Identity = ANN): CallContext {
  return { callId: 'c', who, signal: SIGNAL, idleMs: 1000, hardMs: 1000 };
}

const plan = defineResource({ uri: 'docs://plan', name: 'plan', mimeType: 'text/markdown', read: () => '# Plan' });
const secret = defineResource({
  uri: 'docs://secret',
  name: 'secret',
  visible: ({ agent }) => agent === 'ann',
  read: ({ who }) => new TextEncoder().encode(`for ${who.agent}`),
});
const any = defineResourceTemplate({
  uriTemplate: 'docs://any/{id}',
  name: 'any',
  complete: { id: (value) => ['one', 'two'].filter((id) => id.startsWith(value)) },
  read({ id }) {
    if (id === 'broken') throw new ToolFailure('It is broken.');
    return id === 'none' ? null : [{ text: `about ${id}`, mimeType: 'text/plain' }];
  },
});
const format = definePrompt({
  name: 'format',
  description: 'Formats.',
  arguments: [{ name: 'id', required: true, complete: (_, { known }) => [known.style ?? 'none'] }, { name: 'style' }],
  messages: ({ id }) => [
    { role: 'user', content: `Format ${id}.` },
    { role: 'assistant', content: 'Which way?' },
  ],
});
const source = contentSource({ resources: [plan, secret], templates: [any], prompts: [format] });

test('it lists what was defined', async () => {
  const listing = await source.list(SIGNAL);
  expect(listing.resources.map(({ uri }) => uri)).toEqual(['docs://plan', 'docs://secret']);
  expect(listing.templates.map(({ uriTemplate }) => uriTemplate)).toEqual(['docs://any/{id}']);
  expect(listing.prompts[0]?.arguments.map(({ name, required }) => [name, required])).toEqual([
    ['id', true],
    ['style', false],
  ]);
});

test('it reads text, bytes and what a template stands for', async () => {
  expect(await parsed(source.read('docs://plan', ctx()))).toEqual({
    contents: [{ uri: 'docs://plan', mimeType: 'text/markdown', text: '# Plan' }],
  });
  expect(await parsed(source.read('docs://secret', ctx()))).toEqual({
    contents: [{ uri: 'docs://secret', blob: Buffer.from('for ann').toString('base64') }],
  });
  expect(await parsed(source.read('docs://any/x%20y', ctx()))).toEqual({
    contents: [{ uri: 'docs://any/x%20y', mimeType: 'text/plain', text: 'about x y' }],
  });
});

test('what is hidden reads like what is not there', async () => {
  await source.list(SIGNAL);
  expect(source.visible({ kind: 'resource', id: 'docs://secret' }, ANN)).toBe(true);
  expect(source.visible({ kind: 'resource', id: 'docs://secret' }, BOB)).toBe(false);
  const hidden = await source.read('docs://secret', ctx(BOB));
  const absent = await source.read('docs://absent', ctx(BOB));
  const none = await source.read('docs://any/none', ctx(BOB));
  const blank = (result: object) => JSON.stringify(result).replaceAll(/docs:[^"\\]*/g, 'X');
  expect(blank(hidden)).toBe(blank(absent));
  expect(blank(none)).toBe(blank(absent));
});

test('a failure of the author is told in its words', async () => {
  expect(await source.read('docs://any/broken', ctx())).toMatchObject({
    kind: 'failure',
    failure: { message: 'It is broken.', category: 'business' },
  });
});

test('a prompt has its messages, and refuses arguments that are missing or unknown', async () => {
  expect(await parsed(source.prompt('format', { id: 'plan' }, ctx()))).toEqual({
    description: 'Formats.',
    messages: [
      { role: 'user', content: { type: 'text', text: 'Format plan.' } },
      { role: 'assistant', content: { type: 'text', text: 'Which way?' } },
    ],
  });
  expect(await source.prompt('format', {}, ctx())).toMatchObject({ failure: { category: 'validation' } });
  expect(await source.prompt('format', { id: 'x', more: 'y' }, ctx())).toMatchObject({ kind: 'failure' });
  expect(await source.prompt('other', {}, ctx())).toMatchObject({ kind: 'failure' });
});

test('completion knows the other arguments, and what cannot be completed has no values', async () => {
  const template = { type: 'resource', uriTemplate: 'docs://any/{id}' } as const;
  expect((await source.complete(template, { name: 'id', value: 't' }, {}, SIGNAL)).values).toEqual(['two']);
  const prompt = { type: 'prompt', name: 'format' } as const;
  const styled = await source.complete(prompt, { name: 'id', value: '' }, { style: 'wide' }, SIGNAL);
  expect(styled.values).toEqual(['wide']);
  expect(await source.complete(prompt, { name: 'style', value: '' }, {}, SIGNAL)).toEqual({ values: [] });
  expect(await source.complete(template, { name: 'constructor', value: '' }, {}, SIGNAL)).toEqual({ values: [] });
});

test('a completion of more than a hundred values says that there are more', async () => {
  const many = contentSource({
    templates: [
      defineResourceTemplate({
        uriTemplate: 'n:{n}',
        name: 'n',
        complete: { n: () => Array.from({ length: 150 }, (_, n) => String(n)) },
        read: () => null,
      }),
    ],
  });
  const found = await many.complete({ type: 'resource', uriTemplate: 'n:{n}' }, { name: 'n', value: '' }, {}, SIGNAL);
  expect(found).toMatchObject({ total: 150, hasMore: true });
  expect(found.values).toHaveLength(100);
});

test('changes are told to those who asked, until they leave', () => {
  const told: string[] = [];
  const leave = source.subscribe('docs://plan', () => told.push('plan'));
  const stop = source.onChange(() => told.push('lists'));
  source.updated('docs://plan');
  source.updated('docs://other');
  source.changed();
  leave();
  stop();
  source.updated('docs://plan');
  source.changed();
  expect(told).toEqual(['plan', 'lists']);
});

test('two of one address are refused at once, and set aside in a list that changes', async () => {
  expect(() => contentSource({ resources: [plan, plan] })).toThrow('docs://plan');
  const listing = await contentSource({ resources: () => [plan, plan] }).list(SIGNAL);
  expect(listing.resources).toHaveLength(1);
  expect(listing.setAside).toMatchObject([{ kind: 'resource', item: 'docs://plan' }]);
});

test('what can be no resource, template or prompt is refused where it is defined', () => {
  for (const define of [
    () => defineResource({ uri: 'a\u0000', name: 'x', read: () => '' }),
    () => defineResourceTemplate({ uriTemplate: 'x:{', name: 'x', read: () => null }),
    () => definePrompt({ name: '', messages: () => '' }),
  ]) {
    expect(define).toThrow(expect.toSatisfy((error) => isBridleError(error) && error.code === 'content_invalid'));
  }
});

async function parsed(answer: ReturnType<typeof source.read>) {
  const result = await answer;
  return result.kind === 'result' ? result.raw.parse() : result;
}
