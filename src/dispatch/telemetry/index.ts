/**
 * Rule of this folder: telemetry watches and never takes part. It needs no package of OpenTelemetry's, tells nothing that
 * was said unless it is asked to, and no fault of a tracer or a meter reaches a call.
 */
export { type TelemetryOptions, telemetry } from './telemetry.ts';
export type { TelemetryContext, TelemetryHistogram, TelemetryMeter, TelemetrySpan, TelemetryTracer } from './types.ts';
