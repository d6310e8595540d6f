import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Agent, RunEvent } from '../agent/index.ts';
import type { Identity, Recorder } from '../contracts/index.ts';
import { nullRecorder } from '../dispatch/index.ts';
import { type AuditAnchor, type AuditRecord, auditRecorder, auditWriter } from '../policy/index.ts';
import { installationKey, type LogFolder, openLogFolder, stateDir } from '../store/index.ts';
import type { CommandIo } from './command.ts';
import { styleFor } from './style.ts';
import type { Workspace } from './workspace.ts';

/** The audit of one process, as a command uses it. */
export interface OpenAudit {
  readonly recorder: Recorder;
  /** Sees what the provider ran itself. */
  onProgress(event: RunEvent): void;
  /** Tells which tools the agent was shown. */
  listed(agent: Pick<Agent, 'tools' | 'catalog'>): void;
  /** Brings everything to disk, and says what could not be. */
  close(): Promise<void>;
}

/** Begins the chain of this process, unless the person turned the audit off. Writes nothing before there is something. */
export async function openAudit(
  { project, compiled }: Pick<Workspace, 'project' | 'compiled'>,
  io: CommandIo,
  who: Identity,
): Promise<OpenAudit> {
  const { enabled, redact, arguments: kept } = project.audit;
  if (!enabled) return { recorder: nullRecorder(), onProgress() {}, listed() {}, async close() {} };
  const logs = auditLogs(io);
  const writer = auditWriter();
  const audit = auditRecorder({
    log: logs.log(writer),
    writer,
    key: await auditKey(io),
    by: 'bridle',
    host: hostname(),
    pid: process.pid,
    redact,
    arguments: kept,
  });
  return {
    recorder: audit,
    onProgress(event) {
      if (event.type === 'message') audit.replied(who, event.message);
    },
    listed(agent) {
      const { version: policyVersion } = compiled;
      const { version: catalogVersion } = agent.catalog;
      audit.listed('list', { who, policyVersion, catalogVersion, tools: agent.tools().length });
    },
    async close() {
      await audit.close();
      await logs.close().catch(() => {});
      if (audit.lost() === 0) return;
      const style = styleFor(io.stderr, io.env);
      io.stderr.write(style.yellow(`${audit.lost()} records of the audit could not be written\n`));
    },
  };
}

function auditDir(io: Pick<CommandIo, 'env'>): string {
  return join(stateDir(io.env), 'audit');
}

/** Where the chains of all runs are: `audit` in the state folder. */
export function auditLogs(io: Pick<CommandIo, 'env'>): LogFolder<AuditRecord> {
  return openLogFolder<AuditRecord>({ dir: auditDir(io), versions: { v: 1 } });
}

export function auditAnchors(io: Pick<CommandIo, 'env'>): LogFolder<AuditAnchor> {
  return openLogFolder<AuditAnchor>({ dir: join(auditDir(io), 'anchors'), versions: { v: 1 } });
}

export function auditKey(io: Pick<CommandIo, 'env'>): Promise<Uint8Array> {
  return installationKey(join(stateDir(io.env), 'installation.key'));
}
