import type { Recorder } from '../../../contracts/index.ts';
import { telemetry, type TelemetryOptions } from '../telemetry.ts';
import { keyValues } from './otlp-json.ts';
import { otlpMeter } from './otlp-meter.ts';
import { otlpSender } from './otlp-sender.ts';
import type { Destination, OtlpSettings } from './otlp-settings.ts';
import { otlpTracer } from './otlp-tracer.ts';
import { type Poster, poster } from './post.ts';
import { spanQueue } from './span-queue.ts';

export interface OtlpOptions {
  readonly settings: OtlpSettings;
  /** Ours, for `service.version` and the scope of what is sent. */
  readonly version: string;
  /** Told once for each receiver that something doesn't arrive. */
  onProblem(text: string): void;
  readonly connections?: TelemetryOptions['connections'];
  /** Who sends to a receiver; for tests. */
  readonly poster?: (to: Destination) => Poster;
}

/** How long whoever wants to stop waits at the end, in milliseconds. */
const STOPPED_MS = 1_000;

/** Telemetry that is sent over HTTP. */
export interface OtlpTelemetry {
  readonly recorder: Recorder;
  /**
   * Sends what is left. Never rejects, and never takes longer than `closeMs` of the settings.
   *
   * @param stopped once aborted, it is waited for no longer than `STOPPED_MS`
   * @returns how many spans didn't arrive
   */
  close(stopped?: AbortSignal): Promise<number>;
}

/** Sends spans and metrics of runs, replies and calls as OTLP/HTTP in JSON. Nothing waits for it but `close`. */
export function otlpTelemetry({
  settings,
  version,
  onProblem,
  connections,
  poster: posterTo = poster,
}: OtlpOptions): OtlpTelemetry {
  const stop = new AbortController();
  const hurry = new AbortController();
  /** Both signals mostly go to one receiver, and what is wrong there is said once. */
  const told = new Set<string>();
  const tell = (problem: string) => {
    if (told.has(problem)) return;
    told.add(problem);
    onProblem(problem);
  };
  const resource = { attributes: keyValues(resourceWith(settings.resource, version)) };
  const scope = { name: 'bridle', version };
  const posters: Poster[] = [];
  const senderFor = (destination: Destination | undefined) => {
    if (!destination) return undefined;
    const to = posterTo(destination);
    posters.push(to);
    return otlpSender({ destination, signal: stop.signal, hurry: hurry.signal, onProblem: tell, poster: to });
  };

  const sendSpans = senderFor(settings.traces);
  const queue =
    sendSpans &&
    spanQueue((spans) => {
      // The spans are JSON already.
      const ofScope = `{"scope":${JSON.stringify(scope)},"spans":[${spans.join(',')}]}`;
      return sendSpans(`{"resourceSpans":[{"resource":${JSON.stringify(resource)},"scopeSpans":[${ofScope}]}]}`);
    });
  const sendMetrics = senderFor(settings.metrics);
  const meter = sendMetrics && otlpMeter(Date.now());
  let reporting: Promise<void> | undefined;
  const send = async (): Promise<void> => {
    const metrics = meter?.collect(Date.now()) ?? [];
    if (metrics.length === 0 || stop.signal.aborted) return;
    await sendMetrics?.(JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] }));
  };
  const report = (): Promise<void> => {
    reporting = send().finally(() => {
      reporting = undefined;
    });
    return reporting;
  };
  // Metrics are sums from the beginning: while one report is tried again, the next ones would tell nothing that it doesn't.
  const timer = meter && setInterval(() => void (reporting ?? report()), settings.metricsEveryMs).unref();

  return {
    recorder: telemetry({
      ...(queue && { tracer: otlpTracer(settings.parent, (span) => queue.push(span)) }),
      ...(meter && { meter: meter.meter }),
      content: settings.content,
      ...(connections && { connections }),
    }),
    async close(stopped) {
      clearInterval(timer);
      hurry.abort();
      const giveUp = () => stop.abort(new Error("it didn't answer before the end"));
      const timers = [setTimeout(giveUp, settings.closeMs)];
      const onStopped = () => void timers.push(setTimeout(giveUp, STOPPED_MS));
      if (stopped?.aborted) onStopped();
      else stopped?.addEventListener('abort', onStopped);
      await Promise.all([queue?.drain(), (reporting ?? Promise.resolve()).then(report)]);
      stopped?.removeEventListener('abort', onStopped);
      for (const each of timers) clearTimeout(each);
      for (const each of posters) each.close();
      return queue ? queue.lost() + queue.waiting() : 0;
    },
  };
}

function resourceWith(said: ReadonlyMap<string, string>, version: string): ReadonlyMap<string, string> {
  return new Map([
    ['service.version', version],
    ...said,
    ['telemetry.sdk.name', 'bridle'],
    ['telemetry.sdk.language', 'nodejs'],
    ['telemetry.sdk.version', version],
  ]);
}
