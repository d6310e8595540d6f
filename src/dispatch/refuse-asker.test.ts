import { expect, test } from 'vitest';
import type { AskQuestion } from '../contracts/index.ts';
import { decision, definition } from './fixtures.ts';
import { refuseAsker } from './refuse-asker.ts';

function question(tool = definition('refund'), asked = decision('ask', 'no_rule')): AskQuestion {
  const who = { agent: 'a', via: 'terminal' } as const;
  return { callId: 'c', who, tool, args: {}, decision: asked, signal: new AbortController().signal };
}

test('a refusal names the rule that would allow the tool', async () => {
  const reply = await refuseAsker().ask(question());
  expect(reply).toMatchObject({ answer: 'deny', reason: expect.stringContaining("--allow 'mcp__shop__refund'") });
});

test('a host may say in its own words how to allow it', async () => {
  const reply = await refuseAsker('ask the platform team for {rule}, or for {rule} $& once.').ask(question());
  expect(reply).toMatchObject({
    reason: expect.stringMatching(/for mcp__shop__refund, or for mcp__shop__refund \$& once\.$/),
  });
});

test('a tool of this process is named by its own name', async () => {
  const reply = await refuseAsker().ask(question(definition('refund', {}, null)));
  expect(reply).toMatchObject({ reason: expect.stringContaining("--allow 'refund'") });
});

test('a name that could do harm where it is pasted is not repeated', async () => {
  const reply = await refuseAsker().ask(question(definition("x'; rm -rf ~; '")));
  expect(reply).toMatchObject({ reason: expect.stringMatching(/--allow 'mcp__shop__[\w-]+'/) });
  expect(reply).toMatchObject({ reason: expect.not.stringContaining('rm -rf') });
});

test('where an ask rule is why, no allow rule is offered as the way on, and the rule is named by its place', async () => {
  const rule = { room: 'policy', code: 'ask_rule', text: 'To be asked.', source: { file: 'bridle.json', line: 7 } };
  const reply = await refuseAsker().ask(question(undefined, { ...decision('ask'), reasons: [rule] }));
  expect(reply).toMatchObject({ answer: 'deny', reason: expect.stringContaining('(bridle.json:7)') });
  expect(reply).toMatchObject({ reason: expect.not.stringContaining('--allow') });
});
