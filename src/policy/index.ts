/**
 * Rule of this folder: one compiled rule set answers both questions, who may see a tool and whether a call may run, so
 * that whatever the view denies the decision denies. Nothing here asks anybody, and nothing here runs a tool.
 */

export { allowAll } from './allow-all.ts';
export {
  type AlwaysOptions,
  type AlwaysRecord,
  type ApprovalAskerOptions,
  type ApprovalDecision,
  type ApprovalRecord,
  type ApprovalState,
  type Approvals,
  type ApprovalsOptions,
  type ApproveOptions,
  type Approver,
  approvals,
  type Binding,
} from './approvals/index.ts';
export {
  type AnchorLogs,
  type AuditAnchor,
  type AuditEntry,
  type AuditedCall,
  type AuditedEnd,
  type AuditFilter,
  type AuditHead,
  type AuditHeads,
  type AuditLogs,
  type AuditOpener,
  type AuditProblem,
  type AuditRecord,
  type AuditRecorder,
  type AuditRecorderOptions,
  type AuditRow,
  type AuditVerification,
  anchorsOf,
  auditHeads,
  auditRecorder,
  auditWriter,
  pruneAudit,
  readAudit,
  readHeads,
  verifyAudit,
  type WriterState,
  writerState,
} from './audit/index.ts';
export { type CompiledPolicy, type CompileOptions, compilePolicy } from './compile-policy.ts';
export {
  createHookSet,
  GATES,
  HOOK_EVENTS,
  type Hook,
  type HookAnswer,
  type HookEvent,
  type HookInput,
  type HookRan,
  type HookSet,
  type HookSetOptions,
  type HookVerdict,
  namesOf,
  readHookOutput,
  withHooks,
} from './hooks/index.ts';
export type { ConditionalRule, Permissions, PolicyLayer, RuleEntry, RuleKind } from './layer.ts';
export { MODES, type Mode } from './mode.ts';
export { restrict, restrictionProblems, restrictionUnused } from './restrict.ts';
export { ruleFor } from './rule-set.ts';
export {
  definitionDiff,
  type LockDifference,
  type LockedDefinition,
  type LockedServer,
  lockDifferences,
  type PinLock,
  type PinNews,
  type PinnedDefinition,
  type PinRecord,
  type Pins,
  type PinsOptions,
  pinLock,
  pins,
  readPinLock,
  type ServerToLock,
  withPins,
} from './pins/index.ts';
export {
  type ApplyOptions,
  type ArgumentOptions,
  applyView,
  createViewSet,
  type ForCaller,
  parseView,
  reviewOf,
  type View,
  type ViewOptions,
  type ViewPins,
  type ViewSet,
  type ViewSetOptions,
  view,
  viewReason,
  viewSummary,
  withViews,
} from './views/index.ts';
