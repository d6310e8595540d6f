import { type SpanPlace, readTraceparent } from '../trace-context.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where one signal goes. */
export interface Destination {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest request, in milliseconds. */
  readonly timeoutMs: number;
}

export interface OtlpSettings {
  readonly traces?: Destination;
  readonly metrics?: Destination;
  /** Who speaks: `service.name` and what else `OTEL_RESOURCE_ATTRIBUTES` says. */
  readonly resource: ReadonlyMap<string, string>;
  /** The caller's span. */
  readonly parent?: SpanPlace;
  /** What was said may be sent. */
  readonly content: boolean;
  /** Milliseconds between two reports of the metrics. */
  readonly metricsEveryMs: number;
  /** Longest wait at the end for what is left, in milliseconds. */
  readonly closeMs: number;
  /** What is wrong with the variables, in sentences without their values, which may be secrets. */
  readonly problems: readonly string[];
}

const DEFAULT_ENDPOINT = 'http://localhost:4318';
const DEFAULT_TIMEOUT_MS = 10_000;
/** Whoever names no time limit waits less at the end than for one request meanwhile. */
const DEFAULT_CLOSE_MS = 5_000;
const DEFAULT_METRICS_MS = 60_000;
const SIGNALS = { traces: 'TRACES', metrics: 'METRICS' } as const;

/**
 * Reads the variables of OpenTelemetry (SDK Environment Variables, Protocol Exporter). Only the environment counts: no
 * file says where telemetry goes.
 *
 * @returns undefined where nobody asked for telemetry, or `OTEL_SDK_DISABLED` is true
 */
export function readOtlpSettings(env: Environment): OtlpSettings | undefined {
  if (isTrue(env.OTEL_SDK_DISABLED)) return undefined;
  const problems: string[] = [];
  const traces = destinationOf('traces', env, problems);
  const metrics = destinationOf('metrics', env, problems);
  if (!traces && !metrics && problems.length === 0) return undefined;
  const parent = readTraceparent(env.TRACEPARENT, env.TRACESTATE);
  return {
    ...(traces && { traces }),
    ...(metrics && { metrics }),
    resource: resourceOf(env, problems),
    ...(parent && { parent }),
    content: isTrue(env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT),
    metricsEveryMs: milliseconds('OTEL_METRIC_EXPORT_INTERVAL', env, problems) ?? DEFAULT_METRICS_MS,
    closeMs: milliseconds('OTEL_EXPORTER_OTLP_TIMEOUT', env, problems) ?? DEFAULT_CLOSE_MS,
    problems: [...new Set(problems)],
  };
}

function destinationOf(signal: keyof typeof SIGNALS, env: Environment, problems: string[]): Destination | undefined {
  const upper = SIGNALS[signal];
  const ownEndpoint = `OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`;
  const variable = given(env, ownEndpoint) === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : ownEndpoint;
  const endpoint = given(env, variable);
  const exporters = given(env, `OTEL_${upper}_EXPORTER`)
    ?.split(',')
    .map((name) => name.trim());
  const odd = exporters?.filter((name) => name !== 'otlp' && name !== 'none' && name !== '') ?? [];
  if (odd.length > 0)
    problems.push(`OTEL_${upper}_EXPORTER names ${odd.join(', ')}; only otlp and none are known here.`);
  if (exporters ? !exporters.includes('otlp') : endpoint === undefined) return undefined;
  const ownProtocol = `OTEL_EXPORTER_OTLP_${upper}_PROTOCOL`;
  const said = given(env, ownProtocol) === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : ownProtocol;
  const protocol = given(env, said);
  if (protocol !== undefined && protocol !== 'http/json') {
    const fix = `Set ${ownProtocol}=http/json, with an endpoint that takes it (most take it on port 4318)`;
    problems.push(`No ${signal} are sent: ${said} is ${protocol}, and only http/json is spoken here. ${fix}.`);
    return undefined;
  }
  const url = addressOf(endpoint ?? DEFAULT_ENDPOINT, variable === ownEndpoint ? '' : `v1/${signal}`);
  if (url === undefined) {
    const what = 'no address that begins with http:// or https://, or has a name and a password in it';
    problems.push(`No ${signal} are sent: ${variable} is ${what}.`);
    return undefined;
  }
  const timeoutMs =
    milliseconds(`OTEL_EXPORTER_OTLP_${upper}_TIMEOUT`, env, problems) ??
    milliseconds('OTEL_EXPORTER_OTLP_TIMEOUT', env, problems) ??
    DEFAULT_TIMEOUT_MS;
  const headers = {
    ...headersOf('OTEL_EXPORTER_OTLP_HEADERS', env, problems),
    ...headersOf(`OTEL_EXPORTER_OTLP_${upper}_HEADERS`, env, problems),
  };
  return { url, headers, timeoutMs };
}

/** @param path below the endpoint; empty: the endpoint is the whole address */
function addressOf(endpoint: string, path: string): string | undefined {
  if (!URL.canParse(endpoint)) return undefined;
  const url = new URL(endpoint);
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') {
    return undefined;
  }
  if (path !== '') url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  url.hash = '';
  return url.href;
}

function headersOf(variable: string, env: Environment, problems: string[]): Readonly<Record<string, string>> {
  const pairs = pairsOf(variable, env, problems);
  try {
    return Object.fromEntries(new Headers(pairs.map(([name, value]) => [name, value])).entries());
  } catch {
    problems.push(`${variable} has a header that can't be sent; none of its headers is.`);
    return {};
  }
}

function resourceOf(env: Environment, problems: string[]): ReadonlyMap<string, string> {
  const attributes = new Map(pairsOf('OTEL_RESOURCE_ATTRIBUTES', env, problems));
  const name = given(env, 'OTEL_SERVICE_NAME') ?? attributes.get('service.name') ?? 'bridle';
  return attributes.set('service.name', name);
}

/** `key=value,key=value`, values with percent escapes. One that can't be read makes all of them count for nothing. */
function pairsOf(variable: string, env: Environment, problems: string[]): readonly (readonly [string, string])[] {
  const text = given(env, variable);
  if (text === undefined) return [];
  try {
    return text
      .split(',')
      .filter((pair) => pair.trim() !== '')
      .map((pair) => {
        const at = pair.indexOf('=');
        const key = pair.slice(0, Math.max(0, at)).trim();
        if (key === '') throw new Error('no key');
        return [key, decodeURIComponent(pair.slice(at + 1).trim())] as const;
      });
  } catch {
    problems.push(`${variable} is no list such as key=value,key=value with percent escapes; it is left.`);
    return [];
  }
}

function milliseconds(variable: string, env: Environment, problems: string[]): number | undefined {
  const text = given(env, variable);
  if (text === undefined) return undefined;
  const number = Number(text);
  // Longer timers than this would be none.
  if (Number.isInteger(number) && number > 0 && number < 2 ** 31) return number;
  problems.push(`${variable} is no whole number of milliseconds above 0; it is left.`);
  return undefined;
}

/** An empty variable is one that isn't set. */
function given(env: Environment, variable: string): string | undefined {
  return env[variable]?.trim() || undefined;
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true';
}
