import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo } from './command.ts';
import { printJson } from './print-json.ts';

function printed(value: Json, indent?: number): string {
  const stdout = new PassThrough();
  printJson({ stdout } as unknown as CommandIo, value, indent);
  return String(stdout.read());
}

test('JSON for programs has nothing in it that could drive or deceive a terminal, and says the same', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.dictionary(text, text), fc.constantFrom(undefined, 2), (value, indent) => {
      const out = printed(value, indent);
      expect(printable(out, { newlines: true })).toBe(out);
      expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  expect(printed(['\u009b31m\u202e'])).toBe('["\\u009b31m\\u202e"]\n');
});
