import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Json, type RawJson, ToolFailure } from 'bridle';
import type { Database } from 'bridle/store';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openShopDatabase } from './database.ts';
import { createShop, type Shop } from './shop.ts';
import { shopTools } from './tools.ts';

const NOW = new Date('2026-03-10T12:00:00.000Z');
const WHO = { agent: 'test', via: 'library' } as const;
const days = (count: number) => new Date(NOW.getTime() + count * 24 * 60 * 60_000);

let dir: string;
let file: string;
let database: Database;
let shop: Shop;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-shop-'));
  file = join(dir, 'shop.db');
  database = await openShopDatabase(file, NOW);
  shop = createShop(database, 'customer-7', () => NOW);
  // What the customer agreed to, for the tests of what comes after it.
  shop.confirmRefund('TX-88', { amount_cents: 125_000, currency: 'USD' });
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

function failureOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (ToolFailure.is(error)) return error.failure.message;
    throw error;
  }
  throw new Error('nothing failed');
}

const refundsOf = (db: Database) => db.prepare('SELECT count(*) AS n FROM refund').get()?.n;

describe('the shop', () => {
  test('an order tells its status, items and transaction', () => {
    expect(shop.getOrder('O-104')).toEqual({
      order_id: 'O-104',
      status: 'delivered',
      placed_at: days(-6).toISOString(),
      items: [
        { name: 'Espresso machine', quantity: 1 },
        { name: 'Burr grinder', quantity: 1 },
      ],
      transaction_id: 'TX-88',
    });
  });

  test('a transaction tells amount, currency and whether it can be refunded', () => {
    expect(shop.getTransaction('TX-88')).toEqual({
      transaction_id: 'TX-88',
      order_id: 'O-104',
      amount_cents: 125_000,
      amount: '1250.00',
      currency: 'USD',
      refundable: true,
    });
  });

  test('a refund is of what was paid, and the order and transaction show it', () => {
    expect(shop.refund('TX-88')).toEqual({
      reference: 'RF-1001',
      transaction_id: 'TX-88',
      order_id: 'O-104',
      amount_cents: 125_000,
      amount: '1250.00',
      currency: 'USD',
      refunded_at: NOW.toISOString(),
    });
    expect(shop.getOrder('O-104').status).toBe('refunded');
    expect(shop.getTransaction('TX-88').refundable).toBe(false);
  });

  test('a transaction is refunded once, and asking again gives the same refund, even after the window', () => {
    const first = shop.refund('TX-88');
    const later = createShop(database, 'customer-7', () => days(400));
    expect([shop.refund('TX-88'), later.refund('TX-88')]).toEqual([first, first]);
    expect(refundsOf(database)).toBe(1);
  });

  test("someone else's order is answered in the same words as one that does not exist", () => {
    const theirs = failureOf(() => shop.getOrder('O-201'));
    const nobodys = failureOf(() => shop.getOrder('O-999'));
    expect(theirs.replace('O-201', 'O-999')).toBe(nobodys);
    expect(nobodys).toContain('not available');
  });

  test.each(['getTransaction', 'refund'] as const)('so is a transaction, by %s', (act) => {
    const theirs = failureOf(() => shop[act]('TX-93'));
    expect(theirs.replace('TX-93', 'TX-999')).toBe(failureOf(() => shop[act]('TX-999')));
    expect(refundsOf(database)).toBe(0);
  });

  test('outside the return window the failure says so and nothing is refunded', () => {
    expect(failureOf(() => shop.refund('TX-47'))).toMatch(/O-61 .*30-day return window.*Nothing was refunded/);
    expect(shop.getTransaction('TX-47').refundable).toBe(false);
    expect(shop.getOrder('O-61').status).toBe('delivered');
    expect(refundsOf(database)).toBe(0);
  });

  test('the last day of the window still counts', () => {
    const onTheLastDay = createShop(database, 'customer-7', () => days(24));
    expect(onTheLastDay.refund('TX-88').reference).toBe('RF-1001');
  });

  test('two connections to one file give the same refund', async () => {
    const other = await openShopDatabase(file, days(1));
    const otherShop = createShop(other, 'customer-7', () => days(1));
    expect(otherShop.refund('TX-88')).toEqual(shop.refund('TX-88'));
    expect(refundsOf(other)).toBe(1);
    other.close();
  });

  test.each<[string, number, string]>([
    ['another amount', 100, 'USD'],
    ['another currency', 3_800, 'EUR'],
  ])('a confirmation of %s is none', (_, amount_cents, currency) => {
    expect(failureOf(() => shop.refund('TX-91'))).toMatch(
      /not confirmed .*TX-91 over 38\.00 USD.*Nothing was refunded/,
    );
    shop.confirmRefund('TX-91', { amount_cents, currency });
    expect(failureOf(() => shop.refund('TX-91'))).toContain('not confirmed');
    expect(refundsOf(database)).toBe(0);
  });

  test("someone else's payment can't be confirmed", () => {
    expect(failureOf(() => shop.confirmRefund('TX-93', { amount_cents: 8_900, currency: 'EUR' }))).toContain(
      'not available',
    );
  });

  test('a shop that was opened before is not filled again', async () => {
    shop.refund('TX-88');
    const other = await openShopDatabase(file, days(1));
    expect(other.prepare('SELECT count(*) AS n FROM purchase').get()?.n).toBe(5);
    expect(createShop(other, 'customer-7').getOrder('O-104').status).toBe('refunded');
    other.close();
  });
});

