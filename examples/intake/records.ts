import { recordType } from 'bridle';

/** What the agreement itself lays down. An agreement that speaks of invoices is no invoice. */
export const contract = recordType({
  name: 'contract',
  description:
    'Parties, term and payment terms of an agreement: a supplier agreement, a lease, an order under a framework. Also of ' +
    'one that speaks of invoices, amounts, billing schedules or due dates, as those are its payment terms. Not for a bill ' +
    'that only names the contract it is sent under.',
  schema: {
    type: 'object',
    properties: {
      parties: { type: 'array', items: { type: 'string' } },
      starts: { type: ['string', 'null'], description: 'First day, as YYYY-MM-DD.' },
      ends: { type: ['string', 'null'], description: 'Last day, as YYYY-MM-DD; null where there is none.' },
      payment_days: { type: ['integer', 'null'], description: 'Days from an invoice to its payment.' },
    },
    required: ['parties', 'starts', 'ends', 'payment_days'],
  },
  check: ({ parties, starts, ends }) => [
    ...(parties.length < 2 ? [{ path: '/parties', message: 'an agreement is between two at least' }] : []),
    ...(starts !== null && ends !== null && starts > ends
      ? [{ path: '/ends', message: `is ${ends}, before it starts on ${starts}` }]
      : []),
  ],
});

/** A bill that stands by itself. */
export const invoice = recordType({
  name: 'invoice',
  description:
    'Number, lines, tax and total of a standalone invoice: a document that asks for the payment of what was delivered. Not ' +
    'for an agreement merely because it has payment terms or a schedule of invoices.',
  schema: {
    type: 'object',
    properties: {
      number: { type: ['string', 'null'] },
      lines: {
        type: 'array',
        items: {
          type: 'object',
          properties: { text: { type: 'string' }, cents: { type: ['integer', 'null'] } },
          required: ['text', 'cents'],
        },
      },
      tax_cents: { type: ['integer', 'null'] },
      total_cents: { type: ['integer', 'null'] },
      due: { type: ['string', 'null'], description: 'As YYYY-MM-DD.' },
    },
    required: ['number', 'lines', 'tax_cents', 'total_cents', 'due'],
  },
  check: ({ number, lines, tax_cents, total_cents, due }) => {
    const net = lines.reduce((sum, { cents }) => sum + (cents ?? 0), 0);
    const gross = net + (tax_cents ?? 0);
    return [
      ...(number === null ? [{ path: '/number', message: 'is not stated', absent: true }] : []),
      ...(due === null ? [{ path: '/due', message: 'is not stated', absent: true }] : []),
      ...(total_cents !== null && total_cents !== gross
        ? [
            {
              path: '/total_cents',
              message: `is ${total_cents}, and lines and tax make ${net} + ${tax_cents ?? 0} = ${gross}`,
            },
          ]
        : []),
    ];
  },
});

/** The documents that a file bundles, found before anything is taken from them. */
export const UNITS = {
  type: 'object',
  properties: {
    units: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          first_page: { type: 'integer' },
          last_page: { type: 'integer' },
          title: { type: ['string', 'null'] },
        },
        required: ['first_page', 'last_page', 'title'],
      },
    },
  },
  required: ['units'],
} as const;
