import type { ServerResponse } from 'node:http';
import { mcpContent } from 'bridle/mcp';
import { afterEach, expect, test } from 'vitest';
import { closeHttp, connect, up } from './helpers/http-peers.ts';
import { json, modernStart, stream, tell } from './helpers/http-servers.ts';
import { context, eventually } from './helpers/mcp.ts';

afterEach(closeHttp);

test('a resource that is kept is read again once its server says that it changed', async () => {
  let reads = 0;
  const listening: ServerResponse[] = [];
  const server = await up((asked, response) => {
    if (modernStart(asked, response, { resources: { subscribe: true } })) return;
    if (asked.body.method === 'subscriptions/listen') {
      listening.push(response);
      stream(response);
      const _meta = { 'io.modelcontextprotocol/subscriptionId': asked.body.id };
      const notifications = { resourceSubscriptions: ['a:1'] };
      tell(response, { method: 'notifications/subscriptions/acknowledged', params: { _meta, notifications } });
      return;
    }
    reads += 1;
    const contents = [{ uri: 'a:1', text: `read ${reads}` }];
    json(response, 200, { id: asked.body.id, result: { resultType: 'complete', ttlMs: 3_600_000, contents } });
  });
  const connection = connect(server.url).connection;
  const content = mcpContent(connection);
  const read = async () => JSON.stringify(await content.read('a:1', context()));
  let told = 0;
  content.subscribe('a:1', () => {
    told += 1;
  });
  expect(await read()).toContain('read 1');
  expect(await eventually(() => listening.length > 0)).toBe(true);
  const before = told;
  await read();
  const params = { uri: 'a:1' };
  for (const response of listening) tell(response, { method: 'notifications/resources/updated', params });
  expect(await eventually(() => told > before)).toBe(true);
  const asked = reads;
  expect(await read()).toContain(`read ${asked + 1}`);
});
