import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolFailure } from 'bridle';
import type { Database } from 'bridle/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openShopDatabase } from './database.ts';
import { createShop, type Shop } from './shop.ts';
import { shopTools } from './tools.ts';

const NOW = new Date('2026-03-10T12:00:00.000Z');
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

  test('a shop that was opened before is not filled again', async () => {
    shop.refund('TX-88');
    const other = await openShopDatabase(file, days(1));
    expect(other.prepare('SELECT count(*) AS n FROM purchase').get()?.n).toBe(5);
    expect(createShop(other, 'customer-7').getOrder('O-104').status).toBe('refunded');
    other.close();
  });
});

describe('the tools', () => {
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
