/**
 * Rule of this folder: telemetry watches and never takes part. It needs no package of OpenTelemetry's, tells nothing that
 * was said unless it is asked to, and no fault of a tracer or a meter reaches a call.
 */
export { type OtlpTelemetry, otlpTelemetry, readOtlpSettings } from './otlp/index.ts';
export { type TelemetryOptions, telemetry } from './telemetry.ts';
export type { SpanPlace } from './trace-context.ts';
export type { TelemetryContext, TelemetryHistogram, TelemetryMeter, TelemetrySpan, TelemetryTracer } from './types.ts';
