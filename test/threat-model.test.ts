/** The page on threats names the tests that hold each defence, and they are there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs', 'threat-model.md'), 'utf8');
const table = page.slice(page.indexOf('## Defended'), page.indexOf('## Not defended'));
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, threat = '', defence = '', tests = '']): [string, string, string] => [threat, defence, tests]);

/** Every text of a test file: names of tests and groups, and those that stand in tables of cases. */
const texts = new Map<string, readonly string[]>();
function textsOf(file: string): readonly string[] {
  const known = texts.get(file);
  if (known) return known;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest));
  texts.set(file, found);
  return found;
}

test('there are threats', () => {
  expect(rows.length).toBeGreaterThan(50);
});

test.each(rows)('%s', (_threat, defence, tests) => {
  expect(defence).not.toBe('');
  // What is named is the beginning of a name, long enough to find it by.
  const named = [...tests.matchAll(/`([^`]+)` “([^”]{8,})”/g)].map(([, file = '', name = '']) => ({ file, name }));
  expect(tests.match(/`/g)?.length).toBe(named.length * 2);
  expect(named).not.toEqual([]);
  for (const { file, name } of named) {
    expect([file, existsSync(join(root, file))]).toEqual([file, true]);
    expect([file, name, textsOf(file).some((text) => text.startsWith(name))]).toEqual([file, name, true]);
  }
});
