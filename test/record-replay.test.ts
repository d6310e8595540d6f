import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ChatModel, type ChatTurn, chatModel } from './helpers/chat-model.ts';
import { type Home, newHome } from './helpers/home.ts';
import { bridle } from './helpers/terminal.ts';

/** Tells what it was given as its key, and writes down each call that reaches it. */
const SERVER = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tool = (name) => ({
  name,
  description: 'Does ' + name + ' with an order.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' } } },
});
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      return send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } } });
    case 'tools/list':
      return send({ id, result: { tools: [tool('look'), tool('pay')] } });
    case 'tools/call':
      appendFileSync(process.argv[2], params.name + '\\n');
      return send({ id, result: { content: [{ type: 'text', text: params.name + ' with ' + process.env.SHOP_KEY }] } });
    default:
      return send({ id, error: { code: -32601, message: 'no such method' } });
  }
});
`;

const KEY = 'tiptop-secret-of-the-shop';
const CALLS: ChatTurn[] = [
  [
    { name: 'mcp__shop__look', args: '{"order":"7"}' },
    { name: 'mcp__shop__pay', args: '{"order":"7"}' },
  ],
  'It is paid.',
];

let at: Home;
let made: string;
beforeEach(async () => {
  at = await newHome();
  made = join(at.home, 'made');
  await writeFile(join(at.home, 'shop.mjs'), SERVER);
  const args = [join(at.home, 'shop.mjs'), made];
  await at.servers({ shop: { command: process.execPath, args, env: { SHOP_KEY: KEY } } });
  await at.project({ permissions: { allow: ['mcp__shop__look'], ask: ['mcp__shop__pay'] } });
});
afterEach(() => at.remove());

const madeSoFar = async () => (await readFile(made, 'utf8')).trim().split('\n');
const TRUST = '--trust-project';

async function withModel<T>(turns: ChatTurn[], work: (model: ChatModel) => Promise<T>): Promise<T> {
  const model = await chatModel(turns);
  try {
    return await work(model);
  } finally {
    await model.close();
  }
}

describe('bridle run --record and --replay', () => {
  const tape = () => join(at.home, 'pay.cassette.jsonl');
  const record = () =>
    withModel(CALLS, async ({ spec }) => {
      const ran = await bridle(['run', 'Pay order 7.', TRUST, '--model', spec, '--record', tape()], {
        ...at,
        types: ['y'],
      });
      expect(ran).toMatchObject({ status: 0, stdout: expect.stringContaining('It is paid.') });
      expect(await madeSoFar()).toEqual(['look', 'pay']);
    });

  test('plays the run again with no model, no server and no person, and calls nothing', async () => {
    await record();
    const text = await readFile(tape(), 'utf8');
    expect(text).not.toContain(KEY);
    expect((await stat(tape())).mode & 0o777).toBe(0o600);
    await rm(join(at.home, 'shop.mjs'));
    const { status, stdout, stderr } = await bridle(['run', TRUST, '--replay', tape()], at);
    expect(stderr).not.toContain('diverged');
    expect(status).toBe(0);
    expect(stdout).toContain('It is paid.');
    expect(await madeSoFar()).toEqual(['look', 'pay']);
  }, 120_000);

  test('says what is otherwise, when rules have changed since', async () => {
    await record();
    await at.project({ permissions: { allow: ['mcp__shop__look'], deny: ['mcp__shop__pay'] } });
    const { status, stderr } = await bridle(['run', TRUST, '--replay', tape()], at);
    expect(status).toBe(1);
    expect(stderr).toContain('error (cassette_diverged): Request 1 to the model is not as it was recorded:');
    expect(stderr).toContain('at /tools/1');
    expect(await madeSoFar()).toEqual(['look', 'pay']);
  }, 120_000);

  test('are told what they are not given together', async () => {
    const both = await bridle(['run', '--record', 'a', '--replay', 'b'], at);
    expect(both).toMatchObject({ status: 2, stderr: expect.stringContaining('either --record or --replay') });
    const none = await bridle(['run', '--replay', join(at.home, 'none')], at);
    expect(none).toMatchObject({ status: 1, stderr: expect.stringContaining('error (cassette_not_readable)') });
  });
});

describe('bridle trace fork', () => {
  test('begins a run anew from one of its events, where no call is under way', async () => {
    const first = await withModel(CALLS, ({ spec }) =>
      bridle(['run', 'Pay order 7.', TRUST, '--model', spec, '--json', '--quiet'], { ...at, types: ['n'] }),
    );
    expect(first.status).toBe(0);
    const events = await bridle(['trace', 'show', '--events'], at);
    const points = events.stdout.split('\n').filter((line) => /^ *\d+\*/.test(line));
    expect(points).toHaveLength(2);
    const last = Number.parseInt(points[1] ?? '', 10);

    const wrong = await bridle(['trace', 'fork', '--at', String(last - 1)], at);
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('error (fork_point_invalid)') });
    expect(wrong.stderr).toContain(String(last));
    expect((await bridle(['trace', 'fork'], at)).status).toBe(2);

    const { stdout } = await bridle(['trace', 'fork', '--at', String(last), '--json'], at);
    const { run } = JSON.parse(stdout) as { run: string };
    await withModel(['So it is not paid.'], async (model) => {
      const { status, stdout: said } = await bridle(['run', '--resume', run, TRUST, '--model', model.spec], at);
      expect(status).toBe(0);
      expect(said).toContain('So it is not paid.');
      expect(model.toolAnswers(0)).toHaveLength(2);
    });
    expect(await madeSoFar()).toEqual(['look']);
  }, 120_000);
});
