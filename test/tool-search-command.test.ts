import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChatModel, chatModel } from './helpers/chat-model.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
let model: ChatModel;
beforeEach(async () => {
  at = await person();
  await at.servers({ m: at.fixture('many.mjs') });
  model = await chatModel([
    [{ name: 'find_tools', args: '{"query":"send report"}' }],
    [{ name: 'mcp__m__send_report', args: '{}' }],
    'Sent.',
  ]);
});
afterEach(async () => {
  await at.remove();
  await model.close();
});

const run = (...args: string[]) =>
  bridle(['run', 'Send it.', '--allow', 'mcp__m', '--trust-project', '--model', model.spec, ...args], {
    cwd: at.cwd,
    env: { ...at.env, BRIDLE_READY_SECONDS: '600' },
  });

const namesIn = (turn: number) =>
  ((model.requests[turn]?.body ?? {}) as { tools: { function: { name: string } }[] }).tools.map(
    (tool) => tool.function.name,
  );

test('a run with many tools shows few of them and searches for the rest', async () => {
  const { status, stdout, stderr } = await run('--report');
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: 'Sent.\n' });
  const shown = namesIn(0);
  expect(shown).toHaveLength(7);
  expect(shown[0]).toBe('find_tools');
  expect(shown).not.toContain('mcp__m__send_report');
  expect(namesIn(1)).toEqual([...shown, 'mcp__m__send_report']);
  expect(model.toolAnswers(1)).toEqual(['Found, and among your tools from here on: mcp__m__send_report.']);
  expect(model.toolAnswers(2).at(-1)).toBe('send_report ran');
  expect(stderr).toContain('8 tools, whose definitions are about');
});

test('--tool-search off shows them all', async () => {
  await run('--tool-search', 'off');
  expect(namesIn(0)).toContain('mcp__m__send_report');
  expect(namesIn(0)).not.toContain('find_tools');
});
