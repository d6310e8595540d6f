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

  test('is nothing where there is nothing secret', () => {
    expect(headerSecrets({ url: 'https://h.test/mcp' })('Basic Og== at h.test')).toBe('Basic Og== at h.test');
  });
});
