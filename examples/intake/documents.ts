import type { IncomingDocument } from './intake.ts';

const AGREEMENT = `Supplier agreement between Northwind Ltd and Harbour Books.
It starts on 2026-01-01 and ends on 2026-12-31. Northwind sends an invoice each month;
invoices are due 30 days after they arrive.`;

const INVOICE = `INVOICE R-2041, under contract 42
Paper, 500 sheets: 40.00
Toner: 60.00
Tax: 20.00
Total: 120.00
Due: 2026-02-14`;

const PLAIN_INVOICE = `INVOICE
Repair of a printer: 75.00
Total: 75.00`;

export const DOCUMENTS: readonly IncomingDocument[] = [
  { id: 'doc-17', pages: [AGREEMENT], verified: { type: 'contract', by: 'the contracts desk' } },
  { id: 'doc-18', pages: [INVOICE] },
  { id: 'doc-19', pages: [AGREEMENT, PLAIN_INVOICE] },
];
