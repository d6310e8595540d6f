import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../src/contracts/index.ts';
import { type ChatModel, chatModel } from './helpers/chat-model.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { cloneInto } from './helpers/clone.ts';
import { bridle } from './helpers/terminal.ts';

let at: Person;
let model: ChatModel;
beforeEach(async () => {
  at = await person();
});
afterEach(async () => {
  await at.remove();
  await model.close();
});

const CALL = [{ name: 'mcp__m__model', args: '{}' }];
const THOUGHT = { type: 'text', text: 'A thought.' };

/** The person's own rules: which servers are lent the model, and what is allowed. */
function own(sampling: Json, ...allow: string[]): void {
  const file = { sampling: { servers: sampling }, permissions: { allow: ['mcp__m__model', ...allow] } };
  cloneInto(at.env.XDG_CONFIG_HOME ?? '', { 'bridle/bridle.json': file });
}

const run = (types?: readonly string[]) =>
  bridle(['run', 'Play.', '--trust-project', '--model', model.spec], { ...at, ...(types && { types }) });

describe.each([
  ['the SDK version 1, in the legacy era', 'sdk-v1.mjs', [], {}],
  ['the SDK version 2, in the modern era', 'sdk-v2.mjs', ['--asks', '--modern-only'], {}],
  ['the SDK version 2, in the legacy era', 'sdk-v2.mjs', ['--asks'], { era: 'legacy' }],
] as const)('a server on %s', (_, name, args, more) => {
  beforeEach(() => at.servers({ m: at.fixture(name, args, more) }));

  test('is answered by the model of the run, under a rule that allows it', async () => {
    own({ m: {} }, 'mcp__m__sampling');
    model = await chatModel([CALL, 'A thought.', 'Done.']);
    const { stdout, stderr, status } = await run();
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: 'Done.\n' });
    expect(model.requests[1]?.body).toMatchObject({ messages: [{ role: 'user', content: 'Think for me.' }] });
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain('Play.');
    const [answer = ''] = model.toolAnswers(2);
    expect(JSON.parse(answer)).toMatchObject({ role: 'assistant', content: THOUGHT, stopReason: 'endTurn' });
    expect(stderr).toContain('lent to servers: 1 request');
    expect((await bridle(['tools', 'list', '--trust-project'], at)).stderr).not.toContain('mcp__m__sampling');
  });

  test('of the same name as another that is meant is not told of the model', async () => {
    own({ m: { fingerprint: 'a'.repeat(64) } }, 'mcp__m__sampling');
    model = await chatModel([CALL, 'Done.', CALL, 'A thought.', 'Done.']);
    const { stderr } = await run();
    expect(model.toolAnswers(1)[0]).not.toContain('thought');
    const [, fingerprint = ''] = /The one here has ([0-9a-f]{64}),/.exec(stderr) ?? [];
    own({ m: { fingerprint } }, 'mcp__m__sampling');
    expect((await run()).stderr).toContain('lent to servers: 1 request');
  });

  test('gets the answer once the person has agreed to the question and to the answer', async () => {
    own({ m: {} });
    model = await chatModel([CALL, 'A thought.', 'Done.']);
    const { stderr } = await run(['y', 'y']);
    expect(stderr).toMatch(
      /Server m wants your model [\s\S]*user: Think for me\.[\s\S]*is to be given this answer:\s+A thought\./,
    );
    expect(model.toolAnswers(2)[0]).toContain('A thought.');
  });

  test('gets nothing after a no, where nobody is there, and where nothing lends it; the call says so', async () => {
    own({ m: {} });
    model = await chatModel([CALL, 'Done.', CALL, 'Done.', CALL, 'Done.']);
    await run(['n']);
    await run();
    own({});
    await run();
    expect(model.requests).toHaveLength(6);
    for (const turn of [1, 3, 5]) expect(model.toolAnswers(turn)[0]).not.toContain('thought');
    expect(model.toolAnswers(1)[0]).toContain('the person said no');
    expect(model.toolAnswers(3)[0]).toContain('nobody sits at a terminal');
  });
});
