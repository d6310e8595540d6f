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

test('arguments that take long to write are shown while they come, at most once a second', () => {
  let now = 0;
  const lines: string[] = [];
  const steps = stepPrinter(
    (text) => lines.push(text),
    styleFor({ isTTY: false }, {}),
    undefined,
    () => now,
  );
  const write = (piece: string, index = 0) => steps.onProgress({ type: 'arguments', index, name: 'note', piece });
  write('');
  write('{"text":"one');
  now = 999;
  write(' two');
  expect(lines).toEqual([]);
  now = 1_000;
  write(' three\u001b[2J');
  now = 2_500;
  write(' four"}');
  now = 9_000;
  write('', 1);
  write('{"text":"quick"}', 1);
  expect(lines).toEqual(['  … note {"text":"one two three\n', '  … note  four"}\n']);
});
