/**
 * Records as the first version of each was written go on counting as they did: in `fixtures/store/records-1` are the
 * tables of approvals, pins and acts, a chain of the audit whose beginning was pruned, and a lock. A change that can't
 * read them any more needs a new `v` and an upgrade; the fixture stays as it is.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { JsonObject, Store } from '../../src/contracts/index.ts';
import { idempotencyLedger } from '../../src/dispatch/index.ts';
import { question } from '../../src/policy/approvals/fixtures.ts';
import {
  type AuditAnchor,
  type AuditRecord,
  approvals,
  pins,
  readAudit,
  readHeads,
  readPinLock,
  verifyAudit,
} from '../../src/policy/index.ts';
import { SHOP, toolOf } from '../../src/policy/pins/fixtures.ts';
import { memoryStore, openLogFolder } from '../../src/store/index.ts';
import { KEY } from '../helpers/audit-place.ts';

const dir = fileURLToPath(new URL('../fixtures/store/records-1/', import.meta.url));
/** When they were written. */
const now = () => Date.UTC(2027, 0, 15, 8);
const REFUND: JsonObject = {
  name: 'refund',
  description: 'Refunds a payment.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
};

async function oldStore(): Promise<Store> {
  const store = memoryStore();
  const tables: Record<string, Record<string, { v: number }>> = JSON.parse(
    readFileSync(join(dir, 'tables.json'), 'utf8'),
  );
  for (const [name, entries] of Object.entries(tables)) {
    const table = store.table(name);
    for (const [key, record] of Object.entries(entries)) await table.put(key, record, null);
  }
  return store;
}

describe('approvals', () => {
  async function asked(order: string, definition = REFUND) {
    const inbox = approvals({ store: await oldStore(), key: KEY, place: '/project', now });
    const reply = await inbox.asker().ask(question({ tool: toolOf(definition), args: { order }, callId: 'new' }));
    return { inbox, reply };
  }

  test('an approved call may run, once', async () => {
    const { inbox, reply } = await asked('O-1');
    expect(reply).toMatchObject({ answer: 'allow', by: 'ada' });
    expect(await (reply as { grant?: { claim(id: string): unknown } }).grant?.claim('new')).toEqual({ claimed: true });
    expect(await inbox.list({ state: 'used' })).toHaveLength(2);
  });

  test('a no stands, a question waits, and what was used is used', async () => {
    expect((await asked('O-2')).reply).toMatchObject({ answer: 'deny', by: 'ada' });
    const { inbox, reply } = await asked('O-3');
    expect(reply.answer).toBe('parked');
    expect(await inbox.list({ state: 'waiting' })).toHaveLength(1);
    expect((await asked('O-4')).reply.answer).toBe('parked');
    expect(await inbox.list({ state: 'used' })).toMatchObject([{ used: { callId: 'c5', outcome: { kind: 'ok' } } }]);
  });

  test('an always covers what it covered, until the tool is defined anew', async () => {
    expect((await asked('P-7')).reply).toMatchObject({ answer: 'allow', always: 'project' });
    expect((await asked('Q-7')).reply.answer).toBe('parked');
    expect((await asked('P-7', { ...REFUND, description: 'Refunds, and more.' })).reply.answer).toBe('parked');
  });
});

test('pins agree to what they agreed to, and still hold back what was held back', async () => {
  const known = await pins({ store: await oldStore(), place: '/project', now });
  expect(known.verdict(toolOf(REFUND))).toBeUndefined();
  expect(known.verdict(toolOf({ ...REFUND, description: 'Refunds, and more.' }))?.code).toBe('pin_changed');
  expect(known.verdict(toolOf({ ...REFUND, name: 'Refund' }))?.code).toBe('pin_look_alike');
  expect(known.instructions(SHOP, 'Ask before a refund.')).toBeUndefined();
  expect(known.instructions(SHOP, 'Never ask.')?.code).toBe('pin_changed');
});

test('a lock agrees to what it was made of', async () => {
  const file = join(dir, 'bridle.lock.json');
  const known = await pins({ lock: readPinLock(readFileSync(file, 'utf8'), file) });
  expect(known.verdict(toolOf(REFUND))).toBeUndefined();
  expect(known.instructions(SHOP, 'Ask before a refund.')).toBeUndefined();
  expect(known.verdict(toolOf({ ...REFUND, description: 'Refunds, and more.' }))).toBeDefined();
});

test('an act that was done is not done again, and one of which nobody knows says so', async () => {
  const minute = 60_000;
  const clock = { now: () => now() + minute, after: () => () => {} };
  const ledger = idempotencyLedger(await oldStore(), { clock });
  const { signal } = new AbortController();
  const claim = (key: string) =>
    ledger.claim(
      { agent: 'main', server: SHOP.fingerprint, tool: 'refund', key },
      { callId: 'new', argsDigest: 'd' },
      signal,
    );
  const done = await claim('done');
  expect(done).toMatchObject({ kind: 'done', callId: 'call done', end: { kind: 'ok' } });
  expect(done.kind === 'done' && done.end?.kind === 'ok' && done.end.raw.text).toContain('Refunded.');
  expect(await claim('open')).toMatchObject({ kind: 'unknown', callId: 'call open' });
  expect(await claim('died')).toMatchObject({ kind: 'unknown', callId: 'call died' });
});

test('the audit verifies from its anchor to its head, and tells its calls', async () => {
  const logs = openLogFolder<AuditRecord>({ dir: join(dir, 'audit'), versions: { v: 1 } });
  const anchors = openLogFolder<AuditAnchor>({ dir: join(dir, 'audit', 'anchors'), versions: { v: 1 } });
  const { heads } = readHeads(readFileSync(join(dir, 'heads.json'), 'utf8'), 'heads.json');
  expect(await verifyAudit({ logs, anchors, key: KEY, heads })).toMatchObject({
    ok: true,
    writers: [{ pruned: 4, records: 6, closed: true }],
  });
  const rows = [];
  for await (const row of readAudit(logs)) rows.push(row);
  expect(rows.map(({ call, end }) => [call.id, end?.outcome])).toEqual([
    ['2', 'ok'],
    ['3', 'ok'],
    ['4', undefined],
  ]);
  expect(rows[0]?.call).toMatchObject({ args: { token: '[redacted]' }, asked: { by: 'ada', approval: 'a1' } });
});
