import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChatModel, chatModel } from './helpers/chat-model.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { cloneInto } from './helpers/clone.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
let lead: ChatModel;
let helper: ChatModel;
beforeEach(async () => {
  at = await person();
  lead = await chatModel([[{ name: 'start_helper', args: '{"task":"Play."}' }], 'All done.']);
  helper = await chatModel(['Played.']);
});
afterEach(async () => {
  await lead.close();
  await helper.close();
  await at.remove();
});

const agent = (name: string, front: string) =>
  `---\nname: ${name}\ndescription: Is ${name}.\ntools: inherit\n${front}\n---\nYou are ${name}.\n`;

test('an agent that was started with a model of its own is recorded, and plays again without that model', async () => {
  const files = (model: string) =>
    cloneInto(at.env.HOME ?? '', {
      '.claude/agents/lead.md': agent('lead', `agents: helper\nmodel: ${lead.spec}`),
      '.claude/agents/helper.md': agent('helper', `model: ${model}`),
    });
  files(helper.spec);
  const tape = join(at.cwd, 'run.cassette.jsonl');
  const ran = await bridle(['run', 'Go.', '--agent', 'lead', '--record', tape], at);
  expect(ran).toMatchObject({ status: 0, stdout: 'All done.\n' });
  const replay = () => bridle(['run', '--replay', tape], at);
  expect(await replay()).toMatchObject({ status: 0, stdout: 'All done.\n' });
  expect([lead.requests.length, helper.requests.length]).toEqual([2, 1]);
  files('openai:another');
  const other = await replay();
  expect(other.status).toBe(1);
  expect(other.stderr).toContain('Request 1 of the agent "helper" to its model "openai:another"');
  expect([lead.requests.length, helper.requests.length]).toEqual([2, 1]);
}, 120_000);
