import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandLine, shortSecrets, withoutSecrets } from './secrets.ts';

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
    [['DB_PASS=abc', '--pin', '1234', 'PINNED=yes'], 'npx DB_PASS=*** --pin *** PINNED=yes'],
    [
      ['--token-limit', '512', '--max-tokens=9', '--author', 'ada'],
      'npx --token-limit 512 --max-tokens=9 --author ada',
    ],
    [['-----'.repeat(20)], `npx ${'-----'.repeat(20)}`],
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

  test.each([
    [
      'API_TOKEN',
      'a1b2',
      'token a1b2 refused, not xa1b2 nor a1b2_c',
      'token <API_TOKEN> refused, not xa1b2 nor a1b2_c',
    ],
    ['DB_PASSWORD', 'p$1.x', '(p$1.x) or p$12x', '(<DB_PASSWORD>) or p$12x'],
    ['SECRET', 'été1', 'été1, étéé1', '<SECRET>, étéé1'],
    ['DB_PASS', 'pw12', 'pw12', '<DB_PASS>'],
    ['PIN', '4711', 'line 4711', 'line <PIN>'],
    ['SECRET_VALUE', 'abcd', 'abcd', '<SECRET_VALUE>'],
    ['PINNED', 'abcd', 'abcd', 'abcd'],
    ['max_tokens', '4096', 'of 4096', 'of 4096'],
    ['TOKEN', 'a1b2', String.raw`{"log":"said\na1b2\n"}`, String.raw`{"log":"said\n<TOKEN>\n"}`],
    ['TOKEN', 'a1b2', String.raw`\u003da1b2 \x3da1b2 \ta1b2`, String.raw`\u003d<TOKEN> \x3d<TOKEN> \t<TOKEN>`],
    ['TOKEN', 'a1b2', '?token%3Da1b2%26x', '?token%3D<TOKEN>%26x'],
    ['TOKEN', 'a1b2', '\u001b[31ma1b2\u001b[0m', '\u001b[31m<TOKEN>\u001b[0m'],
    ['TOKEN', 'a"b1', String.raw`{"is":"a\"b1"}`, '{"is":"<TOKEN>"}'],
    ['TOKEN', 'a=b1', 'x?t=a%3Db1&y', 'x?t=<TOKEN>&y'],
    ['MODE', 'long/value"1', 'x=long%2Fvalue%221', 'x=<MODE>'],
    ['X-Auth', 'Basic', 'Basic failed', 'Basic failed'],
    ['TOKEN', 'true', 'true', 'true'],
    ['TOKEN', 'abc', 'abc', 'abc'],
    ['REGION', 'west', 'in west', 'in west'],
    ['MONKEY', 'bobo', 'bobo', 'bobo'],
  ])('a short value of %s is hidden where it is a secret and stands as a word: %s', (name, value, said, shown) => {
    expect(withoutSecrets(said, { [name]: value })).toBe(shown.replace(/<(\w+)>/g, '$' + '{$1}'));
  });

  test('a short secret of any characters is hidden where it stands alone', () => {
    const value = fc.string({ minLength: 4, maxLength: 7, unit: 'binary' }).map((text) => text.replace(/\s/g, '-'));
    fc.assert(
      fc.property(value, (secret) => {
        fc.pre(!/^(bearer|basic|digest|token|negotiate|apikey|true|false|none|null)$/i.test(secret));
        expect(withoutSecrets(`is "${secret}".`, { PASSWORD: secret })).toBe('is "$' + '{PASSWORD}".');
      }),
    );
  });

  test('what is too short to be hidden is named', () => {
    const values = {
      TOKEN: 'abc',
      Authorization: 'Bearer x',
      SECRET: '',
      KEY: 'on',
      MODE: 'x',
      PASSWORD: 'abcd',
      Cookie: 'a b',
    };
    expect(shortSecrets(values)).toEqual(['TOKEN', 'Authorization']);
    expect(shortSecrets()).toEqual([]);
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
