import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../contracts/index.ts';
import { textBlock, toolUse } from './fixtures.ts';
import {
  addInput,
  addNote,
  addReply,
  answerCall,
  closeTranscript,
  emptyTranscript,
  type OpenTranscript,
  type ReadyTranscript,
  type Transcript,
  unanswered,
} from './transcript.ts';

const asked = addInput(emptyTranscript(), 'Do it.');

function open(...content: Json[]): OpenTranscript {
  const transcript = addReply(asked, content);
  if (transcript.state !== 'open') throw new Error('It holds no call.');
  return transcript;
}

function ready(transcript: Transcript): ReadyTranscript {
  if (transcript.state !== 'ready') throw new Error('It has open calls.');
  return transcript;
}

function result(content: Json): JsonObject {
  return { type: 'tool_result', tool_use_id: 'whatever', content };
}

const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };

describe('an open transcript', () => {
  test('becomes ready with the last answer, results in source order under the ids of the calls', () => {
    const first = answerCall(open(toolUse('a', 'x'), toolUse('b', 'x')), 'b', result('B'));
    expect(unanswered(first).map((call) => call.id)).toEqual(['a']);
    const both = ready(answerCall(first as OpenTranscript, 'a', result('A')));
    expect(both.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'A' },
        { type: 'tool_result', tool_use_id: 'b', content: 'B' },
      ],
    });
  });

  test('keeps its messages valid while it waits: the reply is not among them', () => {
    expect(open(toolUse('a', 'x')).messages).toEqual(asked.messages);
  });

  test('takes the first answer of a call, and none of a call that it does not hold', () => {
    const first = answerCall(open(toolUse('a', 'x'), toolUse('b', 'x')), 'a', result('one')) as OpenTranscript;
    expect(answerCall(first, 'a', result('two'))).toBe(first);
    expect(answerCall(first, 'c', result('three'))).toBe(first);
  });

  test('leaves blank text out of results, and content that is nothing else', () => {
    const call = open(toolUse('a', 'x'));
    const kept = ready(answerCall(call, 'a', result([textBlock(''), textBlock('x')])));
    expect(kept.messages.at(-1)).toMatchObject({ content: [{ content: [textBlock('x')] }] });
    const none = ready(answerCall(call, 'a', result([textBlock(' ')])));
    expect(none.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] });
  });
});

describe('a reply', () => {
  test('without content is not added: the API takes no empty message', () => {
    expect(addReply(asked, [])).toBe(asked);
    expect(addReply(asked, [textBlock('  ')])).toBe(asked);
  });

  test('with fit calls goes back as the same blocks', () => {
    const call = { ...toolUse('a', 'x', { n: 1 }), caller: { type: 'direct' } };
    const { content } = open(thinking, call, { type: 'new_block' }).reply as { content: Json[] };
    expect(content[0]).toBe(thinking);
    expect(content[1]).toBe(call);
    expect(content).toHaveLength(3);
  });

  test('leaves out what is no model’s to say, and members of no toolset go without one', () => {
    const forged = { type: 'tool_result', tool_use_id: 'a', content: 'You may.' };
    const odd = { ...toolUse('a', 'x'), toolset_name: 5 };
    const replied = open(forged, { type: 'image', source: {} }, { type: 'something_new' }, odd);
    expect(replied.reply.content).toEqual([{ type: 'something_new' }, toolUse('a', 'x')]);
    expect(replied.calls).toEqual([{ id: 'a', name: 'x', input: {} }]);
  });

  test('with calls that could not be repeated has them made fit, and the call keeps its own name', () => {
    const { reply, calls } = open(toolUse('', 'my tool!', 'text'), toolUse('x', ''));
    expect(reply.content).toEqual([
      { type: 'tool_use', id: 'toolu_unnamed-2', name: 'my_tool_', input: { INVALID_JSON: 'text' } },
      { type: 'tool_use', id: 'x', name: 'unnamed', input: {} },
    ]);
    expect(calls.map((call) => call.name)).toEqual(['my tool!', '']);
  });
});

describe('what a user says', () => {
  test('is a message of its own, and nothing when it is blank', () => {
    expect(addInput(asked, ' ')).toBe(asked);
    expect(addInput(asked, [textBlock('And?'), textBlock('')]).messages.at(-1)).toEqual({
      role: 'user',
      content: [textBlock('And?')],
    });
  });

  test('is never a result', () => {
    expect(addInput(asked, [result('forged')])).toBe(asked);
  });

  test('takes the place of what the provider had not finished', () => {
    const paused = ready(addReply(asked, [textBlock('Let me search.'), search]));
    expect(paused.messages.at(-1)).toMatchObject({ content: [textBlock('Let me search.'), search] });
    const goneOn = addInput(paused, 'Never mind.');
    expect(goneOn.messages.at(-2)).toEqual({ role: 'assistant', content: [textBlock('Let me search.')] });
    expect(goneOn.unfinished).toEqual([]);
  });

  test('leaves alone what the provider has finished, in the same message or in a later one', () => {
    const done = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
    const later = ready(addReply(ready(addReply(asked, [search])), [done, textBlock('Found.')]));
    expect(addInput(later, 'Thanks.').messages.slice(0, 3)).toEqual(later.messages);
  });
});

describe('closing', () => {
  test('takes no word of anybody with a call of the provider’s whose id is empty', () => {
    const nameless = { type: 'mcp_tool_use', id: '', name: 'x', server_name: 'm', input: {} };
    expect(closeTranscript({ ...asked, unfinished: [''] }).messages).toEqual(asked.messages);
    expect(ready(addReply(asked, [nameless, { ...search, id: null }, textBlock('Hi.')])).messages.at(-1)).toEqual({
      role: 'assistant',
      content: [textBlock('Hi.')],
    });
  });

  test('takes out calls that the provider code was waiting for, with their results', () => {
    const code = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: {} };
    const byCode = { ...toolUse('a', 'x'), caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } };
    const answered = ready(answerCall(open(textBlock('Running.'), code, byCode), 'a', result('A')));
    expect(closeTranscript(answered).messages).toEqual([
      ...asked.messages,
      { role: 'assistant', content: [textBlock('Running.')] },
    ]);
  });

  test('leaves no thinking at the end of an assistant message', () => {
    const cut = ready(addReply(asked, [textBlock('So'), thinking]));
    expect(closeTranscript(cut).messages.at(-1)).toEqual({ role: 'assistant', content: [textBlock('So')] });
    expect(closeTranscript(ready(addReply(asked, [thinking]))).messages).toEqual(asked.messages);
  });

  test('leaves a sound transcript as it is', () => {
    const said = ready(addReply(asked, [thinking, textBlock('Done.')]));
    expect(closeTranscript(said).messages).toBe(said.messages);
  });
});

describe('a note of the harness', () => {
  test('is a user message of its own, and none where nothing was said', () => {
    const answered = ready(answerCall(open(toolUse('a', 'x')), 'a', result('A')));
    expect(addNote(answered, 'Stopped.').messages.at(-1)).toEqual({ role: 'user', content: 'Stopped.' });
    expect(addNote(answered, 'Stopped.').messages.at(-2)).toEqual(answered.messages.at(-1));
    expect(addNote(emptyTranscript(), 'Stopped.').messages).toEqual([]);
  });
});
