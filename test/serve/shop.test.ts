import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadProject } from 'bridle/host';
import { openDatabase } from 'bridle/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, type Hooks, KINDS, type Kind, type TestClient } from './clients.ts';

const SERVER = fileURLToPath(new URL('../../dist/examples/shop/server.js', import.meta.url));
const PROJECT = fileURLToPath(new URL('../../examples/shop', import.meta.url));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-shop-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the server of the shop example', () => {
  const clients: TestClient[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });

  async function signedIn(customer: string, kind: Kind = 'v1', hooks: Hooks = {}): Promise<TestClient> {
    const client = await connect(
      kind,
      {
        script: SERVER,
        env: { SHOP_DB: join(dir, 'live.db'), SHOP_CUSTOMER: customer },
      },
      hooks,
    );
    clients.push(client);
    return client;
  }

  test.each(KINDS)(
    'refunds once for a %s client whose person agrees, and whose preview names the payment',
    async (kind) => {
      const asked: string[] = [];
      const answer = (message: string) => {
        asked.push(message);
        return { refund: true };
      };
      const client = await signedIn('customer-7', kind, { answer });
      const refund = (await client.list()).find((tool) => tool.name === 'refund_transaction');
      expect(refund?._meta).toEqual({
        'bridle/preview': { tool: 'get_transaction', arguments: { transaction_id: '/transaction_id' } },
      });
      const order = (await client.call('get_order', { order_id: 'O-104' })).structuredContent as {
        transaction_id: string;
      };
      const { transaction_id } = order;
      const first = await client.call('refund_transaction', { transaction_id });
      expect(first.structuredContent).toMatchObject({ amount: '1250.00', currency: 'USD', reference: 'RF-1001' });
      expect((await client.call('refund_transaction', { transaction_id })).structuredContent).toEqual(
        first.structuredContent,
      );
      expect(asked).toEqual(['Refund 1250.00 USD of order O-104?']);
    },
  );

  test.each(KINDS)('refunds nothing for a %s client whose person says no', async (kind) => {
    const client = await signedIn('customer-7', kind, { answer: { refund: false } });
    const result = await client.call('refund_transaction', { transaction_id: 'TX-88' });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result.content)).toContain('Nothing was refunded');
    const { structuredContent } = await client.call('get_order', { order_id: 'O-104' });
    expect(structuredContent).toMatchObject({ status: 'delivered' });
  });

  test.each(KINDS)('tells a %s client the name and version that its author gave it', async (kind) => {
    expect((await signedIn('customer-7', kind)).server()).toMatchObject({ name: 'shop', version: '1.0.0' });
  });

  test('the session says whose orders they are', async () => {
    const client = await signedIn('customer-9');
    expect((await client.call('get_order', { order_id: 'O-201' })).isError).not.toBe(true);
    const other = await client.call('get_order', { order_id: 'O-104' });
    expect(other.isError).toBe(true);
    expect(JSON.stringify(other.content)).toContain('Order O-104 is not available');
  });

  test('many processes on one file refund once between them', async () => {
    const ask = [
      {
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: { elicitation: {} },
          clientInfo: { name: 'race', version: '1' },
        },
      },
      { id: 2, method: 'tools/call', params: { name: 'refund_transaction', arguments: { transaction_id: 'TX-88' } } },
    ];
    const race = async () => {
      const child = spawn(process.execPath, [SERVER], { env: { SHOP_DB: join(dir, 'race.db') }, stdio: 'pipe' });
      child.stderr.resume();
      let out = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
      for (const message of ask) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      // The customer's yes, to a request with an id of the server's own.
      const asked = () => out.split('\n').find((line) => line.endsWith('}') && line.includes('elicitation/create'));
      let answered = false;
      while (!out.includes('"id":2') || !out.includes('structuredContent')) {
        const question = asked();
        if (question !== undefined && !answered) {
          answered = true;
          const { id } = JSON.parse(question) as { id: number };
          const result = { action: 'accept', content: { refund: true } };
          child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
        }
        await once(child.stdout, 'data');
      }
      child.stdin.end();
      await once(child, 'exit');
      const answer = out.split('\n').find((line) => line.includes('structuredContent')) ?? '';
      return (JSON.parse(answer) as { result: { structuredContent: unknown } }).result.structuredContent;
    };
    const refunds = await Promise.all([race(), race(), race(), race()]);
    expect(refunds[0]).toMatchObject({ reference: 'RF-1001' });
    expect(new Set(refunds.map((refund) => JSON.stringify(refund))).size).toBe(1);
    const shared = await openDatabase(join(dir, 'race.db'));
    expect(shared.prepare('SELECT count(*) AS n FROM refund').get()).toEqual({ n: 1 });
    shared.close();
  });
});

describe('the folder of the shop example', () => {
  test('is a project whose files say nothing that a host would warn of, and whose server is the built one', async () => {
    const project = await loadProject({ cwd: PROJECT, env: {}, trustProject: true, configDir: dir, stateDir: dir });
    expect([project.root, project.warnings, project.notStarted]).toEqual([PROJECT, [], []]);
    const [shop] = project.servers;
    expect(shop).toMatchObject({ key: 'shop', env: { SHOP_CUSTOMER: 'customer-7', SHOP_DB: ':memory:' } });
    if (shop?.kind !== 'stdio') throw new Error('the shop is started by a command');
    expect(resolve(shop.cwd, shop.args[0] ?? '')).toBe(SERVER);
  });
});
