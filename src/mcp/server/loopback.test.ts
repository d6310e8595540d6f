import { describe, expect, test } from 'vitest';
import { isLoopback, refusedOrigin } from './loopback.ts';

const headers = (host: string | null, origin?: string) => ({ host: host ?? undefined, origin });

const LOCAL = { host: '127.0.0.1', identifies: false };
const SHARED = { host: '0.0.0.0', identifies: true };
const ANYONE = { host: '0.0.0.0', identifies: false };

describe('on loopback', () => {
  test.each(['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST'])('Host %s is this machine', (host) => {
    expect(refusedOrigin(LOCAL, headers(host))).toBeUndefined();
  });

  test.each(['evil.example', 'localhost.evil.example:3000', '127.0.0.1.evil.example', ''])(
    'Host "%s" is refused',
    (host) => {
      expect(refusedOrigin(LOCAL, headers(host))).toMatch(/^Host /);
    },
  );

  test('a request without Host is refused', () => {
    expect(refusedOrigin(LOCAL, headers(null))).toMatch(/\(none\)/);
  });

  test('a page of this machine may call, one of another site may not, nor one that hides where it is from', () => {
    expect(refusedOrigin(LOCAL, headers('localhost', 'http://localhost:5173'))).toBeUndefined();
    expect(refusedOrigin(LOCAL, headers('localhost', 'https://evil.example'))).toMatch(/^Origin /);
    expect(refusedOrigin(LOCAL, headers('localhost', 'null'))).toMatch(/^Origin /);
  });
});

describe('off loopback', () => {
  test('any Host may be its name, and only a page of that name may call', () => {
    expect(refusedOrigin(SHARED, headers('tools.example'))).toBeUndefined();
    expect(refusedOrigin(SHARED, headers('tools.example:8080', 'http://tools.example:8080'))).toBeUndefined();
    expect(refusedOrigin(SHARED, headers('tools.example', 'https://evil.example'))).toMatch(/^Origin /);
  });

  test('without identities, no page may call by a name: it can be made to mean this machine by whoever owns it', () => {
    expect(refusedOrigin(ANYONE, headers('evil.example', 'http://evil.example'))).toMatch(/^Origin /);
    expect(refusedOrigin(ANYONE, headers('192.0.2.7:80', 'http://192.0.2.7'))).toBeUndefined();
    expect(refusedOrigin(ANYONE, headers('[2001:db8::7]', 'http://[2001:db8::7]:80'))).toBeUndefined();
    expect(refusedOrigin(ANYONE, headers('localhost', 'http://localhost'))).toBeUndefined();
    expect(refusedOrigin({ ...ANYONE, host: 'tools.example' }, headers('tools.example', 'http://tools.example'))).toBe(
      undefined,
    );
    expect(refusedOrigin(ANYONE, headers('tools.example'))).toBeUndefined();
  });

  test('0.0.0.0 is not loopback', () => {
    expect(isLoopback('0.0.0.0')).toBe(false);
  });
});
