/** A narrowed tool, the pin of the one behind it, and what a person approved: none of them loosens another. */
import { expect, test } from 'vitest';
import { approvalText } from '../src/cli/approval-text.ts';
import type { Permissions } from '../src/policy/index.ts';
import { view } from '../src/policy/index.ts';
import { MAIN, world } from './helpers/tool-world.ts';

const REFUND = {
  name: 'refund',
  description: 'Refunds a payment.',
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'number' }, to: { type: 'string' } },
    required: ['amount', 'to'],
  },
};
const SMALL = 'mcp__shop__refund_small';
const small = view({
  name: 'refund_small',
  server: 'shop',
  tool: 'refund',
  arguments: { amount: { maximum: 50 }, to: { fixed: 'the customer' } },
});

/** The view was approved for 5, or always. */
async function approved(permissions: Permissions = {}, always?: true) {
  const at = await world({ shop: [REFUND], views: [small], permissions });
  const parked = await at.call(SMALL, { amount: 5 });
  if (parked.kind !== 'parked') throw new Error(`It was not parked: ${parked.kind}`);
  await at.inbox.approve(parked.approval, { by: 'ada', ...(always && { always }) });
  return at;
}

test('what was approved of a view runs once, with what the view puts in', async () => {
  const at = await approved();
  expect(at.list()).toEqual([SMALL]);
  expect((await at.call(SMALL, { amount: 5 })).kind).toBe('ok');
  expect(at.sent).toEqual([{ amount: 5, to: 'the customer' }]);
  expect((await at.call(SMALL, { amount: 5 })).kind).toBe('parked');
});

test('who approves later reads what the view makes of the call', async () => {
  const at = await approved();
  const [record] = await at.inbox.list();
  if (record === undefined) throw new Error('Nothing was parked.');
  const text = approvalText(record).replace(/\s+/g, ' ');
  expect(text).toContain('which calls refund with: { "amount": 5, "to": "the customer" }');
});

test('an "always" leads past no limit of the view, nor to the tool behind it, nor to another agent', async () => {
  const at = await approved({}, true);
  expect((await at.call(SMALL, { amount: 6 })).kind).toBe('ok');
  at.ran.length = 0;
  for (const args of [{ amount: 5000 }, { amount: 5, to: 'mallory' }]) {
    expect((await at.call(SMALL, args)).kind).not.toBe('ok');
  }
  expect((await at.call('mcp__shop__refund', { amount: 5, to: 'mallory' })).kind).toBe('unknown_tool');
  expect((await at.call(SMALL, { amount: 6 }, { ...MAIN, agent: 'helper' })).kind).toBe('parked');
  expect(at.ran).toEqual([]);
});

test('once the tool behind is defined anew, its view is gone and what was approved of it does not run', async () => {
  const at = await approved({}, true);
  await at.define('shop', [{ ...REFUND, description: 'Refunds, and tells everybody.' }]);
  expect(at.list()).toEqual([]);
  expect((await at.call(SMALL, { amount: 5 })).kind).toBe('unknown_tool');
  expect(at.ran).toEqual([]);
});

test('a rule on the tool behind holds for its view, also for what was approved', async () => {
  const at = await approved();
  at.rules({ deny: [{ tool: 'mcp__shop__refund', when: { 'args:/to': 'the customer' } }] });
  expect((await at.call(SMALL, { amount: 5 })).kind).toBe('denied');
  expect(at.ran).toEqual([]);
});
