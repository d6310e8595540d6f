/** The server that other people's MCP clients are tried with: over stdio, or with `--http` over HTTP, telling its address. */
import { contentSource, definePrompt, defineResource, defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';

const number = { type: 'number' };
const add = defineTool(
  {
    name: 'add',
    description: 'Adds two numbers.',
    input: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    output: { type: 'object', properties: { sum: number }, required: ['sum'] },
    annotations: { readOnlyHint: true },
  },
  ({ a, b }) => ({ sum: a + b }),
);
const content = contentSource({
  resources: [defineResource({ uri: 'notes://one', name: 'one', mimeType: 'text/plain', read: () => 'A note.' })],
  prompts: [
    definePrompt({
      name: 'greet',
      description: 'Greets somebody.',
      arguments: [{ name: 'who', required: true }],
      messages: ({ who }) => `Greet ${who}.`,
    }),
  ],
});
const host = await toolHost({ tools: [add], content: [content] });
if (process.argv.includes('--http')) {
  const { url, token } = await serve(host, { http: { port: 0 } });
  process.send?.({ url, token });
  process.once('disconnect', () => process.exit());
} else await serve(host, { stdio: true });
