/** Bridle's `serve` with one tool that echoes, as an author would write it. */
import { defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';

const echo = defineTool(
  {
    name: 'echo',
    description: 'Echoes a text.',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
  },
  ({ text }) => text,
);
const { url } = await serve(await toolHost({ tools: [echo] }), { http: { port: 0, token: false } });
process.send({ url });
process.once('disconnect', () => process.exit());
