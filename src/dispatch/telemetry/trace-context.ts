import type { TraceContext } from '../../contracts/index.ts';

/** Where a span stands, as `SpanContext` of OpenTelemetry's API has it. */
export interface SpanPlace {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly traceFlags: number;
  /** Vendors' own parts, as received; or an object of the API that writes them. */
  readonly traceState?: string | { serialize(): string };
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Longest `tracestate` that is passed on; the recommendation asks for at least 512 characters. */
const LONGEST_STATE = 512;

/**
 * Reads a parent (W3C Trace Context, level 1).
 *
 * @param traceparent as in an HTTP header, or in the environment variable `TRACEPARENT`
 * @returns undefined for none, and for what is no parent
 */
export function readTraceparent(traceparent: string | undefined, tracestate?: string): SpanPlace | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent?.trim() ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = stateText(tracestate);
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    ...(state !== undefined && { traceState: state }),
  };
}

/** The same as it goes on to others; undefined for a place that is none, such as that of a tracer that does nothing. */
export function traceContextOf({ traceId, spanId, traceFlags, traceState }: SpanPlace): TraceContext | undefined {
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  if (!readTraceparent(traceparent)) return undefined;
  const state = stateText(typeof traceState === 'object' ? traceState.serialize() : traceState);
  return { traceparent, ...(state !== undefined && { tracestate: state }) };
}

function stateText(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text.length > LONGEST_STATE) return undefined;
  return /^[\x20-\x7e]+$/.test(text) ? text : undefined;
}
