import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chatModel } from './helpers/chat-model.ts';
import { startBridle } from './helpers/cli-process.ts';
import { type Home, newHome } from './helpers/home.ts';
import { eventually } from './helpers/mcp.ts';
import { bridle } from './helpers/terminal.ts';

/** Pays, and then says nothing for as long as there is a file \`hold\` beside what was paid. */
const SERVER = `
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tool = {
  name: 'pay',
  description: 'Pays an order.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' } } },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      return send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } } });
    case 'tools/list':
      return send({ id, result: { tools: [tool] } });
    case 'tools/call':
      appendFileSync(process.argv[2], JSON.stringify(params.arguments) + '\\n');
      if (existsSync(process.argv[2] + '.hold')) return;
      return send({ id, result: { content: [{ type: 'text', text: 'Paid.' }] } });
    default:
      return send({ id, error: { code: -32601, message: 'no such method' } });
  }
});
`;

let at: Home;
let paid: string;
beforeEach(async () => {
  at = await newHome();
  paid = join(at.home, 'paid');
  await writeFile(join(at.home, 'shop.mjs'), SERVER);
  await at.servers({ shop: { command: process.execPath, args: [join(at.home, 'shop.mjs'), paid] } });
});
afterEach(() => at.remove());

const PAY = [{ name: 'mcp__shop__pay', args: '{"order":"7"}' }];

/** A run that is killed while the server holds back what became of the payment. */
async function killedInAPayment(spec: string, whileItRuns: () => Promise<void> = async () => {}): Promise<void> {
  await writeFile(`${paid}.hold`, '');
  const options = ['--trust-project', '--allow', 'mcp__shop__pay', '--model', spec];
  const run = startBridle(['run', 'Pay order 7.', ...options], at);
  expect(await eventually(() => existsSync(paid), 120_000)).toBe(true);
  await whileItRuns();
  run.child.kill('SIGKILL');
  await run.ended;
  await rm(`${paid}.hold`);
}

async function timesPaid(): Promise<number> {
  return (await readFile(paid, 'utf8')).trim().split('\n').length;
}

describe('bridle run --resume', () => {
  test('goes on with the run that was killed, once nobody writes it, and pays no second time', async () => {
    const model = await chatModel([PAY, 'I can not say.']);
    try {
      const options = ['--trust-project', '--allow', 'mcp__shop__pay', '--model', model.spec];
      await killedInAPayment(model.spec, async () => {
        const busy = await bridle(['run', '--resume', ...options], at);
        expect(busy.status).toBe(1);
        expect(busy.stderr).toContain('error (trace_busy)');
      });
      const { status, stdout } = await bridle(['run', '--resume', ...options, '--json'], at);
      expect(JSON.parse(stdout)).toMatchObject({ end: 'answered', text: 'I can not say.' });
      expect(status).toBe(0);
      expect(model.toolAnswers(1).join()).toContain('not known');
      expect(await timesPaid()).toBe(1);

      const over = await bridle(['run', '--resume', ...options], at);
      expect(over.stderr).toContain('error (trace_not_found): No run of this folder broke off.');
      const list = await bridle(['trace', 'list', '--json'], at);
      const [{ run }] = JSON.parse(list.stdout) as [{ run: string }];
      expect((await bridle(['run', '--resume', run, ...options], at)).stderr).toContain('error (run_ended)');
      expect((await bridle(['trace', 'show', run], at)).stdout).toContain('resumed');
    } finally {
      await model.close();
    }
  }, 300_000);

  test('asks a person at the terminal what became of the call', async () => {
    const model = await chatModel([PAY, 'It is paid.']);
    try {
      await killedInAPayment(model.spec);
      const options = ['--trust-project', '--allow', 'mcp__shop__pay', '--model', model.spec];
      const { status, stderr } = await bridle(['run', '--resume', ...options], { ...at, types: ['t'] });
      expect(stderr).toContain('it may have taken effect:\n  mcp__shop__pay {"order":"7"}');
      expect(status).toBe(0);
      expect(model.toolAnswers(1).join()).toContain('took effect');
      expect(await timesPaid()).toBe(1);
    } finally {
      await model.close();
    }
  }, 300_000);

  test('needs a run that there is, or a task', async () => {
    const none = await bridle(['run', '--resume', 'nope'], at);
    expect(none).toMatchObject({ status: 1, stderr: expect.stringContaining('error (trace_not_found)') });
    const neither = await bridle(['run'], at);
    expect(neither).toMatchObject({ status: 2, stderr: expect.stringContaining('There is no task.') });
  });
});
