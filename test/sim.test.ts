import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { messagesDouble, type TurnSource } from '../src/testing/index.ts';
import { type Person, person, runBridle, type Started, startBridle } from './helpers/cli-process.ts';

let somebody: Person;
let sim: Started | undefined;
beforeEach(async () => {
  somebody = await person();
});
afterEach(async () => {
  sim?.child.kill('SIGKILL');
  await sim?.ended;
  sim = undefined;
  await somebody.remove();
});

const VERIFY = fileURLToPath(new URL('../scripts/double-verify.mjs', import.meta.url));
const hello = { model: 'claude-haiku-4-5', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };

test('a program that is pointed at it by the lines it prints gets its script, its faults and its refusals', async () => {
  writeFileSync(join(somebody.cwd, 'turns.json'), '["Hello."]');
  sim = startBridle(['sim', '--script', 'turns.json', '--fault', '429:1@1', '--split', 'awkward'], somebody);
  await sim.said(/export ANTHROPIC_API_KEY=\S+/);
  const [, baseURL] = /export ANTHROPIC_BASE_URL=(\S+)/.exec(sim.output()) ?? [];
  const [, apiKey = ''] = /export ANTHROPIC_API_KEY=(\S+)/.exec(sim.output()) ?? [];
  const client = new Anthropic({ apiKey, authToken: null, baseURL: baseURL ?? '', maxRetries: 0 });
  await expect(client.beta.messages.create(hello)).rejects.toMatchObject({ status: 429 });
  const streamed = await client.beta.messages.stream(hello).finalMessage();
  expect(streamed.content).toMatchObject([{ type: 'text', text: 'Hello.' }]);
  await expect(client.beta.messages.create({ ...hello, messages: [] })).rejects.toMatchObject({ status: 400 });
  await sim.said(/messages-list: messages: at least one message is required/);
  expect(sim.output()).toMatch(
    /1 {2}POST \/v1\/messages {2}429 {2}rate_limit\n2 {2}POST \/v1\/messages {2}200 {2}end_turn/,
  );
  sim.child.kill('SIGINT');
  expect((await sim.ended).status).toBe(0);
});

test('with --json each line is an object, and the offline planner replies', async () => {
  sim = startBridle(['sim', '--json', '--key', 'right'], somebody);
  await sim.said(/"ANTHROPIC_API_KEY"/);
  const { url } = JSON.parse(sim.output().split('\n')[0] ?? '') as { url: string };
  const client = new Anthropic({ apiKey: 'right', authToken: null, baseURL: url, maxRetries: 0 });
  expect((await client.beta.messages.create(hello)).stop_reason).toBe('end_turn');
  await sim.said(/"stopReason"/);
  expect(JSON.parse(sim.output().split('\n')[1] ?? '')).toMatchObject({
    number: 1,
    path: '/v1/messages',
    status: 200,
    refusals: [],
    model: 'claude-haiku-4-5',
    stopReason: 'end_turn',
  });
});

test.each([
  [['--port', '70000'], 'usage', 2],
  [['--split', '0'], 'usage', 2],
  [['--fault', 'nonsense'], 'usage', 2],
  [['--script', 'none.json'], 'script_unreadable', 1],
  [['--script', 'a.json', '--model', 'offline'], 'usage', 2],
])('%j is an error', async (args, code, status) => {
  const ended = await runBridle(['sim', ...args, '--json'], somebody);
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code } });
  expect(ended.status).toBe(status);
});

/** What `npm run double:verify` says in these surroundings. */
async function verified(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const child = spawn(process.execPath, [VERIFY, ...args], { env: { PATH: process.env.PATH, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const status = await new Promise((resolve) => child.on('close', resolve));
  return { status, output };
}

test('without a key nothing is compared with the real API', async () => {
  expect(await verified({})).toEqual({ status: 0, output: expect.stringContaining('as documented') });
});

test('the double itself differs from no rule, and one that takes anything differs from each', async () => {
  const talkative: TurnSource = { next: async () => ({ message: { content: [{ type: 'text', text: 'Hello.' }] } }) };
  const double = messagesDouble({ turns: talkative, key: 'right', keep: 0 });
  const env = { ANTHROPIC_API_KEY: 'right', ANTHROPIC_BASE_URL: await double.start() };
  expect(await verified(env)).toEqual({
    status: 0,
    output: expect.stringMatching(/^1\d\d rules compared .* 0 differ\./),
  });
  await double.stop();
  const { createServer } = await import('node:http');
  const lax = createServer((request, response) => void request.resume().on('end', () => response.end('{}')));
  await new Promise<void>((resolve) => void lax.listen(0, '127.0.0.1', resolve));
  const { port } = lax.address() as { port: number };
  const { status, output } = await verified(
    { ...env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` },
    '--rule',
    'every-call-answered',
  );
  lax.close();
  expect(status).toBe(1);
  expect(output).toContain('| every-call-answered | report | HTTP 200, not 400 | as documented |');
});
