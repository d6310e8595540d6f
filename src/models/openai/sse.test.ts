import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sseData } from './sse.ts';

async function read(text: string, cuts: readonly number[]): Promise<string[]> {
  const bytes = Buffer.from(text, 'utf8');
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  async function* pieces() {
    for (let i = 1; i < at.length; i += 1) yield bytes.subarray(at[i - 1], at[i]);
  }
  const data: string[] = [];
  for await (const each of sseData(pieces())) data.push(each);
  return data;
}

test('data is the same wherever the bytes are cut and however lines end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
        { maxLength: 5 },
      ),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(), { maxLength: 8 }),
      async (values, newline, cuts) => {
        const text = values
          .map((value) => `: note${newline}event: x${newline}data: ${value}${newline}${newline}`)
          .join('');
        expect(await read(text, cuts)).toEqual(values);
      },
    ),
  );
});

test('several data lines are one value, and a missing last blank line is forgiven', async () => {
  expect(await read('data: {\ndata: }\n\ndata:[DONE]', [])).toEqual(['{\n}', '[DONE]']);
});

test('an event that never ends is given up', async () => {
  async function* endless() {
    for (;;) yield Buffer.from('data: more');
  }
  const reading = sseData(endless(), 1000).next();
  await expect(reading).rejects.toThrow(RangeError);
});
