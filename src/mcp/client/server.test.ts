import { describe, expect, test } from 'vitest';
import { commandLine, serverFingerprint, withoutSecrets } from './server.ts';

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

describe('what is shown of a server', () => {
  test.each([
    [['-y', 'some-server', '/a b'], 'npx -y some-server "/a b"'],
    [['--api-key', 'abc', '--port', '1'], 'npx --api-key *** --port 1'],
    [['--token=abc'], 'npx --token=***'],
    [['GITHUB_TOKEN=abc'], 'npx GITHUB_TOKEN=***'],
    [['postgres://ada:pw@db/x'], 'npx postgres://ada:***@db/x'],
    [['--no-auth', '--verbose'], 'npx --no-auth --verbose'],
  ])('%j is shown without secrets', (args, shown) => {
    expect(commandLine({ command: 'npx', args })).toBe(shown);
  });

  test('values of its environment are named, not printed, unless they are too short to be secret', () => {
    expect(withoutSecrets('key sk-12345678 refused on x', { KEY: 'sk-12345678', MODE: 'x' })).toBe(
      'key $' + '{KEY} refused on x',
    );
  });
});
