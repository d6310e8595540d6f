import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Agent, RunEvent } from '../agent/index.ts';
import type { Identity, Policy, Recorder, RunFollower } from '../contracts/index.ts';
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
  /** Tells which tools the agent is shown: now, and in its runs whenever its tools or its rules have changed. */
  follow(shown: Shown): void;
  /** Brings everything to disk, and says what could not be. */
  close(): Promise<void>;
}

/** Where it is seen what an agent is shown. */
interface Shown {
  /** The agent of now: another model makes another one. */
  agent(): Pick<Agent, 'tools' | 'catalog'>;
  readonly policy: Policy;
  /** Another text once the rules are others. */
  version(): string;
}

/** Begins the chain of this process, unless the person turned the audit off. Writes nothing before there is something. */
export async function openAudit(
  { project }: Pick<Workspace, 'project'>,
  io: CommandIo,
  who: Identity,
): Promise<OpenAudit> {
  const { enabled, redact, arguments: kept } = project.audit;
  if (!enabled) return { recorder: nullRecorder(), onProgress() {}, follow() {}, async close() {} };
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
  let shown: Shown | undefined;
  let told: string | undefined;
  const tell = () => {
    if (!shown) return;
    const { policy, version } = shown;
    const { catalog, tools } = shown.agent();
    const now = JSON.stringify([catalog.version, version()]);
    if (now === told) return;
    told = now;
    const list = tools();
    // Rules that a person adds may hold for some tools only: each version that a decision could name.
    const versions = [...new Set(list.map((tool) => policy.view(who, tool).policyVersion))].sort();
    const policyVersion = versions.join(' ') || version();
    audit.listed('list', { who, policyVersion, catalogVersion: catalog.version, tools: list.length });
  };
  return {
    recorder: {
      ...audit,
      run() {
        tell();
        const event: RunFollower['event'] = ({ type }) => {
          if (type === 'outcome') tell();
        };
        return { event, end: tell };
      },
    },
    onProgress(event) {
      if (event.type === 'message') audit.replied(who, event.message);
    },
    follow(given) {
      shown = given;
      tell();
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
