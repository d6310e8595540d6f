import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SseReader } from './sse.ts';

function read(text: string, cuts: readonly number[]): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const reader = new SseReader();
  const events = at.slice(1).flatMap((end, i) => reader.read(bytes.subarray(at[i], end)));
  return [...events, ...reader.end()].map(({ data }) => data);
}

test('data is the same wherever the bytes are cut and however lines end', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
        { maxLength: 5 },
      ),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(), { maxLength: 8 }),
      (values, newline, cuts) => {
        const text = values
          .map((value) => `: note${newline}event: x${newline}data: ${value}${newline}${newline}`)
          .join('');
        expect(read(text, cuts)).toEqual(values);
      },
    ),
  );
});

test('several data lines are one value, and a missing last blank line is forgiven', () => {
  expect(read('data: {\ndata: }\n\ndata:[DONE]', [])).toEqual(['{\n}', '[DONE]']);
});

test('an event has the name that stands before its data, and the next one has none of it', () => {
  const reader = new SseReader();
  const events = reader.read(Buffer.from('event: error\ndata: no\n\ndata: yes\n\nevent: unused\n\ndata: last\n\n'));
  expect(events).toEqual([
    { event: 'error', data: 'no' },
    { event: '', data: 'yes' },
    { event: '', data: 'last' },
  ]);
});

test('an event that never ends is given up, and many that end are not', () => {
  const reader = new SseReader(1000);
  for (let i = 0; i < 1000; i += 1) expect(reader.read(Buffer.from('data: more\n\n'))).toHaveLength(1);
  expect(() => {
    for (;;) reader.read(Buffer.from('data: more'));
  }).toThrow(RangeError);
});
