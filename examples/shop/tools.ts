import { type Ask, defineTool, type Tool, ToolFailure } from 'bridle';
import { ORDER_STATUSES, type Shop } from './shop.ts';

const ORDER_ID = { type: 'string', pattern: '^O-[0-9]+$', description: 'Number of the order, such as O-104.' } as const;
const TRANSACTION_ID = {
  type: 'string',
  pattern: '^TX-[0-9]+$',
  description: 'Number of the payment transaction, such as TX-88. An order names its own.',
} as const;
const AMOUNT = {
  amount_cents: { type: 'integer', description: 'In the smallest unit of the currency.' },
  amount: { type: 'string', description: 'The same amount in the main unit of the currency, such as 1250.00.' },
  currency: { type: 'string', description: 'ISO 4217 code.' },
} as const;

/** The customer's own word, by a form that the model has no part in: an argument that says yes would be the model's. */
async function confirmed(ask: Ask, question: string): Promise<void> {
  const answer = await ask(question, {
    type: 'object',
    properties: { refund: { type: 'boolean', title: 'Refund it' } },
    required: ['refund'],
  });
  if (answer.action === 'accept' && answer.content.refund) return;
  throw new ToolFailure('The customer did not confirm the refund. Nothing was refunded; do not ask again.', {
    category: 'permission',
  });
}

/** The tools of one customer's session. None takes a customer: whose orders these are isn't the model's to say. */
export function shopTools(shop: Shop): readonly Tool[] {
  return [
    defineTool(
      {
        name: 'get_order',
        title: 'Look up an order',
        description:
          "Looks up one of the signed-in customer's orders by its number: status, items, and the transaction it was " +
          'paid with. Use it to say where an order is, and to find the transaction before a refund.',
        input: { type: 'object', properties: { order_id: ORDER_ID }, required: ['order_id'] },
        output: {
          type: 'object',
          properties: {
            order_id: ORDER_ID,
            status: { type: 'string', enum: ORDER_STATUSES },
            placed_at: { type: 'string', format: 'date-time' },
            items: {
              type: 'array',
              items: {
                type: 'object',
                properties: { name: { type: 'string' }, quantity: { type: 'integer' } },
                required: ['name', 'quantity'],
              },
            },
            transaction_id: TRANSACTION_ID,
          },
          required: ['order_id', 'status', 'placed_at', 'items', 'transaction_id'],
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      ({ order_id }) => shop.getOrder(order_id),
    ),
    defineTool(
      {
        name: 'get_transaction',
        title: 'Look up a payment',
        description:
          "Looks up one of the signed-in customer's payment transactions: amount, currency, its order, and whether it " +
          'can be refunded.',
        input: { type: 'object', properties: { transaction_id: TRANSACTION_ID }, required: ['transaction_id'] },
        output: {
          type: 'object',
          properties: {
            transaction_id: TRANSACTION_ID,
            order_id: ORDER_ID,
            ...AMOUNT,
            refundable: { type: 'boolean' },
          },
          required: ['transaction_id', 'order_id', 'amount_cents', 'amount', 'currency', 'refundable'],
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      ({ transaction_id }) => shop.getTransaction(transaction_id),
    ),
    defineTool(
      {
        name: 'refund_transaction',
        title: 'Refund a payment',
        description:
          'Refunds a payment transaction of the signed-in customer in full, to the means of payment it came from. ' +
          'The amount is what was paid. The shop itself asks the customer to confirm it; there is no need to ask ' +
          'before. A transaction is refunded once: asking again gives the same refund. Returns the amount and the ' +
          'reference of the refund.',
        input: { type: 'object', properties: { transaction_id: TRANSACTION_ID }, required: ['transaction_id'] },
        output: {
          type: 'object',
          properties: {
            reference: { type: 'string', description: 'Reference of the refund, such as RF-1001.' },
            transaction_id: TRANSACTION_ID,
            order_id: ORDER_ID,
            ...AMOUNT,
            refunded_at: { type: 'string', format: 'date-time' },
          },
          required: ['reference', 'transaction_id', 'order_id', 'amount_cents', 'amount', 'currency', 'refunded_at'],
        },
        annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
        // Amount and currency are shown before it is approved, and they come from here, not from the model.
        preview: { tool: 'get_transaction', arguments: { transaction_id: '/transaction_id' } },
      },
      async ({ transaction_id }, { ask }) => {
        const payment = shop.getTransaction(transaction_id);
        if (payment.refundable) {
          await confirmed(ask, `Refund ${payment.amount} ${payment.currency} of order ${payment.order_id}?`);
          shop.confirmRefund(transaction_id, payment);
        }
        return shop.refund(transaction_id);
      },
    ),
  ];
}
