import { describe, expect, test } from 'vitest';
import { commandLine, withoutSecrets } from './secrets.ts';

describe('the command line of a server', () => {
  test.each([
    [['-y', 'some-server', '/a b'], 'npx -y some-server "/a b"'],
    [['--api-key', 'abc', '--port', '1'], 'npx --api-key *** --port 1'],
    [['--key', 'abc', '--keyboard', 'us'], 'npx --key *** --keyboard us'],
    [['--token=abc'], 'npx --token=***'],
    [['-e', 'GITHUB_TOKEN=abc'], 'npx -e GITHUB_TOKEN=***'],
    [['-e', 'GITHUB_PAT=abc', 'MODE=dev'], 'npx -e GITHUB_PAT=*** MODE=dev'],
    [['--header', 'Authorization: Bearer abc'], 'npx --header "Authorization: ***"'],
    [['-H', 'X-Tenant:abc'], 'npx -H X-Tenant:***'],
    [['--header=X-Api-Key:abc'], 'npx --header=X-Api-Key:***'],
    [['--env=API_TOKEN=abc'], 'npx --env=API_TOKEN=***'],
    [['Bearer abc'], 'npx "Bearer ***"'],
    [['postgres://ada:pw@db/x'], 'npx postgres://ada:***@db/x'],
    [['https://abc@example.com/x'], 'npx https://***@example.com/x'],
    [['https://example.com/?a=1&apiKey=abc&b=2#c'], 'npx https://example.com/?a=1&apiKey=***&b=2#c'],
    [['http://localhost:3000/mcp'], 'npx http://localhost:3000/mcp'],
    [['--config', '{"apiKey":"a\\"bc","region":"eu"}'], 'npx --config {"apiKey":"***","region":"eu"}'],
    [['login', 'ghp_0123456789abcdef'], 'npx login ***'],
    [['--no-auth', '--verbose'], 'npx --no-auth --verbose'],
  ])('%j is shown without secrets', (args, shown) => {
    expect(commandLine({ command: 'npx', args })).toBe(shown);
  });

  test('names the values of its environment, however long the line is', () => {
    const server = { command: 'npx', args: ['x'.repeat(290), 'hunter2-hunter2'], env: { PIN: 'hunter2-hunter2' } };
    expect(commandLine(server)).not.toContain('hunter2');
  });
});

describe('what a server printed', () => {
  test('names the values of its environment, unless they are too short to be secret', () => {
    expect(withoutSecrets('key sk-12345678 refused on x', { KEY: 'sk-12345678', MODE: 'x' })).toBe(
      'key $' + '{KEY} refused on x',
    );
  });

  test('shows nothing of a value that contains another', () => {
    const env = { USER_PART: 'ada-12345', URL: 'db://ada-12345:hunter2@db' };
    expect(withoutSecrets('can not reach db://ada-12345:hunter2@db', env)).toBe('can not reach $' + '{URL}');
  });

  test('shows no line of a value of several lines', () => {
    const env = { PEM: '-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----\n' };
    expect(withoutSecrets('MIIEvQIBADANBg', env)).toBe('$' + '{PEM}');
  });
});
