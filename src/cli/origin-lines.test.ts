import { expect, test } from 'vitest';
import { originLines } from './origin-lines.ts';

test('says of each argument where it came from, and what had entered', () => {
  const origins = {
    '/to': { from: 'result', callId: 'toolu_1', server: 'crm' },
    '/n': { from: 'user' },
    '': { from: 'nowhere' },
  } as const;
  expect(originLines({ origins, labels: ['untrusted-content', 'server:crm'] })).toEqual([
    'came from: /to result toolu_1 of crm, /n user, the arguments nowhere',
    'entered before: untrusted-content, server:crm',
  ]);
  expect(originLines({})).toEqual([]);
});

test('a record that somebody edited shows no control characters and breaks nothing', () => {
  const odd = { origins: { '/\u001b[2J': null }, labels: ['\u202e'] } as never;
  expect(originLines(odd).join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
});
