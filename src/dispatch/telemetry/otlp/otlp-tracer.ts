import { randomBytes } from 'node:crypto';
import { spanOf } from '../context.ts';
import { type SpanPlace, traceContextOf } from '../trace-context.ts';
import { type Attributes, INTERNAL, type TelemetrySpan, type TelemetryTracer } from '../types.ts';
import { keyValues, nanos, wellFormed } from './otlp-json.ts';

const SAMPLED = 1;
/** Bits of `Span.flags`: it is known whether the parent is another process's, and it is. */
const IS_REMOTE_KNOWN = 0x100;
const IS_REMOTE = 0x200;

class OtlpSpan implements TelemetrySpan {
  readonly place: SpanPlace;
  readonly #start: number;
  readonly #about: Readonly<Record<string, string | number>>;
  readonly #attributes: Record<string, Attributes[string]> = {};
  readonly #ended: (span: string) => void;
  #status = 0;
  #isOver = false;

  constructor(
    about: Readonly<Record<string, string | number>>,
    place: SpanPlace,
    start: number,
    ended: (span: string) => void,
  ) {
    this.#about = about;
    this.place = place;
    this.#start = start;
    this.#ended = ended;
  }

  spanContext(): SpanPlace {
    return this.place;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes);
    return this;
  }

  setStatus({ code }: { code: number }): this {
    this.#status = code;
    return this;
  }

  end(time = Date.now()): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if ((this.place.traceFlags & SAMPLED) === 0) return;
    const { traceId, spanId } = this.place;
    const state = traceContextOf(this.place)?.tracestate;
    const span = {
      traceId,
      spanId,
      ...(state !== undefined && { traceState: state }),
      ...this.#about,
      startTimeUnixNano: nanos(this.#start),
      endTimeUnixNano: nanos(Math.max(this.#start, time)),
      attributes: keyValues(this.#attributes),
      ...(this.#status !== 0 && { status: { code: this.#status } }),
    };
    this.#ended(JSON.stringify(span));
  }
}

/**
 * A tracer whose spans are written as OTLP has them.
 *
 * @param parent of spans that have none in this process: the caller's. One that isn't sampled leaves out all below it
 * @param ended takes each span when it is over, as JSON of a `Span`
 */
export function otlpTracer(parent: SpanPlace | undefined, ended: (span: string) => void): TelemetryTracer {
  return {
    startSpan(name, { kind = INTERNAL, attributes = {}, startTime = Date.now() } = {}, context) {
      const above = spanOf(context);
      const inside = above instanceof OtlpSpan ? above.place : undefined;
      const from = inside ?? parent;
      const flags = from ? from.traceFlags & SAMPLED : SAMPLED;
      const place = {
        traceId: from?.traceId ?? randomId(16),
        spanId: randomId(8),
        traceFlags: flags,
        ...(from?.traceState !== undefined && { traceState: from.traceState }),
      };
      const about = {
        ...(from && { parentSpanId: from.spanId }),
        flags: flags | IS_REMOTE_KNOWN | (from && !inside ? IS_REMOTE : 0),
        name: wellFormed(name),
        // The protocol counts from 1, as 0 stands for no kind.
        kind: kind + 1,
      };
      return new OtlpSpan(about, place, startTime, ended).setAttributes(attributes);
    },
  };
}

/** Hex, and never all zero, which is no id. */
function randomId(bytes: number): string {
  for (;;) {
    const id = randomBytes(bytes).toString('hex');
    if (/[^0]/.test(id)) return id;
  }
}
