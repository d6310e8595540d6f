import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, ServerRef } from '../contracts/index.ts';
import { rawFrom, rawJson } from '../tools/index.ts';
import { contentToMcp, promptFromMcp, resourceFromMcp, templateFromMcp } from './content-definition.ts';

const SERVER: ServerRef = { key: 'docs', scope: 'project', fingerprint: 'f', trustAnnotations: false };
const codes = (read: object) =>
  'setAside' in read ? (read.setAside as { code: string }[]).map(({ code }) => code) : [];

test('a resource keeps what is known of it, and the rest in raw', () => {
  const raw = rawJson(
    '{"uri":"docs://a","name":"A","mimeType":"text/plain","size":3,"annotations":{"priority":1},"x":1.0}',
  );
  const read = resourceFromMcp(SERVER, raw);
  expect(read).toEqual({ server: SERVER, uri: 'docs://a', name: 'A', mimeType: 'text/plain', size: 3, raw });
  expect('uri' in read && contentToMcp(read)).toMatchObject({ uri: 'docs://a', annotations: { priority: 1 }, x: 1 });
});

test('control characters leave what people see, and an address with them is set aside', () => {
  const raw = rawFrom({ uri: 'docs://a', name: 'A\u001b[31m', title: 'T\u202e', description: 'D\u200b\nE' });
  expect(resourceFromMcp(SERVER, raw)).toMatchObject({ name: 'A', title: 'T', description: 'D\nE' });
  for (const uri of ['docs://a\nb', 'docs://\u001b]0;x\u0007', 'docs://a\u200bb'])
    expect(codes(resourceFromMcp(SERVER, rawFrom({ uri, name: 'A' })))).toEqual(['content_name_unprintable']);
  expect(codes(promptFromMcp(SERVER, rawFrom({ name: 'a\u202eb' })))).toEqual(['content_name_unprintable']);
});

test('each fault costs one item, and says which it is', () => {
  expect(codes(resourceFromMcp(null, rawJson('{')))).toEqual(['content_not_json']);
  expect(codes(resourceFromMcp(null, rawJson('[]')))).toEqual(['content_not_object']);
  expect(codes(resourceFromMcp(null, rawFrom({ name: 'x' })))).toEqual(['content_unnamed']);
  expect(codes(resourceFromMcp(null, rawFrom({ uri: `x:${'y'.repeat(5000)}` })))).toEqual(['content_name_too_long']);
  expect(templateFromMcp(null, rawFrom({ uriTemplate: 'x:{', name: 'x' }))).toMatchObject({
    item: 'x:{',
    setAside: [{ code: 'content_bad_template' }],
  });
  for (const args of [{}, [1], [{}], [{ name: 'a' }, { name: 'a' }], Array.from({ length: 101 }, () => ({}))] as Json[])
    expect(codes(promptFromMcp(null, rawFrom({ name: 'p', arguments: args })))).toEqual(['content_bad_arguments']);
});

test('a prompt goes out with its arguments and whatever else they said', () => {
  const raw = rawFrom({ name: 'p', icons: [], arguments: [{ name: 'a', required: true, x: 1 }, { name: 'b' }] });
  const read = promptFromMcp(SERVER, raw);
  if ('setAside' in read) throw new Error('set aside');
  expect(read.arguments).toEqual([
    { name: 'a', required: true },
    { name: 'b', required: false },
  ]);
  expect(contentToMcp(read)).toEqual({
    name: 'p',
    icons: [],
    arguments: [
      { name: 'a', required: true, x: 1 },
      { name: 'b', required: false },
    ],
  });
});

test('no definition makes a reader throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (name, uri, args) => {
      const raw = rawJson(JSON.stringify({ name, uri, uriTemplate: uri, title: args, size: args, arguments: args }));
      for (const read of [resourceFromMcp, templateFromMcp, promptFromMcp]) {
        const definition = read(SERVER, raw);
        if (!('setAside' in definition)) contentToMcp(definition);
      }
    }),
  );
});
