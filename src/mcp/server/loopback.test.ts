import { describe, expect, test } from 'vitest';
import { isLoopback, refusedOrigin } from './loopback.ts';

const headers = (host: string | null, origin?: string) =>
  new Map([
    ...(host === null ? [] : [['host', host] as const]),
    ...(origin === undefined ? [] : [['origin', origin] as const]),
  ]);

describe('on loopback', () => {
  test.each(['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST'])('Host %s is this machine', (host) => {
    expect(refusedOrigin('127.0.0.1', headers(host))).toBeUndefined();
  });

  test.each(['evil.example', 'localhost.evil.example:3000', '127.0.0.1.evil.example', ''])(
    'Host "%s" is refused',
    (host) => {
      expect(refusedOrigin('127.0.0.1', headers(host))).toMatch(/^Host /);
    },
  );

  test('a request without Host is refused', () => {
    expect(refusedOrigin('127.0.0.1', headers(null))).toMatch(/\(none\)/);
  });

  test('a page of this machine may call, one of another site may not, nor one that hides where it is from', () => {
    expect(refusedOrigin('127.0.0.1', headers('localhost', 'http://localhost:5173'))).toBeUndefined();
    expect(refusedOrigin('127.0.0.1', headers('localhost', 'https://evil.example'))).toMatch(/^Origin /);
    expect(refusedOrigin('127.0.0.1', headers('localhost', 'null'))).toMatch(/^Origin /);
  });
});

describe('off loopback', () => {
  test('any Host may be its name, and only a page of that name may call', () => {
    expect(refusedOrigin('0.0.0.0', headers('tools.example'))).toBeUndefined();
    expect(refusedOrigin('0.0.0.0', headers('tools.example:8080', 'http://tools.example:8080'))).toBeUndefined();
    expect(refusedOrigin('0.0.0.0', headers('tools.example', 'https://evil.example'))).toMatch(/^Origin /);
  });

  test('0.0.0.0 is not loopback', () => {
    expect(isLoopback('0.0.0.0')).toBe(false);
  });
});
