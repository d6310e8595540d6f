import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { intentRecord, outcomeRecord } from '../../test/helpers/audit-place.ts';
import type { IntentRecord } from '../contracts/index.ts';
import { auditRecorder } from '../policy/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo } from './command.ts';
import { main } from './main.ts';
import { auditKey, auditLogs } from './open-audit.ts';

/** Above the largest id that a process can have. */
const NOBODY = 2 ** 30;

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'bridle-audit-command-'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const at = () => ({ env: { XDG_STATE_HOME: state } });
const folder = () => join(state, 'bridle', 'audit');
const file = (writer: string) => join(folder(), `${writer}.000000000001.jsonl`);

async function bridle(...args: string[]) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io = { cwd: '/', ...at(), stdin: new PassThrough(), stdout, stderr };
  const status = await main(['audit', ...args], io as unknown as CommandIo);
  return { status, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

/** A writer with a write that ran, one that has no end, and a call that was denied. */
async function written(writer: string, more: Partial<IntentRecord> = {}): Promise<void> {
  const logs = auditLogs(at());
  const audit = auditRecorder({
    ...{ log: logs.log(writer), writer, key: await auditKey(at()), by: 'test', host: hostname(), pid: NOBODY },
    now: () => Date.parse('2026-01-15T12:00:00Z'),
  });
  await audit.intent(intentRecord('a1', { amount: 5, password: 'hunter22' }, more));
  audit.outcome(outcomeRecord('a1'));
  await audit.intent(intentRecord('a2'));
  const reasons = [{ room: 'policy', code: 'deny_rule', text: 'no' }];
  audit.outcome(
    outcomeRecord('a3', {}, { who: { agent: 'other', via: 'gateway' }, outcome: { kind: 'denied', reasons } }),
  );
  await audit.close();
  await logs.close();
}

test('list shows the calls, and filters them', async () => {
  await written('w1');
  const all = await bridle('list');
  expect(
    all.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ')[1]),
  ).toEqual(['ok', 'unknown', 'denied']);
  expect((await bridle('list', '--outcome', 'denied')).stdout).toContain('other  refund');
  expect((await bridle('list', '--agent', 'main', '--tool', 'ref*', '--limit', '1')).stdout).toContain('unknown');
  expect((await bridle('list', '--since', '2026-02-01')).stdout).toBe('No calls in the audit match.\n');
  expect(JSON.parse((await bridle('list', '--json')).stdout)).toHaveLength(3);
  expect(await bridle('list', '--since', 'soon')).toMatchObject({ status: 2, stderr: expect.stringContaining('90d') });
});

test('list gives what can be read of a part, and ends with status 1, as nobody may take it for all', async () => {
  await written('w1');
  await written('w2');
  appendFileSync(file('w1'), '{"v":1,\n');
  const { status, stdout, stderr } = await bridle('list', '--json');
  expect([status, JSON.parse(stdout)]).toEqual([1, expect.objectContaining({ length: 6 })]);
  expect(stderr).toContain('w1: not wholly read');
});

test('show tells that a call was given the end of an earlier one', async () => {
  const logs = auditLogs(at());
  const place = {
    log: logs.log('w1'),
    writer: 'w1',
    key: await auditKey(at()),
    by: 'test',
    host: hostname(),
    pid: NOBODY,
  };
  const audit = auditRecorder(place);
  audit.outcome(
    outcomeRecord('a2', {}, { attempts: 0, answeredBy: { callId: 'a1', at: Date.parse('2026-01-15T12:00:00Z') } }),
  );
  await audit.close();
  await logs.close();
  const { stdout } = await bridle('show', 'a2');
  expect(stdout).toContain('by call a1 of 2026-01-15 12:00:00, not run again');
  const [row] = JSON.parse((await bridle('show', 'a2', '--json')).stdout);
  expect(row.end.answeredBy).toEqual({ callId: 'a1', at: Date.parse('2026-01-15T12:00:00Z') });
});

test('show tells everything of a call, and no secret', async () => {
  await written('w1', {
    proposed: { amount: 900 },
    asked: { answer: 'allow', by: 'ada', approval: 'p7' },
    labels: ['untrusted-content'],
  });
  const { stdout } = await bridle('show', 'a1');
  for (const text of [
    'main via terminal',
    'bridle.json:3',
    'allowed by ada (approval p7)',
    'untrusted-content',
    '"amount":5',
    '"amount":900',
    'p1',
  ])
    expect(stdout).toContain(text);
  expect(stdout).not.toContain('hunter22');
  expect((await bridle('show', 'w1:2')).stdout).toBe(stdout);
  expect(await bridle('show', 'nobody')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('audit_not_found'),
  });
  expect((await bridle('show')).status).toBe(2);
  expect((await bridle('export')).stdout).not.toContain('hunter22');
});

