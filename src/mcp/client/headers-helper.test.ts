import { expect, test } from 'vitest';
import { helperHeaders } from './headers-helper.ts';

const server = { key: 'net', url: 'https://a.example/mcp' };
const options = { name: 'it', cwd: '/', own: process.env, signal: new AbortController().signal };

test('a command that takes too long is ended, with what it started', async () => {
  const never = helperHeaders(server, 'sleep 600 & sleep 600', { ...options, limitMs: 50 });
  await expect(never).rejects.toMatchObject({ code: 'mcp_headers_helper', message: expect.stringContaining('50 ms') });
});

test('a name of an object’s own is a name like others', async () => {
  const headers = await helperHeaders(server, `echo '{"__proto__": "a", "constructor": "b"}'`, options);
  expect(Object.entries(headers)).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});
