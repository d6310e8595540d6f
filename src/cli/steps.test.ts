import { expect, test } from 'vitest';
import { rawFrom } from '../tools/index.ts';
import { stepPrinter } from './steps.ts';
import { styleFor } from './style.ts';

test('progress is shown at most four times a second for each call, and log messages not at all', () => {
  let now = 0;
  const lines: string[] = [];
  const steps = stepPrinter(
    (text) => lines.push(text),
    styleFor({ isTTY: false }, {}),
    undefined,
    () => now,
  );
  const tell = (callId: string, message: string, kind: 'progress' | 'log' = 'progress') =>
    steps.onProgress({ type: 'progress', callId, kind, raw: rawFrom({ message }) });
  tell('a', 'one');
  tell('a', 'two');
  tell('b', 'other');
  tell('b', 'words', 'log');
  now = 250;
  tell('a', 'three\u001b[2J');
  expect(lines).toEqual(['  … one\n', '  … other\n', '  … three\n']);
});
