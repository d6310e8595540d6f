import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { legacyResult, modernResult } from './result-text.ts';

const INFO = '{"name":"bridle","version":"1"}';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
const modern = (text: string) => modernResult({ result: JSON.parse(text), text }, INFO);
const legacy = (text: string) => legacyResult({ result: JSON.parse(text), text });

/** What no parsed value keeps. */
const AS_RECEIVED =
  '"structuredContent":{"big":12345678901234567890123,"one":1.0,"e":1E+2},"content":[{"type":"hologram","x":-0.0}],"future":{"__proto__":{"a":1}}';

describe('a result for a client of 2026-07-28', () => {
  test('leaves as it was received, numbers and fields of the future among it, with its type and who answered', () => {
    const text = modern(`{${AS_RECEIVED}}`);
    expect(text).toContain(AS_RECEIVED);
    expect(JSON.parse(text)).toMatchObject({ resultType: 'complete', _meta: { [SERVER_INFO]: { name: 'bridle' } } });
  });

  test('keeps what it says of itself, and its metadata', () => {
    const meta = `"_meta":{"a":1.0,"b":{"_meta":{}}}`;
    const text = modern(`{"resultType":"task","nested":{"_meta":1},${meta}}`);
    expect(text.match(/resultType/g)).toHaveLength(1);
    expect(text).toContain('"a":1.0,"b":{"_meta":{}}');
    expect(JSON.parse(text)).toMatchObject({
      resultType: 'task',
      nested: { _meta: 1 },
      _meta: { a: 1, [SERVER_INFO]: {} },
    });
    const said = `{"resultType":"complete","_meta":{"${SERVER_INFO}":{"name":"other"}}}`;
    expect(modern(said)).toBe(said);
  });

  test('is right where it is empty, where its metadata is empty or none, and where names are spelled oddly', () => {
    for (const text of [
      '{}',
      '{ \n }',
      '{"_meta":{}}',
      '{"_meta": { } }',
      String.raw`{"\u005fmeta":{"a":1}}`,
      '{"_meta":{"a":1},"_meta":{"b":2}}',
    ]) {
      const value = JSON.parse(modern(text));
      expect(value, text).toMatchObject({ ...JSON.parse(text), resultType: 'complete' });
      expect(value._meta[SERVER_INFO], text).toEqual(JSON.parse(INFO));
    }
    expect(JSON.parse(modern('{"_meta":null}'))).toEqual({ resultType: 'complete', _meta: null });
  });

  test('is one line, whatever lines it came in', () => {
    expect(modern('{\r\n "content":\n [] }')).not.toMatch(/[\r\n]/);
  });
});

describe('a result for a client of the older revisions', () => {
  test('leaves as it was received where it is one of theirs', () => {
    expect(legacy(`{${AS_RECEIVED}}`)).toBe(`{${AS_RECEIVED}}`);
    expect(legacy('{"content":[],\n"_meta":{"a":1.0}}')).toBe('{"content":[], "_meta":{"a":1.0}}');
  });

  test('loses what only the newest says, and nothing else', () => {
    const text = legacy(`{"resultType":"complete","ttlMs":0,${AS_RECEIVED},"cacheScope":"private"}`);
    expect(text).toBe(`{${AS_RECEIVED}}`);
  });

  test('has structured content that is no object as text, spelled as received, where nothing else is said', () => {
    const text = legacy('{"structuredContent":[12345678901234567890, 1.0]}');
    expect(JSON.parse(text)).toEqual({ content: [{ type: 'text', text: '[12345678901234567890, 1.0]' }] });
    const said = legacy('{"content":[{"type":"text","text":"hi"}],"structuredContent":7}');
    expect(JSON.parse(said)).toEqual({ content: [{ type: 'text', text: 'hi' }] });
  });
});

test('every result stays what it is, in either era', () => {
  const own = fc.constantFrom('content', '_meta', 'resultType', 'ttlMs', 'a"b', '\\', '__proto__', '');
  const result = fc.dictionary(fc.oneof(own, fc.string({ unit: 'binary' })), fc.jsonValue());
  fc.assert(
    fc.property(result, fc.constantFrom(0, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const given = JSON.parse(text);
      const { resultType, _meta, ...rest } = JSON.parse(modern(text));
      for (const [name, member] of Object.entries(rest)) expect(member).toEqual(given[name]);
      expect(resultType).toEqual('resultType' in given ? given.resultType : 'complete');
      expect(
        _meta === null || typeof _meta !== 'object' || Array.isArray(_meta) ? _meta : { ...given._meta, ..._meta },
      ).toEqual(_meta);
      const older = JSON.parse(legacy(text));
      for (const [name, member] of Object.entries(older)) expect(member).toEqual(given[name]);
      const lost = Object.keys(given).filter((name) => !Object.hasOwn(older, name));
      expect(lost.filter((name) => !['resultType', 'ttlMs', 'cacheScope'].includes(name))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
