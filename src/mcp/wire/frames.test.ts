import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameReader } from './frames.ts';

function read(bytes: Buffer, cuts: readonly number[], max = 1_000_000) {
  const lines: string[] = [];
  const reader = frameReader(max, (line) => lines.push(line));
  let from = 0;
  let ok = true;
  for (const cut of [...cuts].sort((a, b) => a - b).concat(bytes.length)) {
    ok = reader.push(bytes.subarray(from, Math.max(from, cut)));
    from = Math.max(from, cut);
  }
  return { lines, ok, held: reader.held() };
}

describe('cutting a stream into lines', () => {
  test('lines come out the same wherever the stream was cut', () => {
    const line = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/[\r\n\ud800-\udfff]/.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(200)), fc.constantFrom('\n', '\r\n'), (lines, cuts, end) => {
        const bytes = Buffer.from(lines.map((text) => text + end).join(''));
        const inside = cuts.filter((cut) => cut < bytes.length);
        expect(read(bytes, inside)).toEqual({ lines, ok: true, held: 0 });
      }),
    );
  });

  test('empty lines are dropped and an unfinished one is held', () => {
    expect(read(Buffer.from('\n\r\na\n\nrest'), [])).toEqual({ lines: ['a'], ok: true, held: 4 });
  });

  test('a line at the limit is read, one over it is not, in one piece or in many', () => {
    expect(read(Buffer.from('12345\n'), [], 5)).toMatchObject({ lines: ['12345'], ok: true });
    expect(read(Buffer.from('123456\n'), [], 5)).toMatchObject({ lines: [], ok: false, held: 0 });
    expect(read(Buffer.from('123456\n'), [2, 4], 5)).toMatchObject({ lines: [], ok: false, held: 0 });
  });

  test('nothing is held of a line without end once it has outgrown the limit', () => {
    const reader = frameReader(1000, () => {});
    const chunk = Buffer.alloc(400, 'x');
    expect([chunk, chunk, chunk, chunk].map((piece) => reader.push(piece))).toEqual([true, true, false, false]);
    expect(reader.held()).toBe(0);
  });
});
