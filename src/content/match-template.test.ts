import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expandTemplate } from './expand-template.ts';
import { matchTemplate } from './match-template.ts';

test.each([
  ['docs://documents/{id}', 'docs://documents/plan.md', { id: 'plan.md' }],
  ['docs://documents/{id}', 'docs://documents/my%20plan', { id: 'my plan' }],
  ['docs://documents/{id}', 'docs://documents/my plän', { id: 'my plän' }],
  ['docs://documents/{id}', 'docs://documents/a/b', null],
  ['docs://documents/{id}', 'docs://documents/', null],
  ['docs://documents/{id}', 'other://documents/x', null],
  ['docs://documents/{id}', 'docs://documents/a%2Fb', { id: 'a/b' }],
  ['docs://documents/{id}', 'docs://documents/50%', { id: '50%' }],
  ['file://{+path}', 'file:///a/b.txt', { path: '/a/b.txt' }],
  ['{+a}/x/{b}', 'p/x/q/x/r', { a: 'p/x/q', b: 'r' }],
  ['x{id}.txt', 'xa.txt.txt', { id: 'a.txt' }],
  ['{a}-{b}', '1-2-3', { a: '1', b: '2-3' }],
  ['{x,y}', '1,2', { x: '1', y: '2' }],
  ['{x,y}', '1', { x: '1' }],
  ['a{/b,c}/d', 'a/1/2/d', { b: '1', c: '2' }],
  ['a{/b,c}/d', 'a/d', {}],
  ['a{/b*}', 'a/1/2/3', { b: ['1', '2', '3'] }],
  ['a{.ext}', 'a.md', { ext: 'md' }],
  ['a{.ext}', 'a', {}],
  ['a{;x,y}', 'a;x=1;y=2', { x: '1', y: '2' }],
  ['a{;x,y}', 'a;y=2', { y: '2' }],
  ['a{?x,y}', 'a?y=2&x=1', { x: '1', y: '2' }],
  ['a{?x,y}', 'a', {}],
  ['a{?x,y}', 'a?z=1', null],
  ['a{?x,y}', 'a?x=1&x=2', null],
  ['a{?x*}', 'a?x=1&x=2', { x: ['1', '2'] }],
  ['a{?x}{&y}', 'a?x=1&y=2', { x: '1', y: '2' }],
  ['a{?x}{#f}', 'a?x=1#top', { x: '1', f: 'top' }],
  ['a?fixed=1{&x}', 'a?fixed=1&x=2', { x: '2' }],
  ['a?fixed=1{&x}', 'a?fixed=1', {}],
  ['a{#f}', 'a#b/c', { f: 'b/c' }],
  ['{a}/{a}', '1/1', { a: '1' }],
  ['{a}/{a}', '1/2', null],
  ['{id:1}/{id}', 'p/plan', { id: 'plan' }],
  ['{id:3}', 'pla', {}],
  ['fixed', 'fixed', {}],
  ['fixed', 'fixed2', null],
])('%s and %s give %o', (template, uri, values) => {
  const found = matchTemplate(template, uri);
  expect(found && { ...found }).toEqual(values);
});

test('names that every object inherits are names like others', () => {
  const found = matchTemplate('{constructor}/{__proto__}', 'a/b');
  expect(found?.constructor).toBe('a');
  expect(Object.entries(found ?? {})).toContainEqual(['__proto__', 'b']);
});

test('what a template gave is matched by it, and gives the same address again', () => {
  const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
  const templates = fc.constantFrom(
    'docs://{a}',
    'docs://{a}/{b}',
    'docs://{a}-{b}.txt',
    'docs://x{/a,b}/y',
    'docs://x{/c*}',
    'docs://x{?a,b}',
    'docs://x{?c*}{&a}',
    'docs://x?k=1{&a,b}',
    'docs://x{;a,b}',
    'docs://{+a}',
    'docs://{+a}/end',
    'docs://x{.a}{#b}',
  );
  fc.assert(
    fc.property(templates, value, value, fc.array(value, { minLength: 1, maxLength: 4 }), (template, a, b, c) => {
      const uri = expandTemplate(template, { a, b, c });
      const found = matchTemplate(template, uri);
      expect(found).not.toBeNull();
      expect(expandTemplate(template, found ?? {})).toBe(uri);
    }),
  );
});

test('a simple variable comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      expect({ ...matchTemplate('d://{id}/x', expandTemplate('d://{id}/x', { id })) }).toEqual({ id });
    }),
  );
});

test('a template made to be slow is decided all the same, with a step tried once at each place', () => {
  const template = `${Array.from({ length: 40 }, (_, at) => `{+v${at}}`).join('')}!`;
  expect(matchTemplate(template, 'x'.repeat(4000))).toBeNull();
  expect(matchTemplate('{+a}', 'x'.repeat(5000))).toBeNull();
});
