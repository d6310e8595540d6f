/**
 * Rule of this folder: what is sent goes where the person's environment says, and nowhere else; it is never waited for
 * but at the end, and then for a few seconds. OTLP over HTTP in JSON (version 1.10 of the protocol).
 */
export { type OtlpTelemetry, otlpTelemetry } from './otlp-telemetry.ts';
export { readOtlpSettings } from './otlp-settings.ts';
