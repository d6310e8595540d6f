/**
 * Rule of this folder: the loop is a fold. A run's events alone say what comes next, its transcript can't be invalid,
 * its stop reasons alone say when it is over, and every way to end has a name.
 */
export type {
  Agent,
  AgentOptions,
  Conversation,
  RunJournal,
  RunOptions,
} from './agent-options.ts';
export type { AnswerCheck, AnswerIssue, CheckFindings } from './answer-check.ts';
export type { AnswerTools } from './answer-tools.ts';
export type { ToolChoice, ToolChoicePlan, TurnToolChoice } from './choice-plan.ts';
export type { ParallelWish } from './parallel-wish.ts';
export { ASK_USER } from './ask-user.ts';
export type { Container } from './container.ts';
export type { ClearResultsOptions, CompactOptions, ContextOptions } from './context.ts';
export { createAgent } from './create-agent.ts';
export type { Handoff, RunEnd, RunEvent, RunResult, RunUsage, TriedCall } from './events.ts';
export { type Extraction, type ExtractOptions, extract, type RecordType, recordType } from './extract.ts';
export type { ExtractionAttempt } from './extraction-attempts.ts';
export { forkMessages } from './fork-messages.ts';
export type { RunLimits } from './limits.ts';
export type { ProviderTool } from './provider-tools.ts';
export { type Replayed, replay } from './replay.ts';
export type { UnsureAnswer, UnsureCall } from './resume/open-calls.ts';
export type { ResumableJournal, ResumeOptions } from './resume/resume-options.ts';
export type { Run } from './run.ts';
export type { CacheChange, ReplyCost, RunReport } from './run-report.ts';
export type { SiblingAct, SiblingRules } from './siblings.ts';
export type { OutputAttempt, OutputOptions, RunOutput } from './structured-output.ts';
export type { Subagent, SubagentStart, SubagentTrace } from './subagents/subagent.ts';
export type { NoteRole } from './system-note.ts';
export type { ToolSearch, ToolSearchOptions } from './tool-search.ts';
export { UNTRUSTED_CONTENT_NOTICE } from './system-prompt.ts';
