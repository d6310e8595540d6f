/** As OpenTelemetry's SDKs do: most spans that wait, most in one request, and how long one waits for others. */
const MOST_WAITING = 2_048;
const MOST_AT_ONCE = 512;
const WAIT_MS = 5_000;
/** Spans may hold what was said: most characters that wait, and most in one request. */
const MOST_CHARACTERS = 32_000_000;
const MOST_CHARACTERS_AT_ONCE = 4_000_000;

export interface SpanQueue {
  /** Takes a span; when too many wait, it is dropped. Never waits. */
  push(span: string): void;
  /** Sends all that waits. */
  drain(): Promise<void>;
  /** How many were dropped, or didn't arrive. */
  lost(): number;
  /** How many wait, or are on their way. */
  waiting(): number;
}

/** @param send takes spans, as JSON; answers whether they arrived. Asked one at a time */
export function spanQueue(send: (spans: readonly string[]) => Promise<boolean>): SpanQueue {
  const waiting: string[] = [];
  let characters = 0;
  let onTheirWay = 0;
  let lost = 0;
  let draining: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const take = (): string[] => {
    const taken: string[] = [];
    let size = 0;
    for (const span of waiting) {
      if (taken.length === MOST_AT_ONCE || (taken.length > 0 && size + span.length > MOST_CHARACTERS_AT_ONCE)) break;
      taken.push(span);
      size += span.length;
    }
    waiting.splice(0, taken.length);
    characters -= size;
    return taken;
  };
  const empty = async () => {
    while (waiting.length > 0) {
      const spans = take();
      onTheirWay = spans.length;
      if (!(await send(spans))) lost += spans.length;
      onTheirWay = 0;
    }
  };
  const drain = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    draining ??= empty().finally(() => {
      draining = undefined;
    });
    return draining;
  };
  return {
    push(span) {
      if (waiting.length >= MOST_WAITING || characters + span.length > MOST_CHARACTERS) {
        lost += 1;
        return;
      }
      waiting.push(span);
      characters += span.length;
      if (waiting.length >= MOST_AT_ONCE) void drain();
      else timer ??= setTimeout(() => void drain(), WAIT_MS).unref();
    },
    drain,
    lost: () => lost,
    waiting: () => waiting.length + onTheirWay,
  };
}
