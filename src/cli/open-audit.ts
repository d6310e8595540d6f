import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Agent } from '../agent/index.ts';
import { listRecord } from '../catalog/index.ts';
import type { Identity, Policy, Recorder, RunFollower } from '../contracts/index.ts';
import { nullRecorder } from '../dispatch/index.ts';
import { type AuditAnchor, type AuditRecord, auditRecorder, auditWriter } from '../policy/index.ts';
import { installationKey, keyIfThere, type LogFolder, openLogFolder, stateDir } from '../store/index.ts';
import type { CommandIo } from './command.ts';
import { styleFor } from './style.ts';
import type { Workspace } from './workspace.ts';

/** The audit of one process, as a command uses it. */
export interface OpenAudit {
  readonly recorder: Recorder;
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
  if (!enabled) return { recorder: nullRecorder(), follow() {}, async close() {} };
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
    const list = listRecord({ catalog, policy }, who, tools());
    audit.listed({ ...list, policyVersion: list.policyVersion || version() });
  };
  return {
    recorder: {
      intent: audit.intent,
      outcome: audit.outcome,
      question: audit.question,
      declared: audit.declared,
      // What the agent itself is shown is told below, with the version of rules that no tool tells.
      listed(list) {
        if (list.kind === 'list' && list.who.agent === who.agent) return;
        audit.listed({ ...list, policyVersion: list.policyVersion || (shown?.version() ?? '') });
      },
      // What is shown is told from here, also when a person adds rules in the middle of a run.
      run(run) {
        tell();
        const replies = audit.run(run);
        const event: RunFollower['event'] = (each) => {
          replies.event(each);
          if (each.type === 'outcome') tell();
        };
        return { event, end: tell };
      },
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
  return installationKey(keyFile(io));
}

/** For what only reads: a copy of an audit may have no key, and is not to be given one. */
export function auditKeyIfThere(io: Pick<CommandIo, 'env'>): Promise<Uint8Array | undefined> {
  return keyIfThere(keyFile(io));
}

function keyFile({ env }: Pick<CommandIo, 'env'>): string {
  return join(stateDir(env), 'installation.key');
}
