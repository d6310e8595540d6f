import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { elementSlices, memberSlices } from './json-slice.ts';

const spaced = fc
  .tuple(fc.json(), fc.constantFrom(0, 1, 2, '\t', ' \r\n '))
  .map(([text, indent]) => JSON.stringify(JSON.parse(text), null, typeof indent === 'number' ? indent : indent));

describe('slices of JSON text', () => {
  test('a member keeps its spelling', () => {
    const text = ' {"a" : 12345678901234567890 ,"b":[1.0, {"c":"]}\\""} ],"d":-1e-7,"e":null}';
    const values = [...memberSlices(text)].map(([name, { start, end }]) => [name, text.slice(start, end)]);
    expect(values).toEqual([
      ['a', '12345678901234567890'],
      ['b', '[1.0, {"c":"]}\\""} ]'],
      ['d', '-1e-7'],
      ['e', 'null'],
    ]);
  });

  test('an escaped name is found under what it means, and the last of a repeated one counts', () => {
    const text = '{"\\u0069d":1,"id":2}';
    const slice = memberSlices(text).get('id');
    expect(slice && text.slice(slice.start, slice.end)).toBe('2');
  });

  test('text that is another kind of value has no members and no elements', () => {
    expect(memberSlices('[{"a":1}]').size).toBe(0);
    expect(elementSlices('{"a":[1]}')).toEqual([]);
    expect(memberSlices('{ }').size).toBe(0);
    expect(elementSlices('[ ]')).toEqual([]);
  });

  test('for any JSON object, each slice parses to the member it stands for', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), spaced), fc.constantFrom('', ' ', '\n\t'), (members, space) => {
        const names = Object.keys(members);
        const text = `${space}{${names
          .map((name) => `${space}${JSON.stringify(name)}${space}:${space}${members[name]}${space}`)
          .join(',')}}${space}`;
        const whole = JSON.parse(text) as Record<string, unknown>;
        const slices = memberSlices(text);
        expect([...slices.keys()]).toEqual(names);
        for (const [name, { start, end }] of slices) expect(JSON.parse(text.slice(start, end))).toEqual(whole[name]);
      }),
    );
  });

  test('for any JSON array, each slice is the element as written', () => {
    fc.assert(
      fc.property(fc.array(spaced), fc.constantFrom('', ' ', '\r\n'), (elements, space) => {
        const text = `[${space}${elements.join(`${space},${space}`)}${space}]`;
        expect(elementSlices(text).map(({ start, end }) => text.slice(start, end))).toEqual(elements);
      }),
    );
  });
});
