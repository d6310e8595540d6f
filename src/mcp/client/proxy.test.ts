import { describe, expect, test } from 'vitest';
import { proxyFor } from './proxy.ts';

const proxy = (url: string, env: Record<string, string>) => proxyFor(new URL(url), 'it', env);
const HTTP = 'http://proxy.example:3128';

describe('the proxy for an address', () => {
  test.each([
    ['https://a.example', { HTTPS_PROXY: HTTP }, 'http://proxy.example:3128/'],
    ['https://a.example', { https_proxy: HTTP, HTTPS_PROXY: 'http://other.example' }, 'http://proxy.example:3128/'],
    ['http://a.example', { http_proxy: 'proxy.example:3128' }, 'http://proxy.example:3128/'],
    ['http://a.example', { HTTP_PROXY: HTTP, ALL_PROXY: 'socks5://x.example' }, 'http://proxy.example:3128/'],
    ['http://a.example', { HTTPS_PROXY: HTTP }, undefined],
    ['https://a.example', { HTTPS_PROXY: ' ' }, undefined],
    ['https://localhost:1', { HTTPS_PROXY: HTTP }, undefined],
    ['https://x.localhost', { HTTPS_PROXY: HTTP }, undefined],
    ['https://127.1.2.3', { HTTPS_PROXY: HTTP }, undefined],
    ['https://[::1]:8', { HTTPS_PROXY: HTTP }, undefined],
    ['https://localhost.example', { HTTPS_PROXY: HTTP }, 'http://proxy.example:3128/'],
  ])('%s under %j is %s', (url, env, found) => {
    expect(proxy(url, env as unknown as Record<string, string>)?.url.href).toBe(found);
  });

  test.each([
    ['https://a.example', '*', true],
    ['https://a.example', 'b.example, A.Example', true],
    ['https://sub.a.example', 'a.example', true],
    ['https://sub.a.example', '.a.example', true],
    ['https://sub.a.example', '*.a.example', true],
    ['https://nota.example', 'a.example', false],
    ['https://a.example', 'a.example:443', true],
    ['https://a.example:8443', 'a.example:443', false],
    ['http://10.1.2.3', '10.0.0.0/8', true],
    ['http://11.1.2.3', '10.0.0.0/8', false],
    ['http://10.1.2.3', '10.1.2.3', true],
    ['http://10.1.2.3', '2.3', false],
    ['http://10.1.2.3', '10.0.0.0/99', false],
    ['http://[fd00::1]', 'fd00::/8', true],
    ['http://[fd00::1]', '[fd00::1]', true],
    ['http://[fd00::1]', 'fd00::1', true],
  ])('%s with NO_PROXY=%s is left out: %s', (url, list, out) => {
    const env = { HTTP_PROXY: HTTP, HTTPS_PROXY: HTTP };
    for (const name of ['NO_PROXY', 'no_proxy']) expect(proxy(url, { ...env, [name]: list }) === null).toBe(out);
  });

  test('is told who asks, and named without that', () => {
    const found = proxy('https://a.example', { HTTPS_PROXY: 'http://me:p%40ss-word@proxy.example:3128' });
    expect(found?.authorization).toBe(`Basic ${Buffer.from('me:p@ss-word').toString('base64')}`);
    expect(found?.shown).toBe('$HTTPS_PROXY (http://proxy.example:3128/)');
  });

  test.each([
    ['SOCKS', { HTTPS_PROXY: 'socks5h://me:p4ss-word@proxy.example:1080' }, 'socks5h'],
    ['of ALL_PROXY', { ALL_PROXY: 'http://me:p4ss-word@proxy.example' }, '$ALL_PROXY'],
    ['that is no URL', { https_proxy: 'http://me:p4ss-word@:x' }, '$https_proxy'],
  ])('%s is refused in so many words, without its password', (_what, env, shown) => {
    let error: { code?: string; message?: string; hint?: string } = {};
    try {
      proxy('https://a.example', env as unknown as Record<string, string>);
    } catch (thrown) {
      error = thrown as typeof error;
    }
    expect(error).toMatchObject({ code: 'mcp_bad_proxy', hint: expect.stringContaining('NO_PROXY') });
    expect(error.message).toContain(shown);
    expect(error.message).not.toContain('p4ss');
  });
});
