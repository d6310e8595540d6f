import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallOutcomeRecord, IntentRecord, Json, Outcome } from '../../src/contracts/index.ts';
import type { AuditAnchor } from '../../src/policy/audit/anchor.ts';
import type { AuditRecord } from '../../src/policy/audit/audit-record.ts';
import { type AuditRecorderOptions, auditRecorder } from '../../src/policy/audit/audit-recorder.ts';
import { openLogFolder } from '../../src/store/index.ts';
import { rawJson } from '../../src/tools/index.ts';

export const KEY = Buffer.alloc(32, 7);

/** Folders for one test, with a recorder for each name. */
export function auditPlace(segmentBytes?: number) {
  const dir = mkdtempSync(join(tmpdir(), 'bridle-audit-'));
  const logs = openLogFolder<AuditRecord>({
    dir: join(dir, 'audit'),
    versions: { v: 1 },
    ...(segmentBytes !== undefined && { segmentBytes }),
  });
  const anchors = openLogFolder<AuditAnchor>({ dir: join(dir, 'audit', 'anchors') });
  return {
    dir: join(dir, 'audit'),
    logs,
    anchors,
    recorder: (writer: string, options: Partial<AuditRecorderOptions> = {}) =>
      auditRecorder({ log: logs.log(writer), writer, key: KEY, by: 'test', host: 'here', pid: 1, ...options }),
    async records(writer: string): Promise<AuditRecord[]> {
      const found: AuditRecord[] = [];
      for await (const { record } of logs.log(writer).read(1)) found.push(record);
      return found;
    },
    async remove() {
      await logs.close();
      await anchors.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const common = (callId: string, args: Json) => ({
  callId,
  conversation: 'c1',
  who: { agent: 'main', via: 'terminal' } as const,
  args,
  decision: {
    effect: 'allow' as const,
    policyVersion: 'p1',
    reasons: [
      { room: 'policy', code: 'allow_rule', text: 'A rule allows it.', source: { file: 'bridle.json', line: 3 } },
    ],
  },
});
const REF = { server: null, tool: 'refund', name: 'refund', fingerprint: 'f1' };
export const OK: Outcome = { kind: 'ok', raw: rawJson('{"content":[]}'), isError: false };

export function intentRecord(callId: string, args: Json = {}, more: Partial<IntentRecord> = {}): IntentRecord {
  return { ...common(callId, args), ref: REF, effect: 'write', argsDigest: '', ...more };
}

export function outcomeRecord(
  callId: string,
  args: Json = {},
  more: Partial<CallOutcomeRecord> = {},
): CallOutcomeRecord {
  return { ...common(callId, args), ref: REF, name: 'refund', startedAt: 5, ms: 2, attempts: 1, outcome: OK, ...more };
}
