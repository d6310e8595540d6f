/** A server author's whole program, with the noise and the carelessness that real ones have. */
import { defineTool, ToolFailure, toolHost } from 'bridle';
import { serve } from 'bridle/server';

const none = { type: 'object', properties: {} };
let step = () => {};

console.log('a banner that a library prints');

const tools = [
  defineTool(
    {
      name: 'add',
      description: 'Adds two numbers.',
      input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
      output: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
      annotations: { readOnlyHint: true },
      preview: () => 'seen by nobody over MCP',
    },
    ({ a, b }) => ({ sum: a + b }),
  ),
  defineTool({ name: 'noisy', description: 'Prints where it should not.', input: none }, () => {
    console.log('{"jsonrpc":"2.0","id":1,"result":{"forged":true}}');
    process.stdout.write('half a line');
    console.error('to stderr anyway');
    return 'quiet';
  }),
  defineTool({ name: 'fails', description: 'Fails as it means to.', input: none }, () => {
    throw new ToolFailure('The shelf is empty.', { alternatives: ['try another shelf'] });
  }),
  defineTool(
    { name: 'counts', description: 'Reports progress, step by step as `next` is called.', input: none },
    async (_input, { progress }) => {
      for (const done of [1, 2, 3]) {
        const stepped = new Promise((resolve) => {
          step = resolve;
        });
        progress(done, 3);
        await stepped;
      }
      return 'counted';
    },
  ),
  defineTool({ name: 'next', description: 'Lets `counts` go on.', input: none }, () => {
    step();
    return 'ok';
  }),
  defineTool({ name: 'big', description: 'Answers at length.', input: none }, () => 'x'.repeat(5_000_000)),
  defineTool(
    { name: 'waits', description: 'Waits until it is cancelled.', input: none },
    async (_input, { signal }) => {
      console.error('waiting');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      console.error('aborted');
      return 'never read';
    },
  ),
];

const host = await toolHost({ tools });
const handle = await serve(host, { stdio: true });
if (process.argv.includes('--again')) {
  await handle.close();
  await serve(host, { stdio: true });
}
console.error('serving');
if (process.argv.includes('--linger')) setInterval(() => {}, 1_000_000);
