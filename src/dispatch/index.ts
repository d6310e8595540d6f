/**
 * Rule of this folder: nothing else runs a tool. Every call walks one path, ends as one tagged outcome, leaves one
 * record, and never throws.
 */
export type { DispatchedContext } from './call-path.ts';
export type { Clock } from './clock.ts';
export { createDispatcher, type DispatcherOptions } from './dispatcher.ts';
export { type IdempotencyLedgerOptions, idempotencyLedger } from './idempotency-ledger.ts';
export { type ForkOptions, forkPoints, forkTrace } from './fork-trace.ts';
export { listTraces, readTrace, type TraceSummary } from './read-trace.ts';
export { allRecorders, type MemoryRecorder, memoryRecorder, nullRecorder } from './recorders.ts';
export { type RecordedInputOptions, recordedInput } from './recorded-input.ts';
export { refuseAsker } from './refuse-asker.ts';
export { resultReader } from './result-reader.ts';
export { createResultStore, type ResultOwner, type ResultStore, type ResultStoreOptions } from './result-store.ts';
export {
  otlpTelemetry,
  readOtlpSettings,
  type SpanPlace,
  type TelemetryContext,
  type TelemetryHistogram,
  type TelemetryMeter,
  type TelemetryOptions,
  type TelemetrySpan,
  type TelemetryTracer,
  telemetry,
} from './telemetry/index.ts';
export { createTrace, openTrace, type Trace, type TraceOptions } from './trace.ts';
