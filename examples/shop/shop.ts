import { ToolFailure } from 'bridle';
import { type Database, transaction } from 'bridle/store';

/** How long after it was placed an order can be refunded. */
const RETURN_DAYS = 30;
const DAY_MS = 24 * 60 * 60_000;

export const ORDER_STATUSES = ['paid', 'shipped', 'delivered', 'refunded'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface Order {
  readonly order_id: string;
  readonly status: OrderStatus;
  readonly placed_at: string;
  readonly items: { readonly name: string; readonly quantity: number }[];
  readonly transaction_id: string;
}

export interface Transaction {
  readonly transaction_id: string;
  readonly order_id: string;
  readonly amount_cents: number;
  /** The same amount in the currency's main unit, for people: `1250.00`. */
  readonly amount: string;
  readonly currency: string;
  readonly refundable: boolean;
}

export interface Refund {
  readonly reference: string;
  readonly transaction_id: string;
  readonly order_id: string;
  readonly amount_cents: number;
  readonly amount: string;
  readonly currency: string;
  readonly refunded_at: string;
}

/** What one signed-in customer can do. Whose orders they are is settled here, once, and never by an argument. */
export interface Shop {
  getOrder(orderId: string): Order;
  getTransaction(transactionId: string): Transaction;
  /** Records that the customer wants exactly this payment refunded, with exactly this amount. */
  confirmRefund(transactionId: string, agreed: Pick<Transaction, 'amount_cents' | 'currency'>): void;
  /** Refuses without the customer's confirmation of this payment and amount. */
  refund(transactionId: string): Refund;
}

interface Payment {
  readonly id: string;
  readonly order: string;
  readonly cents: number;
  readonly currency: string;
  readonly placedAt: string;
  readonly refund: { readonly number: number; readonly at: string } | null;
}

/** In the same words for what isn't there and for what is someone else's: an answer must not tell the two apart. */
function notAvailable(what: string): ToolFailure {
  return new ToolFailure(`${what} is not available. Check the number with the customer.`);
}

function inMainUnit(cents: number): string {
  return (cents / 100).toFixed(2);
}

/**
 * @param customer the signed-in customer's id, from the session
 * @param now the clock, for the return window
 */
export function createShop(database: Database, customer: string, now: () => Date = () => new Date()): Shop {
  function findPayment(transactionId: string): Payment {
    const row = database
      .prepare(
        `SELECT payment.id, purchase.id AS "order", amount_cents, currency, placed_at, refund.number, refunded_at
         FROM payment JOIN purchase ON purchase.id = payment.purchase LEFT JOIN refund ON refund.payment = payment.id
         WHERE payment.id = ? AND purchase.customer = ?`,
      )
      .get(transactionId, customer);
    if (row === undefined) throw notAvailable(`Transaction ${transactionId}`);
    return {
      id: String(row.id),
      order: String(row.order),
      cents: Number(row.amount_cents),
      currency: String(row.currency),
      placedAt: String(row.placed_at),
      refund: row.number == null ? null : { number: Number(row.number), at: String(row.refunded_at) },
    };
  }

  function inReturnWindow(payment: Payment): boolean {
    return now().getTime() - Date.parse(payment.placedAt) <= RETURN_DAYS * DAY_MS;
  }

  return {
    getOrder(orderId) {
      const row = database
        .prepare(
          `SELECT purchase.id, status, placed_at, payment.id AS payment
           FROM purchase JOIN payment ON payment.purchase = purchase.id
           WHERE purchase.id = ? AND purchase.customer = ?`,
        )
        .get(orderId, customer);
      if (row === undefined) throw notAvailable(`Order ${orderId}`);
      const items = database.prepare('SELECT name, quantity FROM item WHERE purchase = ? ORDER BY rowid').all(orderId);
      return {
        order_id: String(row.id),
        // The table's own check allows no other.
        status: String(row.status) as OrderStatus,
        placed_at: String(row.placed_at),
        items: items.map((item) => ({ name: String(item.name), quantity: Number(item.quantity) })),
        transaction_id: String(row.payment),
      };
    },

    getTransaction(transactionId) {
      const payment = findPayment(transactionId);
      return {
        transaction_id: payment.id,
        order_id: payment.order,
        amount_cents: payment.cents,
        amount: inMainUnit(payment.cents),
        currency: payment.currency,
        refundable: payment.refund === null && inReturnWindow(payment),
      };
    },

    confirmRefund(transactionId, { amount_cents, currency }) {
      transaction(database, () => {
        const payment = findPayment(transactionId);
        database
          .prepare('INSERT OR REPLACE INTO confirmation VALUES (?, ?, ?, ?)')
          .run(payment.id, amount_cents, currency, now().toISOString());
      });
    },

    refund(transactionId) {
      return transaction(database, () => {
        const payment = findPayment(transactionId);
        const refund = payment.refund ?? makeRefund(payment);
        return {
          reference: `RF-${1000 + refund.number}`,
          transaction_id: payment.id,
          order_id: payment.order,
          amount_cents: payment.cents,
          amount: inMainUnit(payment.cents),
          currency: payment.currency,
          refunded_at: refund.at,
        };
      });
    },
  };

  function makeRefund(payment: Payment): { readonly number: number; readonly at: string } {
    if (!inReturnWindow(payment)) {
      throw new ToolFailure(
        `Order ${payment.order} was placed on ${payment.placedAt.slice(0, 10)}, outside the ${RETURN_DAYS}-day return ` +
          'window, so it can no longer be refunded. Nothing was refunded.',
      );
    }
    const confirmed = database
      .prepare('SELECT 1 FROM confirmation WHERE payment = ? AND amount_cents = ? AND currency = ?')
      .get(payment.id, payment.cents, payment.currency);
    if (confirmed === undefined) {
      throw new ToolFailure(
        `The customer has not confirmed the refund of ${payment.id} over ${inMainUnit(payment.cents)} ` +
          `${payment.currency}. Nothing was refunded.`,
        { category: 'permission' },
      );
    }
    const at = now().toISOString();
    const { lastInsertRowid } = database
      .prepare('INSERT INTO refund (payment, refunded_at) VALUES (?, ?)')
      .run(payment.id, at);
    database.prepare("UPDATE purchase SET status = 'refunded' WHERE id = ?").run(payment.order);
    return { number: Number(lastInsertRowid), at };
  }
}