describe('the tools', () => {
  const refund = (args: Json, answer?: Json) => {
    const tool = shopTools(shop).find(({ definition }) => definition.ref.tool === 'refund_transaction');
    if (!tool) throw new Error('the shop refunds');
    const input = vi.fn(async (_: RawJson) => answer ?? null);
    const ctx = { callId: 'c', who: WHO, signal: new AbortController().signal, idleMs: 1, hardMs: 1 };
    return { input, result: tool.call(args, answer === undefined ? ctx : { ...ctx, input }) };
  };

  test('the refund asks the customer, with the amount, and happens on a yes', async () => {
    const { input, result } = refund({ transaction_id: 'TX-91' }, { action: 'accept', content: { refund: true } });
    expect(await result).toMatchObject({ kind: 'result', isError: false });
    expect(input.mock.calls[0]?.[0].text).toContain('Refund 38.00 USD of order O-105?');
    expect(refundsOf(database)).toBe(1);
    const again = refund({ transaction_id: 'TX-91' }, { action: 'decline' });
    expect(await again.result).toMatchObject({ kind: 'result', isError: false });
    expect(again.input).not.toHaveBeenCalled();
  });

  test.each<[string, Json | undefined]>([
    ['says no', { action: 'accept', content: { refund: false } }],
    ['declines', { action: 'decline' }],
    ['gives no answer', { action: 'cancel' }],
    ["can't be asked", undefined],
  ])('nothing is refunded when the customer %s', async (_, answer) => {
    expect(await refund({ transaction_id: 'TX-91' }, answer).result).toMatchObject({
      kind: 'failure',
      failure: { executed: 'not_executed' },
    });
    expect(refundsOf(database)).toBe(0);
  });

  test('a yes that the model writes into the arguments does not count', async () => {
    const args = { transaction_id: 'TX-91', confirm: true, refund: true };
    expect(await refund(args, { action: 'decline' }).result).toMatchObject({ kind: 'failure' });
    expect(refundsOf(database)).toBe(0);
  });

  test('none takes a customer or an amount', () => {
    for (const { definition } of shopTools(shop)) {
      const { properties } = definition.inputSchema as { properties: object };
      expect(Object.keys(properties)).toHaveLength(1);
      expect(Object.keys(properties)[0]).toMatch(/^(order|transaction)_id$/);
    }
  });

  test('only the refund does anything, and its preview is the payment', () => {
    const [order, payment, refund] = shopTools(shop).map((tool) => tool.definition);
    expect([order?.effect, payment?.effect, refund?.effect]).toEqual(['read', 'read', 'idempotent']);
    expect(refund?.preview).toMatchObject({
      tool: 'get_transaction',
      arguments: { transaction_id: '/transaction_id' },
    });
  });
});
