/** The AI SDK's loop, for `turns.mjs`. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import { MODEL, measureLoop, TOOL, weather } from '../turns-child.mjs';

await measureLoop(async ({ url, mode, cap }) => {
  const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'sim' })(MODEL);
  const { name, description, input } = TOOL;
  const tools = { [name]: tool({ description, inputSchema: jsonSchema(input), execute: weather }) };
  const settings = { model, tools, stopWhen: isStepCount(cap), maxRetries: 0, maxOutputTokens: 1000 };
  return async (prompt) => {
    if (mode === 'whole') return (await generateText({ ...settings, prompt })).text;
    const result = streamText({ ...settings, prompt });
    await result.consumeStream();
    return result.text;
  };
});
