import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { checkMessagesRequest } from '../testing/index.ts';
import { textBlock, toolUse } from './fixtures.ts';
import { readMessages } from './read-messages.ts';

const user = (...content: Json[]): Json => ({ role: 'user', content });
const assistant = (...content: Json[]): Json => ({ role: 'assistant', content });
const result = (id: string): Json => ({ type: 'tool_result', tool_use_id: id, content: 'x' });
const hello = user(textBlock('Hello.'));
const system = (text: string): Json => ({ role: 'system', content: [textBlock(text)] });
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };

const GOOD: readonly (readonly [string, Json[]])[] = [
  ['nothing', []],
  ['text as a string', [{ role: 'user', content: 'Hello.' }]],
  ['answered calls', [hello, assistant(toolUse('a', 'x'), toolUse('b', 'x')), user(result('b'), result('a'))]],
  ['text after results', [hello, assistant(toolUse('a', 'x')), user(result('a'), textBlock('And?'))]],
  ['a note behind the user', [hello, system('Note.'), assistant(textBlock('Hi.')), hello, system('Note.')]],
  ['a summary first', [assistant({ type: 'compaction', content: 'So far.' }), hello]],
  ['a paused turn and its end', [hello, assistant(search), assistant(textBlock('Found.'))]],
];

const BAD: readonly (readonly [string, Json[], string])[] = [
  ['an unknown role', [{ role: 'robot', content: 'Hi.' }], 'messages[0] is not a user, assistant or system message'],
  ['an assistant first', [assistant(textBlock('Hi.'))], 'messages[0] is not a user message'],
  ['a note first', [system('Note.'), hello], 'messages[0] is a system message that follows no user message'],
  ['a note before the user', [hello, system('Note.'), hello], 'before one of the user'],
  ['two notes in a row', [hello, system('Note.'), system('Note.')], 'before one of the user or the system'],
  ['a note before results', [hello, assistant(toolUse('a', 'x')), system('Note.')], 'follows no user message'],
  [
    'a result in a system message',
    [hello, { role: 'system', content: [result('a')] }],
    'something else than text or changes of tools',
  ],
  ['an empty message', [user()], 'messages[0] has no content'],
  ['blank text', [user(textBlock(''))], 'messages[0] has no content'],
  ['an open call at the end', [hello, assistant(toolUse('a', 'x'))], 'calls without results: a'],
  ['a call without a result', [hello, assistant(toolUse('a', 'x')), user(textBlock('And?'))], 'leaves calls without'],
  ['a result of nothing', [hello, user(result('a'))], 'messages[1] answers a'],
  ['two results of one call', [hello, assistant(toolUse('a', 'x')), user(result('a'), result('a'))], 'twice'],
  [
    'text before results',
    [hello, assistant(toolUse('a', 'x')), user(textBlock('So:'), result('a'))],
    'before its results',
  ],
  [
    'two calls with one id',
    [hello, assistant(toolUse('a', 'x'), toolUse('a', 'x')), user(result('a'))],
    'a second call with the id a',
  ],
  [
    'a call without its results',
    [hello, assistant(toolUse('a', 'x')), assistant(textBlock('Hm.'))],
    'before the results',
  ],
  [
    'a word to a turn in which the provider is at work',
    [hello, assistant(search, toolUse('a', 'x')), user(result('a'), textBlock('And?'))],
    'unfinished',
  ],
];

describe('messages from outside', () => {
  test.each(GOOD)('are taken with %s, as the same objects', (_name, messages) => {
    const read = readMessages(messages);
    expect(read).toMatchObject({ state: 'ready' });
    expect('messages' in read && read.messages).toBe(messages);
    if (messages.length > 0) expect(checkMessagesRequest({ messages })).toEqual([]);
  });

  test.each(BAD)('are refused with %s, and so they are by the API', (_name, messages, problem) => {
    const read = readMessages(messages);
    expect('problem' in read && read.problem).toContain(problem);
    expect(checkMessagesRequest({ messages })).not.toEqual([]);
  });
});
