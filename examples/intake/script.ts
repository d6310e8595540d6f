/** What a model might answer to the sample documents, mistakes included, so that the example runs without a key. */
import { type ScriptedModel, scriptedModel } from 'bridle/testing';

const AGREEMENT = {
  parties: ['Northwind Ltd', 'Harbour Books'],
  starts: '2026-01-01',
  ends: '2026-12-31',
  payment_days: 30,
};
const INVOICE = {
  choice_reason: 'It asks for the payment of paper and toner; the contract is only named.',
  number: 'R-2041',
  lines: [
    { text: 'Paper, 500 sheets', cents: 4_000 },
    { text: 'Toner', cents: 6_000 },
  ],
  tax_cents: 2_000,
  due: '2026-02-14',
};

export function samplePlay(): ScriptedModel {
  const call = (name: string, input: object) => ({ calls: [{ name, input: { ...input } }] });
  return scriptedModel([
    call('extract_contract', AGREEMENT),
    // The net sum in place of the total: the check says so.
    call('extract_invoice', { ...INVOICE, total_cents: 10_000 }),
    call('extract_invoice', { ...INVOICE, total_cents: 12_000 }),
    // A page is left over: the check says so.
    JSON.stringify({ units: [{ first_page: 1, last_page: 1, title: 'Supplier agreement' }] }),
    JSON.stringify({
      units: [
        { first_page: 1, last_page: 1, title: 'Supplier agreement' },
        { first_page: 2, last_page: 2, title: 'Invoice' },
      ],
    }),
    call('extract_contract', {
      choice_reason: 'It lays down the terms of supply; invoices are its payment terms.',
      ...AGREEMENT,
    }),
    call('extract_invoice', {
      choice_reason: 'It asks for the payment of a repair.',
      number: null,
      lines: [{ text: 'Repair of a printer', cents: 7_500 }],
      tax_cents: null,
      total_cents: 7_500,
      due: null,
    }),
  ]);
}
