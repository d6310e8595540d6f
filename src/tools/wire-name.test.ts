import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WIRE_NAME_LIMIT, wireName, wireServerPart } from './wire-name.ts';

const foreign = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 });
const key = fc.option(foreign, { nil: null });

describe('wireName', () => {
  test('is mcp__server__tool where both are clean, and the own name for tools of this process', () => {
    expect(wireName('fs', 'read_file')).toBe('mcp__fs__read_file');
    expect(wireName(null, 'get_order')).toBe('get_order');
    expect(wireName('s', 'constructor')).toBe('mcp__s__constructor');
  });

  test('cleans, cuts and marks whatever does not fit', () => {
    expect(wireName('my server', 'files.read')).toMatch(/^mcp__my_server-[0-9a-f]{8}__files_read-[0-9a-f]{8}$/);
    expect(wireName('s', 'x'.repeat(100))).toHaveLength(WIRE_NAME_LIMIT);
    expect(wireName(null, '名前')).toMatch(/^_-[0-9a-f]{8}$/);
  });

  test('always fits the name rule of the Messages API hosts, and is pure', () => {
    fc.assert(
      fc.property(key, foreign, (server, tool) => {
        const name = wireName(server, tool);
        expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(wireName(server, tool)).toBe(name);
      }),
    );
  });

  test('tells different tools apart', () => {
    const clean = fc.stringMatching(/^[a-zA-Z0-9_-]{1,40}$/);
    const any = fc.oneof(clean, foreign, fc.constantFrom('a__b', '_a', 'a_', '__', 'b__c', 'c', 'a'));
    fc.assert(
      fc.property(fc.tuple(any, any), fc.tuple(any, any), (a, b) => {
        fc.pre(a[0] !== b[0] || a[1] !== b[1]);
        expect(wireName(a[0], a[1])).not.toBe(wireName(b[0], b[1]));
      }),
      { numRuns: 1_000 },
    );
  });

  test('does not let an own tool pass for one of a server', () => {
    expect(wireName(null, 'mcp__fs__read')).not.toBe(wireName('fs', 'read'));
  });

  test('keeps the server part free of what ends it', () => {
    fc.assert(
      fc.property(foreign, (server) => {
        const part = wireServerPart(server);
        expect(part).not.toContain('__');
        expect(part).not.toMatch(/^_|_$/);
      }),
    );
  });
});
