import { missingReasons } from 'bridle';
import { scriptedModel } from 'bridle/testing';
import { expect, test } from 'vitest';
import { DOCUMENTS } from './documents.ts';
import { intake } from './intake.ts';
import { contract, invoice, UNITS } from './records.ts';
import { samplePlay } from './script.ts';

test('a contract, an invoice and a bundle are taken in, each by its type, with the reason for it', async () => {
  const model = samplePlay();
  const entries = [];
  for (const document of DOCUMENTS) entries.push(...(await intake(document, model)));
  expect(model.remaining()).toBe(0);
  expect(entries).toMatchObject([
    {
      document: 'doc-17',
      type: 'contract',
      classification: 'verified',
      reason: 'verified by the contracts desk',
      status: 'extracted',
      record: { parties: ['Northwind Ltd', 'Harbour Books'], payment_days: 30 },
    },
    {
      document: 'doc-18',
      type: 'invoice',
      classification: 'chosen',
      reason: 'It asks for the payment of paper and toner; the contract is only named.',
      status: 'extracted',
      record: { number: 'R-2041', total_cents: 12_000 },
    },
    { document: 'doc-19', unit: 'page 1', type: 'contract', classification: 'chosen', status: 'extracted' },
    { document: 'doc-19', unit: 'page 2', type: 'invoice', status: 'incomplete', missing: ['/number', '/due'] },
  ]);
  const [first] = entries[1]?.attempts ?? [];
  expect(first?.issues).toEqual([
    { path: '/total_cents', message: 'is 10000, and lines and tax make 10000 + 2000 = 12000' },
  ]);
});

test('the tools of an unverified document stand side by side, and a verified one has only its own', async () => {
  const model = samplePlay();
  for (const document of DOCUMENTS.slice(0, 2)) await intake(document, model);
  const names = model.requests.map(({ tools }) => (tools as unknown as { name: string }[]).map(({ name }) => name));
  expect(names.slice(0, 2)).toEqual([['extract_contract'], ['extract_contract', 'extract_invoice', 'no_record']]);
});

test('a document that is neither is said to be none, and why', async () => {
  const model = scriptedModel([{ calls: [{ name: 'no_record', input: { reason: 'It is a cake recipe.' } }] }]);
  expect(await intake({ id: 'doc-20', pages: ['Take 200 g of flour.'] }, model)).toMatchObject([
    { classification: 'none', status: 'none', reason: 'It is a cake recipe.' },
  ]);
});

test('the schemas leave room for what a document does not say', () => {
  const unsaid = (schema: object) => missingReasons(schema as never).map(({ text }) => text.split(' ')[0]);
  expect(unsaid(contract.schema)).toEqual([]);
  // A line without a text is none, and a unit without pages neither.
  expect(unsaid(invoice.schema)).toEqual(['"/lines/*/text"']);
  expect(unsaid(UNITS)).toEqual(['"/units/*/first_page"', '"/units/*/last_page"']);
});
