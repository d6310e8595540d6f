import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chatModel } from './helpers/chat-model.ts';
import { type Home, newHome } from './helpers/home.ts';
import { bridle } from './helpers/terminal.ts';

/** A server whose one tool writes down each call that reaches it, and says which arguments make an act. */
const SERVER = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tool = {
  name: 'pay',
  description: 'Pays an order.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' }, note: { type: 'string' } } },
  _meta: { 'bridle/idempotencyKey': ['/order'] },
};
let paid = 0;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      return send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } } });
    case 'tools/list':
      return send({ id, result: { tools: [tool] } });
    case 'tools/call':
      paid += 1;
      appendFileSync(process.argv[2], JSON.stringify(params.arguments) + '\\n');
      return send({ id, result: { content: [{ type: 'text', text: 'Paid, as number ' + process.pid + '.' + paid }] } });
    default:
      return send({ id, error: { code: -32601, message: 'no such method' } });
  }
});
`;

let at: Home;
beforeEach(async () => {
  at = await newHome();
  await writeFile(join(at.home, 'shop.mjs'), SERVER);
});
afterEach(() => at.remove());

/** Two runs, each by a process state of its own, that call the tool with these arguments. */
async function twice(trust: boolean, args: string) {
  const { home, cwd, env } = at;
  const paid = join(home, 'paid');
  const server = { command: process.execPath, args: [join(home, 'shop.mjs'), paid], ...(trust && { trust }) };
  await at.servers({ shop: server });
  const answers: string[] = [];
  for (let nth = 0; nth < 2; nth += 1) {
    const model = await chatModel([[{ name: 'mcp__shop__pay', args }], 'Done.']);
    try {
      const options = ['--trust-project', '--quiet', '--allow', 'mcp__shop__pay', '--model', model.spec];
      await bridle(['run', 'Pay order 7.', ...options], { cwd, env });
      answers.push(model.toolAnswers(1).join());
    } finally {
      await model.close();
    }
  }
  return { answers, reached: (await readFile(paid, 'utf8')).trim().split('\n').length };
}

describe("acts of a server's tool that says what an act is, at the command line", () => {
  test('run once over two runs where the server is trusted: the second is given what the first one was', async () => {
    const { answers, reached } = await twice(true, '{"order":"7"}');
    expect(reached).toBe(1);
    expect(answers[0]).toContain('Paid');
    expect(answers[1]).toBe(answers[0]);
  });

  test('run as often as they are called where it is not, or where the call lacks what makes the key', async () => {
    expect((await twice(false, '{"order":"7"}')).reached).toBe(2);
    await rm(join(at.home, 'paid'));
    expect((await twice(true, '{"note":"again"}')).reached).toBe(2);
  });
});
