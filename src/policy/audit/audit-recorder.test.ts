import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditPlace, intentRecord, KEY, outcomeRecord } from '../../../test/helpers/audit-place.ts';
import type { StoreLog } from '../../contracts/index.ts';
import { memoryStore } from '../../store/index.ts';
import type { AuditRecord } from './audit-record.ts';
import { auditRecorder, auditWriter } from './audit-recorder.ts';
import { verifyAudit } from './verify-audit.ts';

let place: ReturnType<typeof auditPlace>;
beforeEach(() => {
  place = auditPlace();
});
afterEach(() => place.remove());

const types = (records: readonly AuditRecord[]) => records.map(({ type }) => type);
const textOf = () => readFileSync(join(place.dir, 'w.000000000001.jsonl'), 'utf8');

describe('the audit of a writer', () => {
  test('has the intent of a write on disk before it resolves, and then how the call ended', async () => {
    const audit = place.recorder('w');
    await audit.intent(intentRecord('1', { amount: 5 }, { asked: { answer: 'allow', by: 'terminal' } }));
    expect(types(await place.records('w'))).toEqual(['opened', 'intent']);
    audit.outcome(outcomeRecord('1', { amount: 5 }));
    await audit.close();
    const records = await place.records('w');
    expect(types(records)).toEqual(['opened', 'intent', 'end', 'closed']);
    expect(records[1]).toMatchObject({
      seq: 2,
      call: {
        id: '1',
        who: { agent: 'main' },
        name: 'refund',
        effect: 'write',
        args: { amount: 5 },
        argsDigest: expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/),
        decision: { policyVersion: 'p1', reasons: [{ code: 'allow_rule', source: { line: 3 } }] },
        asked: { answer: 'allow', by: 'terminal' },
      },
    });
    expect(records[2]).toMatchObject({ id: '1', intent: 2, end: { outcome: 'ok', ms: 2, attempts: 1 } });
    expect(audit.head()).toMatchObject({ writer: 'w', seq: 4, hash: records[3]?.hash });
  });

  test('names the stored approval that answered, and whether it answers more calls than this', async () => {
    const audit = place.recorder('w');
    const asked = { answer: 'allow', by: 'ada', approval: 'a1', always: 'project' } as const;
    await audit.intent(intentRecord('1', {}, { asked }));
    const no = { answer: 'deny', by: 'ada', approval: 'a2' } as const;
    audit.outcome(outcomeRecord('2', {}, { asked: no, outcome: { kind: 'denied', reasons: [] } }));
    await audit.close();
    const [, intent, call] = await place.records('w');
    expect(intent).toMatchObject({ call: { asked } });
    expect(call).toMatchObject({ call: { asked: no } });
  });

  test('tells a call that reads, or did not run, in one record, without waiting', async () => {
    const audit = place.recorder('w');
    await audit.intent(intentRecord('1', {}, { effect: 'read' }));
    expect(readdirSync(join(place.dir, '..'))).toEqual([]);
    audit.outcome(outcomeRecord('1'));
    const reasons = [{ room: 'policy', code: 'deny_rule', text: 'no' }];
    audit.outcome(outcomeRecord('2', {}, { outcome: { kind: 'denied', reasons } }));
    await audit.close();
    const records = await place.records('w');
    expect(types(records)).toEqual(['opened', 'call', 'call', 'closed']);
    expect(records[2]).toMatchObject({ end: { outcome: 'denied', reasons: ['deny_rule'] } });
  });

  test('a call that was cancelled while its intent was on its way is told in order', async () => {
    const audit = place.recorder('w');
    const pending = audit.intent(intentRecord('1'));
    const failure = {
      category: 'transient',
      retryable: false,
      message: 'x',
      executed: 'not_executed',
      attempts: [],
    } as const;
    audit.outcome(outcomeRecord('1', {}, { outcome: { kind: 'cancelled', failure } }));
    await pending;
    await audit.close();
    const records = await place.records('w');
    expect(types(records)).toEqual(['opened', 'intent', 'end', 'closed']);
    expect(records[2]).toMatchObject({ intent: 2, end: { outcome: 'cancelled', executed: 'not_executed' } });
  });

  test('calls with one id in two conversations are two calls', async () => {
    const audit = place.recorder('w');
    await audit.intent(intentRecord('1'));
    audit.outcome(outcomeRecord('1', {}, { conversation: 'c2' }));
    audit.outcome(outcomeRecord('1'));
    await audit.close();
    expect(types(await place.records('w'))).toEqual(['opened', 'intent', 'call', 'end', 'closed']);
  });

  test('writes at the same time share one append', async () => {
    const store = memoryStore();
    const inner = store.log<AuditRecord>('audit', 'w');
    const sizes: number[] = [];
    const log: StoreLog<AuditRecord> = {
      read: (from) => inner.read(from),
      append(records, durable) {
        sizes.push(records.length);
        return inner.append(records, durable);
      },
    };
    const audit = auditRecorder({ log, writer: 'w', key: KEY, by: 'test', host: 'here', pid: 1 });
    await Promise.all(Array.from({ length: 16 }, (_, at) => audit.intent(intentRecord(String(at)))));
    expect(sizes).toEqual([17]);
  });

  test('a write that cannot be recorded is refused with a clear error, and the chain goes on without a gap', async () => {
    writeFileSync(place.dir, 'a file where the folder should be');
    const audit = place.recorder('w');
    audit.outcome(outcomeRecord('0'));
    await expect(audit.intent(intentRecord('1'))).rejects.toMatchObject({
      name: 'BridleError',
      code: 'audit_not_writable',
      message: expect.stringContaining('could not be written'),
      hint: expect.stringContaining('No call that may change something runs'),
    });
    audit.outcome(outcomeRecord('1'));
    rmSync(place.dir);
    await audit.intent(intentRecord('2'));
    audit.outcome(outcomeRecord('2'));
    await audit.close();
    expect(audit.lost()).toBeGreaterThan(0);
    const records = await place.records('w');
    expect(types(records)).toContain('lost');
    const { problems } = await verifyAudit({ logs: place.logs, anchors: place.anchors, key: KEY });
    expect(problems.map(({ code }) => code)).toEqual(['records_lost']);
    await expect(audit.intent(intentRecord('3'))).rejects.toMatchObject({ code: 'audit_not_writable' });
  });

  test('refuses to begin a chain where another has one already', async () => {
    const first = place.recorder('w');
    await first.intent(intentRecord('1'));
    const second = place.recorder('w');
    await expect(second.intent(intentRecord('2'))).rejects.toMatchObject({
      message: expect.stringContaining('"w" has a chain already'),
    });
    await first.close();
  });

  test('takes out what is configured and what is named like a secret, in reasons and answers too', async () => {
    const audit = place.recorder('w', { redact: ['card_number', '/customer/email', '/items/*/price'] });
    const args = {
      cardNumber: '4111-1111',
      customer: { email: 'ada@example.org', name: 'Ada' },
      items: [{ price: 125_000, sku: 'A' }],
      API_KEY: 'sk-abcdef',
      nested: [{ Password: 'hunter22' }],
    };
    const reasons = [{ room: 'policy', code: 'x', text: 'The argument is 4111-1111 for ada@example.org.' }];
    await audit.intent(
      intentRecord('1', args, {
        decision: { effect: 'allow', policyVersion: 'p', reasons, input: args },
        facts: { card_number: '4111-1111', total: 7 },
        asked: { answer: 'allow', by: 'ada', args },
      }),
    );
    audit.outcome(outcomeRecord('2', args, { asked: { answer: 'deny', by: 'ada', reason: 'not hunter22' } }));
    await audit.close();
    for (const secret of ['4111-1111', 'ada@example.org', '125000', 'sk-abcdef', 'hunter22'])
      expect(textOf()).not.toContain(secret);
    expect((await place.records('w'))[1]).toMatchObject({
      call: {
        args: { customer: { name: 'Ada', email: '[redacted]' }, items: [{ sku: 'A', price: '[redacted]' }] },
        facts: { total: 7 },
        decision: { reasons: [{ text: 'The argument is [redacted] for [redacted].' }] },
      },
    });
  });

  test('can leave arguments to their digests; equal arguments have equal ones, whatever the order of members', async () => {
    const audit = place.recorder('w', { arguments: 'digest' });
    audit.outcome(outcomeRecord('1', { a: 'visible?', b: 2 }, { facts: { f: 'visible?' } }));
    audit.outcome(outcomeRecord('2', { b: 2, a: 'visible?' }));
    audit.outcome(outcomeRecord('3', { a: 'other', b: 2 }));
    await audit.close();
    expect(textOf()).not.toContain('visible?');
    const digests = (await place.records('w')).flatMap((record) =>
      record.type === 'call' ? record.call.argsDigest : [],
    );
    expect([digests[0] === digests[1], digests[0] === digests[2]]).toEqual([true, false]);
  });

  test('arguments that are too long are told by their digest', async () => {
    const audit = place.recorder('w');
    audit.outcome(outcomeRecord('1', { text: 'x'.repeat(20_000) }));
    await audit.close();
    const [, call] = await place.records('w');
    expect(call).not.toHaveProperty('call.args');
    expect(call).toHaveProperty('call.argsDigest');
  });

  test('tells lists and searches once for each identity, policy and catalog', async () => {
    const audit = place.recorder('w');
    const list = { who: { agent: 'a', via: 'gateway' as const }, policyVersion: 'p', catalogVersion: 'c', tools: 3 };
    audit.listed({ kind: 'list', ...list });
    audit.listed({ kind: 'list', ...list, tools: 3 });
    audit.listed({ kind: 'search', ...list });
    audit.listed({ kind: 'list', ...list, policyVersion: 'p2' });
    audit.listed({ kind: 'list', ...list, who: { ...list.who, user: 'ada' } });
    await audit.close();
    expect(types(await place.records('w'))).toEqual(['opened', 'list', 'search', 'list', 'list', 'closed']);
  });

  test('tells the tool uses that the provider ran itself', async () => {
    const audit = place.recorder('w');
    audit.replied(
      { agent: 'a', via: 'library' },
      {
        content: [
          { type: 'text', text: 'x' },
          { type: 'tool_use', id: 't', name: 'ours', input: {} },
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'secret plans' } },
          { type: 'mcp_tool_use', id: 's2', name: 'get', server_name: 'shop', input: {} },
        ],
      },
    );
    audit.replied({ agent: 'a', via: 'library' }, 'nothing of the kind');
    await audit.close();
    expect(textOf()).not.toContain('secret plans');
    expect((await place.records('w')).slice(1, 3)).toMatchObject([
      { type: 'provider', id: 's1', name: 'web_search', who: { agent: 'a' } },
      { type: 'provider', id: 's2', name: 'get', server: 'shop' },
    ]);
  });

  test('who records nothing leaves nothing', async () => {
    await place.recorder('w').close();
    expect(await place.logs.writers()).toEqual([]);
  });

  test('names of writers sort by time and differ', () => {
    const at = new Date('2026-11-30T14:23:01.507Z');
    expect(auditWriter(at)).toMatch(/^20261130-142301-507-[0-9a-f]{8}$/);
    expect(auditWriter(at)).not.toBe(auditWriter(at));
  });
});
