import { expect, test } from 'vitest';
import { reportText } from './report-text.ts';

const first = {
  inputTokens: 2_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 1_990,
  outputTokens: 40,
  costUsd: 0.0027,
  definitionTokens: 1_500,
  changes: [],
  lostTokens: 0,
  lostUsd: 0,
};
const second = { ...first, changes: ['tools'] as const, lostTokens: 1_990, lostUsd: 0.0023 };

test('each reply has a row, with what it changed and what that lost', () => {
  const report = { replies: [first, second], tools: 3, definitionsShare: 0.75, cachedShare: 0 };
  expect(reportText({ report, usage: { inputTokens: 4_000, outputTokens: 80, costUsd: 0.0054 } })).toBe(
    [
      'reply    in  from cache  to cache  definitions  out     USD  changed',
      '    1  2000           0      1990        ~1500   40  0.0027',
      '    2  2000           0      1990        ~1500   40  0.0027  tools, 1990 tokens of the cache lost for $0.0023',
      '3 tools, whose definitions are about 75 % of the input',
      '0 % of the input came from the cache, lost $0.0023',
      '$0.0054 at list price',
      '',
    ].join('\n'),
  );
});

test('a price that is not known is not guessed', () => {
  const { costUsd: _, lostUsd: __, ...rest } = first;
  const report = { replies: [rest], tools: 1, definitionsShare: 0, cachedShare: 0 };
  const text = reportText({ report, usage: { inputTokens: 1, outputTokens: 1 } });
  expect(text).toContain("the model's price isn't known");
  expect(text).not.toContain('$');
});

test('a run without a reply has no costs', () => {
  expect(reportText({ usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 } })).toBe('No reply, so no costs.\n');
});
