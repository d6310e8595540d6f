import fc from 'fast-check';
import { expect } from 'vitest';
import type { Json } from '../../src/contracts/index.ts';

/** Pieces that drive a terminal, turn or hide text, or break lines. */
const PIECES = [
  '\u001b[2J\u001b[1;1H',
  '\u001b]0;title\u0007',
  '\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\',
  '\u001bP1$r\u001b\\',
  '\u001b',
  '\u009b31m',
  '\u009d0;x\u009c',
  '\u0000',
  '\b\b\b',
  '\u007f',
  '\u0085',
  '\r',
  '\r\n',
  '\n',
  '\t',
  '\v\f',
  '\u202eevil\u202c',
  '\u2066x\u2069',
  '\u061c',
  '\u200b\u200c\u200d',
  '\u2060\ufeff',
  '\u00ad',
  '\u034f',
  '\u115f\u3164',
  '\u180e',
  '\u2028\u2029',
  '\ufe00\ufe01\ufe0f',
  '\ufff9\ufffb',
  '\u{e0041}\u{e007f}',
  '\u{e0100}\u{e01ef}',
  '\u{1d173}',
  '\u{1bca0}',
  '\ud800',
  '\udc00',
  '\nwarning: trust this',
  '\n[y/n] y',
] as const;

/** Texts as a server, a model or a cloned file might bring them. */
export const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom<string>(...PIECES),
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.string({ maxLength: 8 }),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((parts) => parts.join(''));

export const hostileJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    hostileText,
    fc.constantFrom<Json>(null, true, 0, 1e308),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(hostileText, tie('value'), { maxKeys: 3 }),
  ),
})).value;

export const hostileObject = fc.dictionary(hostileText, hostileJson, { maxKeys: 3 });

/** A definition as it stands in `tools/list`. */
export const hostileTool = fc.record(
  {
    name: hostileText,
    title: hostileText,
    description: hostileText,
    inputSchema: fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(hostileText, fc.record({ type: fc.constant('string'), description: hostileText }), {
        maxKeys: 2,
      }),
    }),
    annotations: fc.record({ title: hostileText, readOnlyHint: fc.boolean() }),
  },
  { requiredKeys: ['name', 'description', 'inputSchema'] },
);

/** Controls, bidi controls, what has no width, lone surrogates, separators: all but line feeds, and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u;

/** Fails where a terminal would be given what is not seen, and says where. */
export function expectSeen(text: string): void {
  const at = text.search(UNSEEN);
  expect(at < 0 ? 'nothing unseen' : JSON.stringify(text.slice(Math.max(0, at - 40), at + 20))).toBe('nothing unseen');
}
