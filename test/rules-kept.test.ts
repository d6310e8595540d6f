/** The table of how Bridle keeps each rule of the Messages API is true, as far as that can be looked up or tried. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import ts from 'typescript';
import { expect, test } from 'vitest';
import type { JsonObject } from '../src/contracts/index.ts';
import { withCacheMarks } from '../src/models/cache-marks.ts';
import {
  MESSAGES_HTTP_RULES,
  MESSAGES_MEMORY_RULES,
  MESSAGES_REQUEST_RULES,
  type RuleFacts,
} from '../src/testing/index.ts';
import { checkHistory, Tally } from './histories/check-history.ts';
import { history } from './histories/generate.ts';
import { Reach } from './rules-kept/reach.ts';
import { KEPT, PROPERTY_TESTS, type Written, writtenIn } from './rules-kept/table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const rules: readonly RuleFacts[] = [...MESSAGES_HTTP_RULES, ...MESSAGES_REQUEST_RULES, ...MESSAGES_MEMORY_RULES];

test('each rule says how it is kept, and nothing else does', () => {
  expect([...KEPT.keys()].sort()).toEqual(rules.map(({ id }) => id).sort());
});

/** Titles of a file's tests. */
function titlesIn(file: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [title] = node.arguments;
      const called = node.expression.getText(source);
      if (title && ts.isStringLiteralLike(title) && /^(?:test|it)\b/.test(called)) found.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest);
  visit(source);
  return found;
}

test('each test that is named is there, under that title', () => {
  const named = [...KEPT.values()].flatMap((kept) => (kept.by === 'test' ? [[kept.file, kept.title] as const] : []));
  for (const [file, title] of [...named, ...Object.values(PROPERTY_TESTS)]) {
    expect([file, title, titlesIn(file).filter((each) => each.startsWith(title)).length]).toEqual([file, title, 1]);
  }
});

const ids = [...KEPT].flatMap(([id, kept]) => (kept.by === 'histories' ? [id] : []));

test('a change of one thing in a request of some history breaks each rule that histories answer for', {
  timeout: 3_600_000,
}, () => {
  const reach = new Reach(ids);
  let count = 0;
  // The same histories each time.
  for (const each of fc.sample(history, { numRuns: 400, seed: 5 })) {
    checkHistory(each, new Tally(), (request) => {
      for (const [id, kept] of KEPT) {
        if (kept.by !== 'never') continue;
        expect([id, kept.what.flatMap((what) => writtenIn(request as JsonObject, what))]).toEqual([id, []]);
      }
      count += 1;
      if (count % 5 === 0) reach.look(withCacheMarks(request as JsonObject));
    });
    if (reach.isDone) break;
  }
  expect(reach.missing).toEqual([]);
});

test('without what Bridle never writes, nothing is left of the breach', () => {
  for (const rule of MESSAGES_REQUEST_RULES) {
    const kept = KEPT.get(rule.id);
    if (kept?.by !== 'never') continue;
    expect([rule.id, kept.what.flatMap((what) => writtenIn(rule.breach, what))]).not.toEqual([rule.id, []]);
    expect([rule.id, rule.check(kept.what.reduce(without, rule.breach))]).toEqual([rule.id, []]);
  }
});

function without(body: JsonObject, what: Written): JsonObject {
  if ('field' in what) return Object.fromEntries(Object.entries(body).filter(([name]) => name !== what.field));
  return JSON.parse(JSON.stringify(body), (name, value: unknown) => {
    if ('key' in what) return name === what.key ? undefined : value;
    const isIt = (each: unknown) => what.type.test(String((each as { type?: unknown } | null)?.type));
    if (Array.isArray(value)) return value.filter((each) => !isIt(each));
    return typeof value === 'object' && value !== null && isIt(value) ? undefined : value;
  }) as JsonObject;
}
