import { describe, expect, test } from 'vitest';
import type { Json, JsonObject, LoopEvent } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { harnessNote } from '../tools/index.ts';
import { createAgent } from './create-agent.ts';
import { calls, config, ok, says, script, start, textBlock } from './fixtures.ts';
import { OriginBook } from './origin-book.ts';
import { readMessages } from './read-messages.ts';
import { replay } from './replay.ts';
import { journalConfig } from './resume/journal-config.ts';
import { noteRoleOf, withNote, withNoteRole } from './system-note.ts';

const rolesOf = (messages: Json | undefined) => (messages as JsonObject[]).map(({ role }) => role);
const news = (note: string) => {
  let isTold = false;
  return () => {
    const told = { tools: [], note: isTold ? null : note };
    isTold = true;
    return told;
  };
};

describe('the role of a note', () => {
  test.each([
    ['claude-opus-5-5', 'system'],
    ['claude-opus-4-8-20260528', 'system'],
    ['anthropic/claude-fable-5-1', 'system'],
    ['claude-haiku-5-5', 'system'],
    ['claude-sonnet-5-5', 'system'],
    ['claude-sonnet-5', 'user'],
    ['claude-opus-4-7', 'user'],
    ['claude-opus-9', 'user'],
    ['openai:llama', 'user'],
    ['offline', 'user'],
  ])('for %s is %s', (model, role) => {
    expect(noteRoleOf(model)).toBe(role);
  });
});

describe('a note as a system message', () => {
  const asSystem = config({}, { noteRole: 'system' });

  test('stands behind the results, and two of them are one message', async () => {
    const model = script(calls('write', 'write'), says('Done.'));
    const run = start(model, async () => ok('x'), { config: asSystem, notes: ['A.', 'B.'], news: news('C.') });
    const { messages } = await run.result;
    expect(rolesOf(messages)).toEqual(['user', 'system', 'assistant', 'user', 'system', 'assistant']);
    expect(messages[1]).toEqual({ role: 'system', content: [textBlock('B.'), textBlock('A.')] });
    expect(messages[4]).toEqual({ role: 'system', content: [textBlock('C.')] });
    for (const request of model.requests) expect(checkMessagesRequest(request)).toEqual([]);
  });

  test('of a run that was stopped comes behind what the user says next', async () => {
    const agent = await createAgent({ model: { ...script(calls('nope'), says('Well.')), id: 'claude-opus-5-5' } });
    const stopped = await agent.run('Do it.', { limits: { turns: 1 } }).result;
    expect(rolesOf(stopped.messages)).toEqual(['user', 'assistant', 'user', 'system']);
    const { messages } = await agent.run('And now?', { messages: stopped.messages }).result;
    expect(rolesOf(messages)).toEqual(['user', 'assistant', 'user', 'user', 'system', 'assistant']);
    expect(readMessages(messages)).toMatchObject({ state: 'ready' });
    await agent.close();
  });

  test('lets a run go on without new words of the user', async () => {
    const model = { ...script(calls('nope'), says('Well.')), id: 'claude-opus-5-5' };
    const agent = await createAgent({ model });
    const stopped = await agent.run('Do it.', { limits: { turns: 1 } }).result;
    const { end, messages } = await agent.run([], { messages: stopped.messages }).result;
    expect(end).toBe('answered');
    expect(rolesOf(messages)).toEqual(['user', 'assistant', 'user', 'system', 'assistant']);
    await agent.close();
  });

  test('becomes one of the user for a model that takes no system messages', async () => {
    const old = { ...script(says('Well.')), id: 'claude-opus-4-1' };
    const agent = await createAgent({ model: old });
    const before: Json[] = [
      { role: 'user', content: 'Do it.' },
      { role: 'system', content: [textBlock('Note.')] },
    ];
    await agent.run('And now?', { messages: before }).result;
    expect(rolesOf(old.requests[0]?.messages)).toEqual(['user', 'user', 'user']);
    await agent.close();
  });

  test('can be made one of the user, for a proxy that refuses others', async () => {
    const model = { ...script(calls('nope'), says('never')), id: 'claude-opus-5-5' };
    const agent = await createAgent({ model, noteRole: 'user' });
    const { messages } = await agent.run('Do it.', { limits: { turns: 1 } }).result;
    expect(rolesOf(messages)).toEqual(['user', 'assistant', 'user', 'user']);
    await agent.close();
  });

  test('comes back from the journal as it was', async () => {
    const begun = { type: 'begin', conversation: 'c1', model: 'm', config: journalConfig(asSystem) } as const;
    const journal: LoopEvent[] = [{ v: 1, at: 0, ...begun, before: [] }];
    const onEvent = (event: LoopEvent) => void journal.push(event);
    const parts = { config: asSystem, news: news('C.'), onEvent };
    const { messages } = await start(script(calls('write'), says('Done.')), async () => ok('x'), parts).result;
    expect((await replay(journal)).messages).toEqual(messages);
  });

  test('falls back to the user where no user message stands before it', () => {
    const said = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [textBlock('Hello.')] },
    ];
    expect(withNote(said, 'Note.', 'system').at(-1)).toEqual({ role: 'user', content: 'Note.' });
  });

  test('keeps nothing but its text for a model without system messages', () => {
    const before = [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: [{ type: 'tool_removal', tool: {} }] },
      { role: 'assistant', content: [textBlock('Hello.')] },
    ];
    expect(withNoteRole(before, 'user')).toEqual([before[0], before[2]]);
    expect(withNoteRole(before, 'system')).toBe(before);
  });
});

test('a value that only a note of the harness holds is not taken for the word of the user', () => {
  const book = new OriginBook(() => undefined);
  const note = { role: 'system', content: [textBlock(harnessNote('Server "eve-4711" is ready.'))] };
  book.addMessages([{ role: 'user', content: 'Hi' }, note]);
  expect(book.provenance().origins({ to: 'eve-4711' }).get('/to')).toMatchObject({ from: 'result' });
});
