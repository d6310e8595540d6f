import type { SpanPlace } from './trace-context.ts';

/** What telemetry uses of OpenTelemetry's API: whatever has this shape will do, and no package of it is needed. */
export type AttributeValue = string | number | boolean | string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** As `Context` of `@opentelemetry/api`. */
export interface TelemetryContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): TelemetryContext;
  deleteValue(key: symbol): TelemetryContext;
}

/** As `Span`. Times are Unix milliseconds. */
export interface TelemetrySpan {
  setAttributes(attributes: Record<string, AttributeValue>): unknown;
  setStatus(status: { code: number }): unknown;
  end(time?: number): void;
  /** Where it stands, for servers that go on with the trace; without it they are told of none. */
  spanContext?(): SpanPlace;
}

/** As `Tracer`: `trace.getTracer('bridle')` of the API, or of a provider. */
export interface TelemetryTracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Record<string, AttributeValue>; startTime?: number },
    context?: TelemetryContext,
  ): TelemetrySpan;
}

/** As `Histogram`. */
export interface TelemetryHistogram {
  record(value: number, attributes?: Record<string, AttributeValue>): void;
}

/** As `Meter`. */
export interface TelemetryMeter {
  createHistogram(
    name: string,
    options?: { description?: string; unit?: string; advice?: { explicitBucketBoundaries?: number[] } },
  ): TelemetryHistogram;
}

/** `SpanKind` and `SpanStatusCode` of the API. */
export const INTERNAL = 0;
export const CLIENT = 2;
export const ERROR = 2;
