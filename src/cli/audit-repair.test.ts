import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { intentRecord } from '../../test/helpers/audit-place.ts';
import { auditRecorder, pruneAudit } from '../policy/index.ts';
import { openLogFolder } from '../store/index.ts';
import type { CommandIo } from './command.ts';
import { main } from './main.ts';
import { auditAnchors, auditKey, auditLogs } from './open-audit.ts';

/** Above the largest id that a process can have. */
const NOBODY = 2 ** 30;
const TORN = '{"v":1,"wr';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'bridle-audit-repair-'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const at = () => ({ env: { XDG_STATE_HOME: state } });
const folder = () => join(state, 'bridle', 'audit');
const file = (first = 1) => join(folder(), `w.${String(first).padStart(12, '0')}.jsonl`);

async function bridle(...args: string[]) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io = { cwd: '/', ...at(), stdin: new PassThrough(), stdout, stderr };
  const status = await main(['audit', ...args], io as unknown as CommandIo);
  return { status, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

/** The chain of a process that was killed, or still runs: `calls` intents of equal length in files of that many bytes. */
async function begun(pid: number, { calls = 1, segmentBytes = 1_000_000, host = hostname() } = {}): Promise<void> {
  const logs = openLogFolder<never>({ dir: folder(), versions: { v: 1 }, segmentBytes });
  const place = { log: logs.log('w'), writer: 'w', key: await auditKey(at()), by: 'test', host, pid };
  const audit = auditRecorder({ ...place, now: () => Date.parse('2026-01-15T12:00:00Z') });
  for (let call = 0; call < calls; call += 1) await audit.intent(intentRecord(`a${call}`));
  await logs.close();
}

/** Adds half a record, and tells what is there then. */
function tear(first = 1): string {
  appendFileSync(file(first), TORN);
  return readFileSync(file(first), 'utf8');
}

test.each([
  ['still runs', process.pid, hostname(), 'w: its process still runs'],
  ['is on another machine', NOBODY, 'elsewhere', 'w: it was begun on the machine "elsewhere"'],
])('a chain whose process %s is left as it is', async (_, pid, host, said) => {
  await begun(pid, { host });
  const torn = tear();
  expect((await bridle('verify', '--repair')).stdout).toContain(said);
  expect(readFileSync(file(), 'utf8')).toBe(torn);
});

test('a chain whose first record can not be read is left as it is, and the others are looked at', async () => {
  await begun(process.pid);
  const whole = readFileSync(file(), 'utf8').split('\n');
  for (const first of [
    'not a record',
    '{"v":2}',
    '{"v":1,"type":"opened","host":"x"}',
    '{"v":1,"type":"opened","pid":0}',
  ]) {
    writeFileSync(file(), `${[first, ...whole.slice(1)].join('\n')}${TORN}`);
    const torn = readFileSync(file(), 'utf8');
    const { status, stdout } = await bridle('verify', '--repair');
    expect(stdout).toContain("w: the record of the process that began it can't be read");
    expect([status, stdout.includes('The audit does not hold')]).toEqual([1, true]);
    expect(readFileSync(file(), 'utf8')).toBe(torn);
  }
});

test('a chain that has not even its first record is left as it is', async () => {
  mkdirSync(folder(), { recursive: true });
  const torn = tear();
  expect((await bridle('verify', '--repair')).stdout).toContain('left as it is');
  expect(readFileSync(file(), 'utf8')).toBe(torn);
});

test('a chain whose first file was pruned is cut only once its process is gone', async () => {
  for (const [pid, isCut] of [
    [process.pid, false],
    [NOBODY, true],
  ] as const) {
    await begun(pid, { calls: 6, segmentBytes: 1_500 });
    const anchors = auditAnchors(at());
    const logs = auditLogs(at());
    const [first] = await logs.segments('w');
    const newest = (await logs.segments('w')).at(-1)?.first ?? 0;
    const options = { logs, anchors, writer: `p${pid}`, key: await auditKey(at()), before: Date.now() };
    // As if it still ran: its newest file stays.
    const { pruned } = await pruneAudit({ ...options, isRunning: () => true });
    expect(pruned[0]?.upTo).toBeGreaterThanOrEqual(first?.last ?? 0);
    const torn = tear(newest);
    expect((await bridle('verify', '--repair')).stdout).toContain(isCut ? '10 bytes cut off' : 'still runs');
    expect(readFileSync(file(newest), 'utf8')).toBe(isCut ? torn.slice(0, -TORN.length) : torn);
    // What its process was is known from the anchor, so nothing of it has to stay for ever.
    if (isCut) expect((await pruneAudit({ ...options, isRunning: () => false })).pruned).toHaveLength(1);
    await anchors.close();
    rmSync(folder(), { recursive: true });
  }
});

test('with --json what was cut is told beside the answer', async () => {
  await begun(NOBODY);
  tear();
  const { stdout, stderr } = await bridle('verify', '--repair', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  expect(stderr).toBe('w: 10 bytes cut off\n');
});

test('heads of a chain whose last record can not be read are of the last one that can, and it is said', async () => {
  await begun(NOBODY, { calls: 3 });
  const good = JSON.parse((await bridle('heads', '--json')).stdout).heads;
  expect(good).toMatchObject([{ writer: 'w', seq: 4 }]);
  const whole = readFileSync(file(), 'utf8');
  for (const last of ['not a record', '{"v":2}', '{"v":1}', whole.split('\n')[1] ?? '']) {
    writeFileSync(file(), `${whole}${last}\n`);
    const { status, stdout, stderr } = await bridle('heads', '--json');
    expect([status, JSON.parse(stdout).heads]).toEqual([1, good]);
    expect(stderr).toContain('w: its head is of record 4. Record 5');
  }
  writeFileSync(file(), 'not a record\n');
  expect(await bridle('heads')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('w: it has no head'),
  });
});

test('export goes on past a chain that can not be read, and says so', async () => {
  await begun(NOBODY);
  writeFileSync(join(folder(), 'a.000000000001.jsonl'), 'not a record\n');
  const { status, stdout, stderr } = await bridle('export');
  expect([status, stdout.trimEnd().split('\n')]).toEqual([1, readFileSync(file(), 'utf8').trimEnd().split('\n')]);
  expect(stderr).toContain('a: not wholly exported');
});

test('anchors that can not be read are a problem, and nothing is pruned beside them', async () => {
  await begun(NOBODY);
  mkdirSync(join(folder(), 'anchors'));
  writeFileSync(join(folder(), 'anchors', 'p.000000000001.jsonl'), 'not a record\n');
  const { status, stdout } = await bridle('verify', '--json');
  expect([status, JSON.parse(stdout).problems]).toMatchObject([1, [{ code: 'anchor_unreadable', writer: 'p' }]]);
  expect(await bridle('prune', '--before', '1d')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('store_corrupt'),
  });
  expect(readFileSync(file(), 'utf8')).not.toBe('');
});
