import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';
import { contentSource, defineResource, type Tool, toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { describe, expect, test } from 'vitest';
import { open } from './http-client.ts';
import { eventually, made } from './task-tools.ts';

const ADDRESS = 'https://example.com/sign-in';

async function older(
  tools: readonly Tool[],
  elicitation: { form?: Record<string, unknown>; url?: object },
  content = contentSource({}),
) {
  const handle = await serve(await toolHost({ tools, content: [content] }), { http: { port: 0, token: false } });
  open.push(handle);
  const client = new Client({ name: 'c', version: '1' }, { capabilities: { elicitation } });
  const completed: string[] = [];
  const asked: unknown[] = [];
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    completed.push(params.elicitationId);
  });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params);
    return { action: 'accept' as const };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(handle.url ?? '')) as never);
  open.push(client);
  return { client, completed, asked };
}

/** Signs its person in before it can do anything. */
function signingIn() {
  let isIn = false;
  let finish = () => {};
  const completed = new Promise<void>((resolve) => {
    finish = () => {
      isIn = true;
      resolve();
    };
  });
  const tool = made('orders', async (_, { visit }) => {
    if (isIn) return 'Your orders.';
    const { action } = await visit('Please sign in.', ADDRESS, { first: true, completed });
    return `They said ${action}.`;
  });
  return { tool, finish: () => finish(), completed };
}

describe('an address that has to be visited before a call can be made, in 2025-11-25', () => {
  test('ends the call with the address; the client is told when it is over, and makes the call again', async () => {
    const { tool, finish } = signingIn();
    const { client, completed, asked } = await older([tool], { url: {} });
    const error = await client.callTool({ name: 'orders', arguments: {} }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    const { code, elicitations } = error as UrlElicitationRequiredError;
    expect(code).toBe(-32042);
    expect(elicitations).toEqual([
      { mode: 'url', message: 'Please sign in.', url: ADDRESS, elicitationId: expect.any(String) },
    ]);
    finish();
    await eventually(() => expect(completed).toEqual(elicitations.map(({ elicitationId }) => elicitationId)));
    expect(await client.callTool({ name: 'orders', arguments: {} })).toMatchObject({
      content: [{ text: 'Your orders.' }],
    });
    expect(asked).toEqual([]);
  });

  test('is a failed call for a client that visits nothing', async () => {
    const { client } = await older([signingIn().tool], { form: {} });
    expect(await client.callTool({ name: 'orders', arguments: {} })).toMatchObject({ isError: true });
  });

  test('ends the reading of a resource in the same way', async () => {
    const read = async ({ visit }: Parameters<Parameters<typeof defineResource>[0]['read']>[0]) => {
      await visit('Please sign in.', ADDRESS, { first: true });
      return 'never';
    };
    const content = contentSource({ resources: [defineResource({ uri: 'shop://orders', name: 'orders', read })] });
    const { client } = await older([], { url: {} }, content);
    await expect(client.readResource({ uri: 'shop://orders' })).rejects.toBeInstanceOf(UrlElicitationRequiredError);
  });
});

test('a visit in the middle of a call of 2025-11-25 is a question, and its end is told under its name', async () => {
  let finish = () => {};
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const pays = made('pays', async (_, { visit }) => (await visit('Please pay.', ADDRESS, { completed: over })).action);
  const { client, completed, asked } = await older([pays], { url: {} });
  expect(await client.callTool({ name: 'pays', arguments: {} })).toMatchObject({ content: [{ text: 'accept' }] });
  const [{ elicitationId } = {}] = asked as { elicitationId?: string }[];
  expect(completed).toEqual([]);
  finish();
  await eventually(() => expect(completed).toEqual([elicitationId]));
});

test('what never is over is never told', async () => {
  let fail = () => {};
  const failed = new Promise<void>((_, reject) => {
    fail = () => reject(new Error('The payment failed.'));
  });
  const pays = made(
    'pays',
    async (_, { visit }) => (await visit('Please pay.', ADDRESS, { completed: failed })).action,
  );
  const { client, completed } = await older([pays], { url: {} });
  await client.callTool({ name: 'pays', arguments: {} });
  fail();
  await client.ping();
  expect(completed).toEqual([]);
});