test('verify holds, until something is changed or cut off', async () => {
  await written('w1');
  const heads = join(state, 'heads.json');
  writeFileSync(heads, (await bridle('heads', '--json')).stdout);
  expect(await bridle('verify', '--heads', heads)).toMatchObject({
    status: 0,
    stdout: 'The audit holds: 6 records of 1 writer.\n',
  });
  const whole = readFileSync(file('w1'), 'utf8');
  writeFileSync(file('w1'), whole.split('\n').slice(0, 3).join('\n').concat('\n'));
  expect((await bridle('verify')).status).toBe(0);
  expect(await bridle('verify', '--heads', heads)).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('problem:'),
  });
  writeFileSync(file('w1'), whole.replace('"main"', '"mine"'));
  const changed = await bridle('verify', '--json');
  expect([changed.status, JSON.parse(changed.stdout).problems[0].code]).toEqual([1, 'chain_broken']);
  expect(await bridle('verify', '--heads', join(state, 'none'))).toMatchObject({
    stderr: expect.stringContaining('audit_heads_unreadable'),
  });
});

test('show ends with status 1 where another part cannot be read, as list does, and still shows what it found', async () => {
  await written('w1');
  await written('w2');
  appendFileSync(file('w2'), '{"v":1,"seq":"seven"}\n');
  const shown = await bridle('show', 'a1');
  expect(shown).toMatchObject({ status: 1, stderr: expect.stringContaining('w2: not wholly read') });
  expect(shown.stdout).toContain('"amount":5');
});

test('verify checks a copy without its key as far as it can be, says so, and writes nothing', async () => {
  await written('w1');
  rmSync(join(state, 'bridle', 'installation.key'));
  const before = readdirSync(state, { recursive: true });
  const held = await bridle('verify');
  expect(held).toMatchObject({ status: 0, stdout: expect.stringContaining('The audit holds: 6 records') });
  expect(held.stdout).toContain('installation.key');
  expect(JSON.parse((await bridle('verify', '--json')).stdout)).toMatchObject({ ok: true, withoutKey: true });
  expect(readdirSync(state, { recursive: true })).toEqual(before);
  writeFileSync(file('w1'), readFileSync(file('w1'), 'utf8').replace('"main"', '"mine"'));
  expect((await bridle('verify')).status).toBe(1);
});

test('records that were pruned are not vouched for without the key, unless heads are', async () => {
  await written('w1');
  const heads = join(state, 'heads.json');
  writeFileSync(heads, (await bridle('heads', '--json')).stdout);
  await bridle('prune', '--before', '2026-02-01');
  rmSync(join(state, 'bridle', 'installation.key'));
  const found = await bridle('verify', '--json');
  expect([found.status, JSON.parse(found.stdout).problems[0].code]).toEqual([1, 'anchor_not_checked']);
  expect((await bridle('verify', '--heads', heads)).status).toBe(0);
});

test('verify --repair cuts off what a killed writer left, and says so', async () => {
  await written('w1');
  const whole = readFileSync(file('w1'), 'utf8').split('\n').slice(0, 3).join('\n').concat('\n');
  writeFileSync(file('w1'), `${whole}{"v":1,"wr`);
  expect((await bridle('verify')).stdout).toContain('w1: 10 bytes behind the last whole record');
  expect((await bridle('verify', '--repair')).stdout).toContain('w1: 10 bytes cut off');
  expect(readFileSync(file('w1'), 'utf8')).toBe(whole);
});

test('prune removes what is old, and the audit still holds', async () => {
  await written('w1');
  expect((await bridle('prune', '--before', '2026-02-01', '--dry-run')).stdout).toBe(
    '6 records of 1 writer would be removed.\n',
  );
  expect((await bridle('prune', '--before', '2026-01-01')).stdout).toContain('0 records');
  expect((await bridle('prune', '--before', '2026-02-01')).stdout).toContain('6 records of 1 writer removed');
  expect(readdirSync(folder())).toEqual(['anchors']);
  expect((await bridle('verify')).stdout).toContain('and 6 that were pruned');
  expect((await bridle('prune')).status).toBe(2);
});

test('nothing in an audit drives the terminal, and what lacks its shape is passed over', async () => {
  const evil = '\u001b]0;x\u0007\u009b31m\u202e';
  await written('w1', {
    who: { agent: evil, via: 'library' },
    args: { [evil]: evil },
    labels: [evil],
    decision: { effect: 'allow', policyVersion: evil, reasons: [{ room: evil, code: evil, text: evil }] },
  });
  appendFileSync(
    file('w1'),
    `{"v":1,"at":1e300,"type":"call"}\n{"v":1,"at":1,"type":"intent","call":{"who":{}}}\n{"v":1,"type":"${evil.replaceAll('\u001b', '\\u001b').replaceAll('\u0007', '\\u0007')}"}\n`,
  );
  for (const args of [
    ['list'],
    ['list', '--json'],
    ['show', 'a1'],
    ['show', 'a1', '--json'],
    ['export'],
    ['verify'],
    ['heads'],
  ]) {
    const { stdout, stderr } = await bridle(...args);
    for (const text of [stdout, stderr]) expect(printable(text, { newlines: true })).toBe(text);
  }
  expect((await bridle('list')).stderr).toContain('record 7 is none of an audit');
});
