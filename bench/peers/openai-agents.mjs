/** The loop of OpenAI's agents SDK, on the same model by its adapter for the AI SDK, for `turns.mjs`. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { Agent, run, tool } from '@openai/agents';
import { aisdk } from '@openai/agents-extensions/ai-sdk';
import { MODEL, measureLoop, TOOL, weather } from '../turns-child.mjs';

await measureLoop(async ({ url, cap }) => {
  const model = aisdk(createAnthropic({ baseURL: `${url}/v1`, apiKey: 'sim' })(MODEL));
  const { name, description, input } = TOOL;
  const agent = new Agent({
    name: 'bench',
    model,
    modelSettings: { maxTokens: 1000 },
    tools: [tool({ name, description, parameters: input, strict: true, execute: weather })],
  });
  return async (prompt) => {
    const result = await run(agent, prompt, { stream: true, maxTurns: cap });
    for await (const _ of result.toStream());
    await result.completed;
    return result.finalOutput;
  };
});
