import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ContentContext, OwnContent, Tool } from 'bridle';
import { contentSource, definePrompt, defineResource, defineResourceTemplate, defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { afterEach, describe, expect, test } from 'vitest';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const none = { type: 'object', properties: {} } as const;
const PART = { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] } as const;
const user = (text: string) => ({ role: 'user', content: { type: 'text', text } }) as const;

async function served(tools: readonly Tool[], content: readonly OwnContent[] = []): Promise<string> {
  const host = await toolHost({ tools, content });
  const handle = await serve(host, { http: { port: 0, token: false } });
  closing.push(() => handle.close());
  return handle.url ?? '';
}

const tool = (name: string, handler: Parameters<typeof defineTool<typeof none>>[1]): Tool =>
  defineTool({ name, description: 'x', input: none }, handler) as Tool;

async function client(url: string, revision: string, capabilities: object): Promise<Client> {
  const mode = revision === '2026-07-28' ? ({ pin: revision } as const) : 'legacy';
  const connected = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  await connected.connect(new StreamableHTTPClientTransport(new URL(url)));
  closing.push(() => connected.close());
  return connected;
}

const everything = tool('everything', async (_, { ask, canAsk, roots, sample, visit }) => {
  const [said, folders, form, went] = await Promise.all([
    sample({ messages: [user('Say something.')], maxTokens: 20 }, { key: 'model' }),
    roots(),
    ask('Which part?', PART),
    visit('Please pay.', 'https://example.com/pay'),
  ]);
  const part = form.action === 'accept' ? form.content.part : form.action;
  return `${JSON.stringify(said.content)} ${folders[0]?.uri} ${part} ${went.action} ${canAsk('url')}`;
});

describe.each(['2025-11-25', '2026-07-28'])('an official client of %s', (revision) => {
  test('is asked for its model, its folders, a form and a visit, all in one call', async () => {
    const capabilities = { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } };
    const one = await client(await served([everything]), revision, capabilities);
    one.setRequestHandler('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'Hm.' },
      model: 'm',
    }));
    one.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }));
    one.setRequestHandler('elicitation/create', ({ params }) =>
      params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { part: 'the end' } },
    );
    const { content } = await one.callTool({ name: 'everything', arguments: {} });
    expect(content).toMatchObject([{ text: '{"type":"text","text":"Hm."} file:///work the end accept true' }]);
  });

  test('is asked by a resource, a template and a prompt of the program', async () => {
    const asks = async ({ ask }: ContentContext, of: string) => {
      const answer = await ask(`Which part of ${of}?`, PART);
      return answer.action === 'accept' ? `${answer.content.part} of ${of}` : null;
    };
    const content = contentSource({
      resources: [
        defineResource({ uri: 'docs://long', name: 'long', read: async (ctx) => (await asks(ctx, 'it')) ?? '' }),
      ],
      templates: [
        defineResourceTemplate({
          uriTemplate: 'docs://by/{id}',
          name: 'by',
          read: ({ id = '' }, _uri, ctx) => asks(ctx, id),
        }),
      ],
      prompts: [
        definePrompt({
          name: 'sum',
          arguments: [{ name: 'of' }],
          messages: async ({ of = '' }, ctx) => (await asks(ctx, of)) ?? '',
        }),
      ],
    });
    const one = await client(await served([], [content]), revision, { elicitation: {} });
    one.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { part: 'the end' } }));
    expect((await one.readResource({ uri: 'docs://long' })).contents).toMatchObject([{ text: 'the end of it' }]);
    expect((await one.readResource({ uri: 'docs://by/me' })).contents).toMatchObject([{ text: 'the end of me' }]);
    const { messages } = await one.getPrompt({ name: 'sum', arguments: { of: 'all' } });
    expect(messages).toMatchObject([{ content: { text: 'the end of all' } }]);
  });

  test('that has no model is not asked for one, and none without tools is sent any', async () => {
    const plain = tool('plain', (_, { sample }) => sample({ messages: [user('Hi')], maxTokens: 1 }));
    const tools = tool('tools', (_, { sample }) => sample({ messages: [user('Hi')], maxTokens: 1, tools: [] }));
    const url = await served([plain, tools]);
    const said = async (capabilities: object, name: string) => {
      const one = await client(url, revision, capabilities);
      return one.callTool({ name, arguments: {} }).then(JSON.stringify, String);
    };
    expect(await said({}, 'plain')).toContain('sampling');
    expect(await said({ sampling: {} }, 'tools')).toContain('sampling');
  });
});

/** One request of 2026-07-28, with nothing but HTTP. */
async function modern(url: string, params: object) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'asks',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'asks', arguments: {}, _meta, ...params },
    }),
  });
  return (await answer.json()) as { id: number; error?: { code: number }; result?: Record<string, unknown> };
}

describe('what a client brings back', () => {
  const asks = tool('asks', async (_, { ask }) => (await ask('Which part?', PART, { key: 'part' })).action);
  const part = { action: 'accept', content: { part: 'x' } };

  test('under a state that was changed is an error of the protocol', async () => {
    const url = await served([asks]);
    const first = await modern(url, {});
    expect(first.result).toMatchObject({ resultType: 'input_required', inputRequests: { part: {} } });
    const state = String(first.result?.requestState);
    const changed = await modern(url, { inputResponses: { part }, requestState: `${state}x` });
    expect(changed).toMatchObject({ id: 7, error: { code: -32602 } });
    expect((await modern(url, { inputResponses: { part }, requestState: state })).result).toMatchObject({
      resultType: 'complete',
    });
    expect(await modern(url, { inputResponses: { part }, requestState: state })).toMatchObject({ id: 7 });
  });

  test.each([
    ['null', { inputResponses: null }],
    ['a list', { inputResponses: [part] }],
    ['a number in place of an answer', { inputResponses: { part: 12345 } }],
    ['a state that is no string', { requestState: { part } }],
  ])('that is %s is an error of the protocol', async (_, params) => {
    expect(await modern(await served([asks]), params)).toMatchObject({ id: 7, error: { code: -32602 } });
  });
});

test('a client of 2025-11-25 that a tool lets go comes back for the result', async () => {
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const long = tool('long', async (_, { disconnect }) => {
    disconnect();
    await gone;
    return 'done';
  });
  const url = await served([long]);
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const post = (body: object, session = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...session },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const clientInfo = { name: 'c', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const opened = await post({ id: 0, method: 'initialize', params });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  // The stream ends while the call runs, with nothing but a place to come back to.
  const called = await post({ id: 1, method: 'tools/call', params: { name: 'long', arguments: {} } }, session);
  const said = await called.text();
  expect(said).not.toContain('"result"');
  const last = /^id: (.+)$/m.exec(said)?.[1] ?? '';
  const again = await fetch(url, { headers: { accept: 'text/event-stream', 'last-event-id': last, ...session } });
  letGo();
  expect(await again.text()).toContain('done');
});
