import { expect, test } from 'vitest';
import { resolvePointer } from './json-pointer.ts';

// The document and the expressions of RFC 6901, section 5.
const RFC = {
  foo: ['bar', 'baz'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};

test.each([
  ['', RFC],
  ['/foo', ['bar', 'baz']],
  ['/foo/0', 'bar'],
  ['/', 0],
  ['/a~1b', 1],
  ['/c%d', 2],
  ['/e^f', 3],
  ['/g|h', 4],
  ['/i\\j', 5],
  ['/k"l', 6],
  ['/ ', 7],
  ['/m~0n', 8],
])('%j names what the RFC says', (pointer, value) => {
  expect(resolvePointer(RFC, pointer)).toEqual(value);
});

test.each([
  'foo',
  '/nothing',
  '/foo/2',
  '/foo/-',
  '/foo/01',
  '/foo/length',
  '/m~n',
  '/foo/0/0',
  '/constructor',
  '/__proto__',
])('%j names nothing', (pointer) => {
  expect(resolvePointer(RFC, pointer)).toBeUndefined();
});
