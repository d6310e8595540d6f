import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { sessionsDir } from '../src/cli/chat/sessions.ts';
import type { TraceEvent } from '../src/contracts/index.ts';
import { listTraces, readTrace } from '../src/dispatch/index.ts';
import { chatModel } from './helpers/chat-model.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { sdkV1, sdkV2 } from './helpers/http-servers.ts';
import { bridle } from './helpers/terminal.ts';

const running: { close(): Promise<unknown> }[] = [];
let at: Person | undefined;
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
  await at?.remove();
});

async function up<R extends { close(): Promise<unknown> }>(server: Promise<R>): Promise<R> {
  const one = await server;
  running.push(one);
  return one;
}

const add = (server: string, a: number) => [{ name: `mcp__${server}__add`, args: JSON.stringify({ a, b: 1 }) }];

test('a chat calls over the network in both eras, shows the answers, and its traces tell each call once', async () => {
  at = await person();
  const [modern, legacy] = await Promise.all([up(sdkV2({ modernOnly: true })), up(sdkV1())]);
  const model = await up(chatModel([add('modern', 41), 'It is 42.', add('legacy', 6), 'It is 7.']));
  const mcpServers = { modern: { type: 'http', url: modern.url }, legacy: { type: 'http', url: legacy.url } };
  await writeFile(join(at.cwd, '.mcp.json'), JSON.stringify({ mcpServers }));
  const allow = ['--allow', 'mcp__modern__add', '--allow', 'mcp__legacy__add'];
  const piped = 'What is 41 + 1?\nAnd 6 + 1?\n';
  const said = await bridle(['chat', '--trust-project', '--model', model.spec, ...allow], { ...at, piped });
  expect(said).toMatchObject({ status: 0, stdout: 'It is 42.\nIt is 7.\n' });
  expect([modern.added(), legacy.added()]).toEqual([1, 1]);
  expect(model.toolAnswers(1)).toEqual([expect.stringContaining('42')]);
  expect(model.toolAnswers(3)).toEqual([expect.stringContaining('42'), expect.stringContaining('7')]);
  const events: TraceEvent[] = [];
  for (const { file } of await listTraces(sessionsDir(at))) {
    for await (const event of readTrace(file)) events.push(event);
  }
  const told = events.flatMap((event) => {
    if (event.type === 'decided') return [`decided ${event.intent.ref.name} ${event.intent.decision.effect}`];
    if (event.type === 'end') return [event.how];
    if (event.type !== 'call' || !('call' in event)) return [];
    const { name, ref, attempts, outcome } = event.call;
    return [`called ${name} of ${ref?.server?.key} ${attempts} ${outcome.kind}`];
  });
  expect(told).toEqual([
    'decided mcp__modern__add allow',
    'called mcp__modern__add of modern 1 ok',
    'answered',
    'decided mcp__legacy__add allow',
    'called mcp__legacy__add of legacy 1 ok',
    'answered',
  ]);
}, 240_000);
