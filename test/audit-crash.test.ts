import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuditAnchor, type AuditRecord, readAudit, verifyAudit } from '../src/policy/index.ts';
import { openLogFolder } from '../src/store/index.ts';
import { compiled } from './helpers/compiled.ts';

/** Records calls as fast as it can, and says each time when the intent of one is acknowledged. */
const PROGRAM = `
import { auditRecorder } from './policy/index.js';
import { openLogFolder } from './store/index.js';
const [dir] = process.argv.slice(2);
const logs = openLogFolder({ dir });
const audit = auditRecorder({ log: logs.log('w'), writer: 'w', key: Buffer.alloc(32), by: 'test', host: 'here', pid: process.pid });
const ref = { server: null, tool: 't', name: 't', fingerprint: 'f' };
const who = { agent: 'main', via: 'library' };
const decision = { effect: 'allow', reasons: [], policyVersion: 'p' };
const work = async (lane) => {
  for (let n = 0; ; n += 1) {
    const callId = lane + '-' + n;
    const call = { callId, conversation: 'c', who, ref, args: { n }, argsDigest: '', decision };
    await audit.intent({ ...call, effect: 'write' });
    process.stdout.write(callId + '\\n');
    audit.outcome({ ...call, name: 't', startedAt: 0, ms: 0, attempts: 1, outcome: { kind: 'ok', raw: { text: '{}' }, isError: false } });
  }
};
for (let lane = 0; lane < 8; lane += 1) void work(lane);
`;

let dist: string;
let dir: string;
beforeAll(async () => {
  dist = await compiled(['contracts', 'tools', 'store', 'policy', 'policy/audit', 'policy/approvals']);
  dir = await mkdtemp(join(tmpdir(), 'bridle-audit-crash-'));
  await writeFile(join(dist, 'record.js'), PROGRAM);
});
afterAll(async () => {
  await rm(dirname(dist), { recursive: true, force: true });
  await rm(dir, { recursive: true, force: true });
});

/** Runs the program, kills it after so many acknowledgements, and gives what it acknowledged. */
function killedAfter(count: number, folder: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [join(dist, 'record.js'), folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.split('\n').length > count) child.kill('SIGKILL');
  });
  return new Promise((resolve) => child.once('close', () => resolve(said.split('\n').slice(0, -1))));
}

test('after kill -9 the chain holds up to its last whole record, and nothing that was acknowledged is lost', async () => {
  for (const count of [1, 40, 200]) {
    const folder = join(dir, String(count));
    const acknowledged = await killedAfter(count, folder);
    expect(acknowledged.length).toBeGreaterThanOrEqual(count);
    const logs = openLogFolder<AuditRecord>({ dir: folder });
    const anchors = openLogFolder<AuditAnchor>({ dir: join(folder, 'anchors') });
    const verify = () => verifyAudit({ logs, anchors, key: Buffer.alloc(32) });
    expect(await verify()).toMatchObject({ ok: true, writers: [{ closed: false }] });
    const recorded = new Set<string>();
    for await (const { call } of readAudit(logs)) recorded.add(call.id);
    expect(acknowledged.filter((id) => !recorded.has(id))).toEqual([]);

    // A tail that a power cut tore is told, cut off when asked, and costs no whole record.
    appendFileSync(join(folder, 'w.000000000001.jsonl'), '{"v":1,"writer":"w","se');
    const torn = await verify();
    expect(torn.ok).toBe(true);
    expect(torn.writers[0]?.torn).toBeGreaterThanOrEqual(23);
    await logs.cutTorn('w');
    expect(await verify()).toMatchObject({ ok: true, writers: [{ torn: 0, records: torn.writers[0]?.records }] });
  }
});
