import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import type { CallContext, ContentSource, JsonObject, SourceResult } from 'bridle';
import { contentSource, definePrompt, defineResource, toolHost } from 'bridle';
import { connectHttp, mcpContent } from 'bridle/mcp';
import { serve } from 'bridle/server';
import { afterEach, expect, test } from 'vitest';
import { answered } from '../../src/host/content/answered.ts';
import { rawFrom } from '../../src/tools/index.ts';
import { entry } from '../helpers/http-servers.ts';
import { never } from '../helpers/mcp.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const requestedSchema = { type: 'object', properties: { part: { type: 'string' } } };
const QUESTION = { method: 'elicitation/create', params: { mode: 'form', message: 'Which part?', requestedSchema } };

/** A server whose resource and prompt ask which part is meant, by a result or, where that can't be, in the call. */
async function asking(): Promise<string> {
  const own = contentSource({
    resources: [defineResource({ uri: 'docs://long', name: 'long', read: () => '' })],
    prompts: [definePrompt({ name: 'sum', messages: () => '' })],
  });
  const leg = async (ctx: CallContext, made: (part: string) => JsonObject): Promise<SourceResult> => {
    if (!ctx.answers) return { kind: 'input_required', requests: rawFrom({ part: QUESTION }), state: 'first' };
    const { part } = ctx.answers.responses as { part: { content: { part: string } } };
    return { kind: 'result', raw: rawFrom(made(`${part.content.part} after ${ctx.answers.state}`)), isError: false };
  };
  const source: ContentSource = {
    ...own,
    read: (uri, ctx) => leg(ctx, (text) => ({ contents: [{ uri, text }] })),
    prompt: (_name, _args, ctx) =>
      leg(ctx, (text) => ({ messages: [{ role: 'user', content: { type: 'text', text } }] })),
  };
  const handle = await serve(await toolHost({ tools: [], content: [source] }), { http: { port: 0, token: false } });
  closing.push(() => handle.close());
  return handle.url ?? '';
}

test.each(['legacy', 'modern'] as const)(
  'a resource and a prompt that ask first are served, and answered by our host, in the %s era',
  async (era) => {
    const capabilities = { elicitation: { form: {} } };
    const connection = connectHttp(entry(await asking(), { era }), { capabilities });
    closing.push(() => connection.close());
    const source = mcpContent(connection);
    const messages: unknown[] = [];
    const input = async (request: { parse(): unknown }) => {
      messages.push((request.parse() as typeof QUESTION).params.message);
      return { action: 'accept', content: { part: 'chapter 2' } };
    };
    const caller = { who: { agent: 'ann', via: 'library' } as const, signal: never(), input };
    const ref = connection.server;
    const read = await answered(ref, { part: 'resource', tool: 'docs://long' }, caller, (ctx) =>
      source.read('docs://long', ctx),
    );
    const prompt = await answered(ref, { part: 'prompt', tool: 'sum' }, caller, (ctx) => source.prompt('sum', {}, ctx));
    const text = 'chapter 2 after first';
    expect(read.kind === 'result' && read.raw.parse()).toMatchObject({ contents: [{ uri: 'docs://long', text }] });
    expect(prompt.kind === 'result' && prompt.raw.parse()).toMatchObject({ messages: [{ content: { text } }] });
    expect(messages).toEqual(['Which part?', 'Which part?']);
  },
);

test.each(['legacy', '2026-07-28'] as const)('the official client of %s is asked, too', async (revision) => {
  const mode = revision === 'legacy' ? 'legacy' : ({ pin: revision } as const);
  const client = new ModernClient(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { part: 'the end' } }));
  await client.connect(new ModernHttp(new URL(await asking())));
  closing.push(() => client.close());
  expect((await client.readResource({ uri: 'docs://long' })).contents).toMatchObject([{ text: 'the end after first' }]);
  expect((await client.getPrompt({ name: 'sum' })).messages).toMatchObject([
    { content: { text: 'the end after first' } },
  ]);
});

test('a client that can not be asked gets an error that says what it lacks', async () => {
  const connection = connectHttp(entry(await asking(), { era: 'modern' }));
  closing.push(() => connection.close());
  const ctx: CallContext = {
    callId: '1',
    who: { agent: 'ann', via: 'library' },
    signal: never(),
    idleMs: 60_000,
    hardMs: 60_000,
  };
  const result = await mcpContent(connection).read('docs://long', ctx);
  expect(result).toMatchObject({ kind: 'failure', failure: { message: expect.stringContaining('elicitation') } });
});
