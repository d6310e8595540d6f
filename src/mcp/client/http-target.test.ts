import { describe, expect, test } from 'vitest';
import { headerSecrets, httpTarget } from './http-target.ts';

describe('what is taken out of messages', () => {
  test('is a password of the URL also as it is sent, which a server may repeat', () => {
    const server = { key: 'x', scope: 'user', url: 'https://ada:p%40ssword@h.test/mcp' } as const;
    const { authorization = '' } = httpTarget(server, 'x').headers;
    const clean = headerSecrets(server);
    const said = clean(`got "authorization: ${authorization}", that is p@ssword`);
    expect(authorization).toMatch(/^Basic .+/);
    expect(said).not.toContain(authorization.slice('Basic '.length));
    expect(said).not.toContain('p@ssword');
  });

  test('is a short token of a header, and a short password of the URL, where they stand as words', () => {
    const headers = { Authorization: 'Bearer t0k3', 'X-Region': 'west' };
    const clean = headerSecrets({ url: 'https://ada:pw12@h.test/mcp', headers });
    expect(clean('t0k3 or pw12 is wrong in west')).toBe(
      '<Authorization> or <password> is wrong in west'.replace(/<(\w+)>/g, '$' + '{$1}'),
    );
  });

  test('is a header whatever it is called, also as the parts of a URL are', () => {
    const headers = { password: 'of-the-header', user: 'ada-of-the-header', 'user and password': 'both-of-them' };
    for (const url of ['https://h.test/mcp', 'https://ada:pw12@h.test/mcp', 'https://t0k3@h.test/mcp']) {
      const said = headerSecrets({ url, headers })('of-the-header, ada-of-the-header, both-of-them, pw12, t0k3');
      expect(said).not.toMatch(/of-the/);
      expect(said.includes('pw12')).toBe(!url.includes('pw12'));
      expect(said.includes('t0k3')).toBe(!url.includes('t0k3'));
    }
  });

  test('is a parameter of the URL that is named like a secret', () => {
    const clean = headerSecrets({ url: 'https://h.test/mcp?api_key=a1b2&profile=main', headers: {} });
    expect(clean('GET /mcp?api_key=a1b2&profile=main')).toBe(
      'GET /mcp?api_key=<api_key>&profile=main'.replace('<api_key>', '$' + '{api_key}'),
    );
  });

  test('is nothing where there is nothing secret', () => {
    expect(headerSecrets({ url: 'https://h.test/mcp' })('Basic Og== at h.test')).toBe('Basic Og== at h.test');
  });
});
