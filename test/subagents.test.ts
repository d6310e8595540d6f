import { afterEach, beforeEach, expect, test } from 'vitest';
import { chatModel } from './helpers/chat-model.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { cloneInto } from './helpers/clone.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
beforeEach(async () => {
  at = await person();
});
afterEach(() => at.remove());

const agent = (name: string, front: string) =>
  `---\nname: ${name}\ndescription: Is ${name}.\n${front}\n---\nYou are ${name}.\n`;

test('an agent of a file starts those that its file names, with its own tools at most, and each run is traced', async () => {
  const lead = await chatModel([[{ name: 'start_helper', args: '{"task":"Play."}' }], 'All done.']);
  const helper = await chatModel([[{ name: 'mcp__m__whole', args: '{}' }], 'Played.']);
  try {
    cloneInto(at.cwd, { '.mcp.json': { mcpServers: { m: at.fixture('misfits.mjs') as never } } });
    cloneInto(at.env.HOME ?? '', {
      '.claude/agents/lead.md': agent('lead', `tools: mcp__m__whole\nagents: helper\nmodel: ${lead.spec}`),
      '.claude/agents/helper.md': agent('helper', `tools: inherit\nmodel: ${helper.spec}`),
    });
    const ran = await bridle(['run', 'Go.', '--agent', 'lead', '--trust-project', '--allow', 'mcp__m'], at);
    expect(ran).toMatchObject({ status: 0, stdout: 'All done.\n' });
    const asked = JSON.stringify(helper.requests[0]?.body);
    expect(asked).toContain('You are helper.');
    expect(asked).toContain('mcp__m__whole');
    expect(asked).not.toContain('mcp__m__constructor');
    expect(asked).not.toContain('start_helper');
    expect(lead.toolAnswers(1)).toEqual(['Played.']);
    expect(ran.stderr).toContain('helper | → mcp__m__whole');
    const traces = await at.traces();
    const runs = traces.map(([first]) => first).filter((event) => event?.type === 'run');
    expect(new Set(runs.map((event) => event?.type === 'run' && event.agent))).toEqual(new Set(['lead', 'helper']));
  } finally {
    await lead.close();
    await helper.close();
  }
});

test('--subagent lets the main agent start one, and says when there is none of that name', async () => {
  const model = await chatModel([[{ name: 'start_helper', args: '{"task":"Think."}' }], 'Thought.', 'All done.']);
  try {
    cloneInto(at.env.HOME ?? '', { '.claude/agents/helper.md': agent('helper', '') });
    const ran = await bridle(['run', 'Go.', '--model', model.spec, '--subagent', 'helper'], at);
    expect(ran).toMatchObject({ status: 0, stdout: 'All done.\n' });
    expect(ran.stderr).toContain('Agent "helper": it has no tools.');
    expect(await bridle(['run', 'Go.', '--subagent', 'helpr'], at)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Did you mean "helper"?'),
    });
  } finally {
    await model.close();
  }
});
