import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { namesSecret } from './secret-name.ts';

const lines = (...texts: readonly string[]) => texts.join(' ').split(' ');

const SECRET = lines(
  'DB_PASS PIN SECRET_VALUE PASSPHRASE AUTH COOKIE TOKEN GITHUB_TOKEN GITHUB_PAT API_TOKENS API_KEYS apiKey X-API-Key',
  'apikey PGPASSWORD MYSQL_PWD --pwd authToken authtoken AccessToken ACCESSTOKEN client_secret clientSecret',
  'AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN Authorization Proxy-Authorization Set-Cookie X-Auth X_AUTH_TOKEN BASIC_AUTH',
  'OAuthToken userPin PINCode pin_code dbpass SSHPASS PASSWORD2 PASS_2 KEY_BASE64 PASSWORD_OLD refreshToken id_token',
  'GOOGLE_APPLICATION_CREDENTIALS creds JWT JWT_SECRET TOKEN_SECRET_VALUE SECRET_ID OTP cvv privateKey signing-key',
  'AUTH_HEADER AUTH_SERVER_PASSWORD xoxbToken pass passwd gitHubPAT csrf_token sessionCookie password.hash',
);
const NONE = lines(
  'PINNED PINS COMPASS BYPASS AUTHOR AUTHORS PASSENGER TOKENIZER_PATH TOKENIZER tokenization max_tokens maxTokens',
  'MAX_OUTPUT_TOKENS TOKEN_LIMIT tokenCount TOKEN_URL AUTH_URL AUTH_TYPE AUTH_ENABLED SSH_AUTH_SOCK PASSWORD_FILE',
  'COOKIE_DOMAIN SECRET_NAME PIN_MODE pass_rate PASS_THROUGH passed passport spinning pinecone MONKEY keyboard KEYBOARD',
  'PWD OLDPWD PATH PATTERN patient PUBLIC_KEY publicKey next_page_token nextPageToken progressToken pagetoken',
  'authority XAUTHORITY secretary cookiecutter region MODE user owner NODE_ENV _',
);

describe('a name', () => {
  test.each(SECRET)('%s is that of a secret', (name) => {
    expect(namesSecret(name, 'setting')).toBe(true);
  });

  test.each(NONE)('%s is not that of a secret', (name) => {
    expect(namesSecret(name, 'setting')).toBe(false);
    expect(namesSecret(name, 'member')).toBe(false);
  });

  test.each(['key', 'KEY', 'sort_key', 'issueKey', 'primary-key'])(
    '%s is that of a secret as a setting only',
    (name) => {
      expect(namesSecret(name, 'setting')).toBe(true);
      expect(namesSecret(name, 'member')).toBe(false);
    },
  );

  test('says the same however it is spelled', () => {
    const words = fc.constantFrom(
      'db',
      'pass',
      'api',
      'key',
      'author',
      'token',
      'max',
      'tokens',
      'pin',
      'pinned',
      'url',
    );
    const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), (parts) => {
        const spelled = [parts.join('_'), parts.join('-'), parts.join('_').toUpperCase(), parts.map(capital).join('')];
        const said = spelled.map((name) => namesSecret(name, 'member'));
        expect(new Set(said).size).toBe(1);
      }),
    );
  });

  test('hides nothing by characters that are not seen', () => {
    expect(namesSecret('pass\u200bword', 'member')).toBe(true);
    expect(namesSecret('ｐａｓｓｗｏｒｄ', 'member')).toBe(true);
  });

  test('that is very long is read in one go', () => {
    for (const part of ['A', 'aA', '_', '1', 'url_', 'Aa1']) {
      expect(namesSecret(`${part.repeat(20_000)}_x`, 'setting')).toBe(false);
    }
  });
});
