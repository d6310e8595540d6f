import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import type { Model } from '../contracts/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { playCassette, recordCassette } from './index.ts';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-cassette-'));
  file = join(dir, 'run.cassette.jsonl');
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** One that starts two agents at once, each with a model of its own. */
async function runWith(model: Model, critic: Model, writer: Model, instructions = 'Help.') {
  const helper = (name: string, own: Model) => ({
    name,
    description: 'Helps.',
    instructions,
    tools: ['*'],
    model: own,
  });
  const agent = await createAgent({
    model,
    permissions: { allow: ['start_critic', 'start_writer'] },
    subagents: [helper('critic', critic), helper('writer', writer)],
  });
  const result = await agent.run('Go.', { conversation: 'c1' }).result;
  await agent.close();
  return result;
}

/** Both are told the same, by two models that answer otherwise. */
async function recorded() {
  const tape = await recordCassette(file, { model: 'scripted', conversation: 'c1' });
  const calls = ['start_critic', 'start_writer'].map((name) => ({ name, input: { task: 'Say it.' } }));
  const result = await runWith(
    tape.model(scriptedModel([{ calls }, 'Done.'])),
    tape.model(scriptedModel(['No.'], { id: 'claude-haiku-4-5' }), { agent: 'critic' }),
    tape.model(scriptedModel(['Once.'], { id: 'claude-haiku-4-5' }), { agent: 'writer' }),
  );
  await tape.close();
  return result;
}

describe('a cassette of a run that starts agents with models of their own', () => {
  test('holds what these exchanged, and answers each of them with its own', async () => {
    const first = await recorded();
    expect(first.end).toBe('answered');
    const told = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"agent":"critic"'));
    expect(told.map((line) => JSON.parse(line))).toMatchObject([{ type: 'messages', model: 'claude-haiku-4-5' }]);
    const played = await playCassette(file);
    const [critic, writer] = [played.model({ agent: 'critic' }), played.model({ agent: 'writer' })];
    expect(critic.id).toBe('claude-haiku-4-5');
    const again = await runWith(played.model(), critic, writer);
    expect(again.messages).toEqual(first.messages);
    expect(played.divergence()).toBeUndefined();
    expect(played.left()).toBe(0);
  });

  test('names the agent and its model in what is otherwise', async () => {
    await recorded();
    const played = await playCassette(file);
    const models = [played.model({ agent: 'critic' }), played.model({ agent: 'writer' })] as const;
    await runWith(played.model(), ...models, 'Help more.');
    expect(played.divergence()?.message).toMatch(
      /^Request 1 of the agent "critic" to its model "claude-haiku-4-5" is not as it was recorded:\n {2}at \/system/,
    );
  });

  test('says with which model an agent was recorded, where it has another one now, and leaves its exchanges over', async () => {
    await recorded();
    const played = await playCassette(file);
    const critic = played.model({ agent: 'critic', model: 'claude-opus-4-5' });
    await runWith(played.model(), critic, played.model({ agent: 'writer' }));
    const { message } = played.divergence() ?? {};
    expect(message).toContain('Request 1 of the agent "critic" to its model "claude-opus-4-5"');
    expect(message).toContain('it was recorded with "claude-haiku-4-5"');
    expect(played.left()).toBeGreaterThan(0);
  });

  test('says that an agent was recorded with a model of its own, where it has none now', async () => {
    await recorded();
    const played = await playCassette(file);
    await runWith(played.model(), played.model(), played.model({ agent: 'writer' }));
    expect(played.divergence()?.message).toContain(
      'this was asked by the agent "critic", of its model "claude-haiku-4-5"',
    );
  });
});
