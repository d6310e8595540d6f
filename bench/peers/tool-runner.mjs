/** The Anthropic SDK's own loop, without message threads, for `turns.mjs`. */
import Anthropic from '@anthropic-ai/sdk';
import { MODEL, measureLoop, TOOL, weather } from '../turns-child.mjs';

await measureLoop(async ({ url, mode, cap }) => {
  const client = new Anthropic({ baseURL: url, maxRetries: 0 });
  const { input, ...rest } = TOOL;
  const tool = { ...rest, input_schema: input, run: weather, parse: (value) => value };
  const stream = mode === 'streamed';
  return async (prompt) => {
    const messages = [{ role: 'user', content: prompt }];
    const settings = { model: MODEL, max_tokens: 1000, messages, tools: [tool], max_iterations: cap, thread: false };
    const runner = client.beta.messages.toolRunner({ ...settings, stream });
    let last;
    for await (const turn of runner) last = stream ? await turn.finalMessage() : turn;
    return last.content[0].text;
  };
});
