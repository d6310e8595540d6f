import { createAgent } from '../../src/agent/index.ts';
import { anthropicModel } from '../../src/models/anthropic.ts';
import { type Exchange, messagesDouble } from '../../src/testing/index.ts';
import type { Setup } from './generate.ts';

/** Runs the agent twice in one conversation, and gives what its client and the double said to each other. */
export async function playSetup({
  model,
  options,
  client,
  replies,
}: Setup): Promise<{ readonly end: string; readonly exchanges: readonly Exchange[] }> {
  const double = messagesDouble({ turns: [...replies, 'Done.', 'Done.', 'Done.', 'Done.', 'Done.', 'Done.', 'Done.'] });
  const baseURL = await double.start();
  const agent = await createAgent({ ...options, model: anthropicModel(model, { ...client, apiKey: 'any', baseURL }) });
  try {
    const first = await agent.run('Do it.').result;
    const { end } = await agent.run('And then?', { messages: first.messages }).result;
    return { end, exchanges: double.exchanges };
  } finally {
    await agent.close();
    await double.stop();
  }
}
