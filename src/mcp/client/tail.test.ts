import { expect, test } from 'vitest';
import { tail } from './tail.ts';

test('the last lines are kept, an unfinished one among them', () => {
  const end = tail(3);
  end.push(Buffer.from('one\ntwo\n\nthree\nfo'));
  end.push(Buffer.from('ur'));
  expect(end.lines()).toEqual(['two', 'three', 'four']);
});

test('however much comes, little is kept', () => {
  const end = tail(20);
  for (let i = 0; i < 2000; i += 1) end.push(Buffer.from(`${i} ${'x'.repeat(5000)}`));
  for (let i = 0; i < 2000; i += 1) end.push(Buffer.from(`\nline ${i} ${'y'.repeat(5000)}`));
  const lines = end.lines();
  expect(lines).toHaveLength(20);
  expect(lines.join('').length).toBeLessThan(20 * 510);
  expect(lines.at(-1)).toMatch(/^line 1999/);
});

test('characters split over chunks survive, and what could fool a reader goes', () => {
  const end = tail(2);
  const bytes = Buffer.from('žluť \u001b[31mred\u001b[0m \u202edesrever\n');
  for (const byte of bytes) end.push(Buffer.from([byte]));
  expect(end.lines()).toEqual(['žluť red desrever']);
});

test('a secret is taken out before a line is cut, so that no part of it is shown', () => {
  const end = tail(2, (line) => line.replaceAll('hunter2-hunter2', '…'));
  end.push(Buffer.from(`${'x'.repeat(490)}hunter2-hunter2\n${'y'.repeat(490)}hunter2-hun`));
  end.push(Buffer.from('ter2'));
  expect(end.lines().join()).not.toContain('hunter2');
});
