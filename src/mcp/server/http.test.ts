import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { ServeHandle } from '../../contracts/index.ts';
import { serveOverHttp } from './http.ts';

const open: ServeHandle[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((handle) => handle.close()));
});

function statusOf(url: string, method: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
}

test.each(['TRACE', 'PUT', 'OPTIONS', 'HEAD'])('%s is no method of this protocol', async (method) => {
  const host = { list: () => [], call: () => Promise.reject(new Error('not called')), onChange: () => () => {} };
  const handle = await serveOverHttp(host, { port: 0 });
  open.push(handle);
  expect(await statusOf(handle.url ?? '', method)).toBe(405);
});
