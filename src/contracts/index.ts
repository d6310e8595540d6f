/**
 * Rule of this folder: types only. Nothing here imports from another folder, and nothing here runs.
 *
 * Every other folder meets its neighbours through these types, so a change here is made together with everything that
 * stands on it, and its reason is written down in `docs/decisions/`.
 */
export type {
  CallContext,
  Dispatcher,
  Executed,
  Failure,
  InputKind,
  InputOrigin,
  Outcome,
  SourceResult,
  StartedRun,
  TraceContext,
  VisitNotes,
} from './call.ts';
export type {
  CompletionRef,
  CompletionResult,
  ContentHost,
  ContentItem,
  ContentListing,
  ContentSource,
  PromptArgument,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplate,
} from './content.ts';
export type { Identity, ServerRef } from './identity.ts';
export type { Json, JsonObject, RawJson } from './json.ts';
export type { IdempotencyLedger, LedgerClaim, LedgerEnd, LedgerKey, LedgerMemory, LedgerSettlement } from './ledger.ts';
export type { CallOrigin, LoopEffect, LoopEvent, Model, ModelReply, RunBegun, RunResumed, Step } from './loop.ts';
export type { Origin, Provenance } from './origin.ts';
export type { Asker, AskQuestion, AskReply, Decision, Grant, Policy, PolicyCall } from './policy.ts';
export type {
  BehindRecord,
  CallOutcomeRecord,
  CallRecord,
  DeclarationRecord,
  HookRecord,
  IntentRecord,
  ListRecord,
  ParentCall,
  QuestionRecord,
  Recorder,
  RunFollower,
  RunRecord,
  TraceEvent,
} from './record.ts';
export type { ListPages, Serve, ServeAt, ServeHandle, ServeHttp, ServeLimits, ServerInfo, ToolHost } from './serve.ts';
export type { Catalog, Connection, ConnectionEra, ConnectionStatus, Found, Source, ToolListing } from './source.ts';
export type { RecordVersions, Store, StoreLog, StoreTable } from './store.ts';
export type {
  Effect,
  ModelHints,
  NarrowedArguments,
  NarrowedResult,
  Narrowing,
  PreviewPlan,
  Reason,
  ToolDefinition,
  ToolExecution,
  ToolRef,
  WireName,
} from './tool.ts';
