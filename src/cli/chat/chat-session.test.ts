import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Json } from '../../contracts/index.ts';
import { readTrace } from '../../dispatch/index.ts';
import { createHookSet } from '../../policy/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { ChatSession } from './chat-session.ts';
import { listSessions } from './sessions.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bridle-chat-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** The reasons for which sessions ended, by the files in which that stands. */
async function endings(): Promise<Json[][]> {
  const told: Json[][] = [];
  for (const { file } of await listSessions(dir, dir)) {
    const ends: Json[] = [];
    for await (const event of readTrace(file)) {
      if (event.type === 'hook' && event.hook.event === 'SessionEnd') ends.push(event.hook.answer ?? null);
    }
    told.push(ends);
  }
  return told;
}

test.each<[string, (session: ChatSession) => Promise<unknown>, string[]]>([
  ['it is left', async () => {}, ['prompt_input_exit']],
  ['it is cleared', (session) => session.clear(), ['clear']],
  [
    'another one is resumed',
    async (session) => {
      await session.clear();
      await session.send('Anew.', {});
      const [, first] = await listSessions(dir, dir);
      if (first) await session.resume(first);
    },
    ['clear', 'resume'],
  ],
])('the trace of a chat has that its session ends when %s, once, and why', async (_, act, reasons) => {
  const model = scriptedModel(['One.', 'Two.']);
  const hooks = await createHookSet([
    { event: 'SessionEnd', name: 'bye', run: ({ reason }) => ({ message: String(reason) }) },
  ]);
  const session = await ChatSession.open({ agent: { hooks, tools: [] }, dir, project: dir }, model);
  await session.send('Hello.', {});
  await act(session);
  await session.close();
  const told = await endings();
  expect(told.map((ends) => ends.length)).toEqual(reasons.map(() => 1));
  const said = told.flat().map((answer) => Object(answer).message);
  expect(said.sort()).toEqual(reasons);
});
