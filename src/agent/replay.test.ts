import { describe, expect, test } from 'vitest';
import type { Json, LoopEvent, TraceEvent } from '../contracts/index.ts';
import type { RunJournal } from './agent-options.ts';
import { calls, cancelledOutcome, config, gate, ok, reply, says, script, start, toolUse } from './fixtures.ts';
import { readMessages } from './read-messages.ts';
import { replay } from './replay.ts';
import { runBegun } from './resume/journal-begin.ts';
import { siblingRules } from './siblings.ts';

/** Runs and keeps the journal, with the end as a trace has it. */
async function journal(...args: Parameters<typeof start>) {
  const [model, call, more] = args;
  const events: TraceEvent[] = [];
  const run = start(model, call, {
    ...more,
    onEvent: (event: LoopEvent) => events.push(event),
    onEnd: ({ end }) => events.push({ v: 1, at: 1, type: 'end', how: end, detail: {} }),
  });
  const { messages } = await run.result;
  return { events, messages };
}

describe('replay', () => {
  test('gives the messages of a run with calls that came back in another order', async () => {
    const second = gate();
    const { events, messages } = await journal(
      script(calls('read', 'look', 'write'), says('Done.')),
      async ({ name }) => {
        if (name === 'read') await second.promise;
        if (name === 'look') second.open();
        return ok(name);
      },
    );
    expect((await replay(events)).messages).toEqual(messages);
  });

  test('gives the messages of a question, of a reply that was cut, and of calls that the loop answered itself', async () => {
    const content = [toolUse('q', 'ask_user', { question: 'Which?' }), toolUse('a', 'read')];
    const asked = await journal(script(reply(content, 'tool_use')), undefined, {
      config: config({}, { askTool: 'ask_user' }),
    });
    expect((await replay(asked.events)).messages).toEqual(asked.messages);
    const cut = await journal(script(says('Half', 'max_tokens'), says('Whole.')));
    expect((await replay(cut.events)).messages).toEqual(cut.messages);
    const odd = await journal(script(reply([toolUse('a', 'read', 'no object')], 'tool_use'), says('Sorry.')));
    expect((await replay(odd.events)).messages).toEqual(odd.messages);
  });

  test('gives a run that reached a limit, or was stopped, with the note that it was', async () => {
    const limited = await journal(script(calls('read'), calls('look')), undefined, { config: config({ turns: 1 }) });
    const replayed = await replay(limited.events);
    expect(readMessages(replayed.messages)).toMatchObject({ state: 'ready' });
    expect(replayed.messages.at(-1)).toEqual(limited.messages.at(-1));

    const stop = new AbortController();
    const aborted = await journal(
      script(calls('write', 'write')),
      async () => {
        stop.abort();
        return cancelledOutcome();
      },
      { signal: stop.signal },
    );
    const again = await replay(aborted.events);
    expect(readMessages(again.messages)).toMatchObject({ state: 'ready' });
    expect(again.messages.length).toBe(aborted.messages.length);
    expect(JSON.stringify(again.messages)).toContain('was not run');
  });

  test('gives what a run said at its limits in the same words, where its journal holds what it was held to', async () => {
    const asks = toolUse('q', 'ask_user', { question: 'Which?' });
    const many = calls('read', 'write', 'write').content as Json[];
    const failing = reply([toolUse('f', 'write', 'no object'), asks], 'tool_use');
    for (const [limits, first] of [
      [{ turns: 1 }, reply([asks], 'tool_use')],
      [{ toolCalls: 1 }, reply(many, 'tool_use')],
      [{ tokens: 12 }, reply([...many, asks], 'tool_use')],
      [{ identicalFailures: 1 }, failing],
      [{ costUsd: 0.000_001 }, reply(many, 'tool_use')],
    ] as const) {
      const held = config(limits, { askTool: 'ask_user', siblings: siblingRules('skip'), costOf: () => 1 });
      const model = 'claude-opus-5-5';
      const about = { conversation: 'c1', model, config: held, before: [] };
      const parts = { config: held, begun: runBegun({} as RunJournal, about) };
      const { events, messages } = await journal(script(first, calls('read'), calls('read')), undefined, parts);
      expect((await replay(events)).messages).toEqual(messages);
    }
  });

  test('closes a run that broke off in a call: what it did is not known', async () => {
    const { events } = await journal(script(calls('write'), says('Done.')));
    const broken = events.slice(
      0,
      events.findIndex(({ type }) => type === 'outcome'),
    );
    const { messages } = await replay(broken);
    expect(readMessages(messages)).toMatchObject({ state: 'ready' });
    expect(JSON.stringify(messages)).toContain('not known');
  });

  test('runs follow one another, and a torn one does not take the next with it', async () => {
    const first = await journal(script(says('One.')));
    const torn = first.events.slice(0, 1);
    const { messages } = await replay([...first.events, ...torn, ...first.events]);
    const texts = (messages as { role: string; content: Json }[]).map(({ role }) => role);
    expect(texts.filter((role) => role === 'assistant')).toHaveLength(2);
    expect(readMessages(messages)).toMatchObject({ state: 'ready' });
  });

  test('an empty journal is an empty conversation', async () => {
    expect(await replay([])).toEqual({ messages: [] });
  });
});
