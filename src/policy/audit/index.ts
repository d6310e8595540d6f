/**
 * Rule of this folder: what was decided and done is written down as a chain that shows every later change, before what
 * changes the world happens. Nothing here knows where records are kept: it is given a log.
 */
export type { AuditAnchor } from './anchor.ts';
export { type AnchorLogs, type AuditLogs, anchorsOf } from './audit-logs.ts';
export type { AuditEntry, AuditedCall, AuditedEnd, AuditedQuestion, AuditHead, AuditRecord } from './audit-record.ts';
export {
  type AuditRecorder,
  type AuditRecorderOptions,
  auditRecorder,
  auditWriter,
} from './audit-recorder.ts';
export { type AuditHeads, auditHeads, readHeads } from './heads.ts';
export { providerUses } from './provider-uses.ts';
export { type Pruned, type PruneReport, pruneAudit } from './prune-audit.ts';
export { type AuditFilter, type AuditRow, readAudit } from './read-audit.ts';
export { type AuditProblem, type AuditVerification, type VerifiedWriter, verifyAudit } from './verify-audit.ts';
export { type AuditOpener, type WriterState, writerState } from './writer-state.ts';
