import { describe, expect, test } from 'vitest';
import { checkMessagesRequest, MESSAGES_REQUEST_RULES } from '../index.ts';
import { breachesIn } from './check-messages-request.ts';

const ids = MESSAGES_REQUEST_RULES.map(({ id }) => id);

test('each rule has an id of its own, a source, and says what it refuses', () => {
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  for (const { id, refuses, source } of MESSAGES_REQUEST_RULES) {
    expect(id).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(refuses).toMatch(/^(?:with|whose|that|in which|for|all of whose) /);
    expect(source.where).not.toBe('');
  }
});

describe.each(MESSAGES_REQUEST_RULES.map((rule) => [rule.id, rule] as const))('%s', (id, rule) => {
  test('refuses its breach, and is the only rule that does', () => {
    expect([...new Set(breachesIn(rule.breach).map((each) => each.rule.id))]).toEqual([id]);
  });

  test('takes the request that keeps it, as all rules do', () => {
    expect(checkMessagesRequest(rule.keeps)).toEqual([]);
  });
});
