import { describe, expect, test } from 'vitest';
import { serverFingerprint } from './server.ts';

describe('who a server is', () => {
  test('command and arguments decide, each for itself', () => {
    const one = serverFingerprint('node', ['a', 'b']);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(serverFingerprint('node', ['a', 'b'])).toBe(one);
    expect(serverFingerprint('node', ['a b'])).not.toBe(one);
    expect(serverFingerprint('node', ['b', 'a'])).not.toBe(one);
  });

  test('of a URL, origin and path decide', () => {
    const one = serverFingerprint(new URL('https://example.com/mcp?key=1#a'));
    expect(serverFingerprint(new URL('https://example.com/mcp'))).toBe(one);
    expect(serverFingerprint(new URL('https://example.com/other'))).not.toBe(one);
  });
});
