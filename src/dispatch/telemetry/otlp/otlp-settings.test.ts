import { describe, expect, test } from 'vitest';
import { readOtlpSettings } from './otlp-settings.ts';

const AT = 'http://collector.example:4318';
const read = (env: Readonly<Record<string, string>>) => readOtlpSettings(env);
const urls = (env: Readonly<Record<string, string>>) => {
  const { traces, metrics } = read(env) ?? {};
  return [traces?.url, metrics?.url];
};

describe('where telemetry goes', () => {
  test.each([
    [{}, [undefined, undefined]],
    [{ TRACEPARENT: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, OTEL_SERVICE_NAME: 'me' }, [undefined, undefined]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, [undefined, undefined]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: AT }, [`${AT}/v1/traces`, `${AT}/v1/metrics`]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${AT}/in/` }, [`${AT}/in/v1/traces`, `${AT}/in/v1/metrics`]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_SDK_DISABLED: 'True' }, [undefined, undefined]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_SDK_DISABLED: 'no' }, [`${AT}/v1/traces`, `${AT}/v1/metrics`]],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_METRICS_EXPORTER: 'none' }, [`${AT}/v1/traces`, undefined]],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, ['http://localhost:4318/v1/traces', undefined]],
    [{ OTEL_METRICS_EXPORTER: 'otlp' }, [undefined, 'http://localhost:4318/v1/metrics']],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${AT}/all?k=1` }, [`${AT}/all?k=1`, undefined]],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: AT, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      [`${AT}/v1/traces`, `${AT}/v1/metrics`],
    ],
  ])('%j: %j', (env, expected) => {
    expect(urls(env)).toEqual(expected);
    expect(read(env)?.problems ?? []).toEqual([]);
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, [undefined, undefined], 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc'],
    [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' }, [undefined, `${AT}/v1/metrics`], 'only http/json'],
    [{ OTEL_TRACES_EXPORTER: 'console' }, [undefined, `${AT}/v1/metrics`], 'names console'],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector' },
      [undefined, `${AT}/v1/metrics`],
      'TRACES_ENDPOINT is no address',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'file:///x' },
      [undefined, `${AT}/v1/metrics`],
      'TRACES_ENDPOINT is no address',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'k=%zz-s3cret' },
      [`${AT}/v1/traces`, `${AT}/v1/metrics`],
      'OTEL_EXPORTER_OTLP_HEADERS',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a b=s3cret' },
      [`${AT}/v1/traces`, `${AT}/v1/metrics`],
      'OTEL_EXPORTER_OTLP_HEADERS',
    ],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: '-1' }, [`${AT}/v1/traces`, `${AT}/v1/metrics`], 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    [{ OTEL_EXPORTER_OTLP_TIMEOUT: '1500.5' }, [`${AT}/v1/traces`, `${AT}/v1/metrics`], 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 's3cret' }, [`${AT}/v1/traces`, `${AT}/v1/metrics`], 'OTEL_RESOURCE_ATTRIBUTES'],
  ])('%j beside an endpoint: %j, and it is said', (env, expected, problem) => {
    const all = { OTEL_EXPORTER_OTLP_ENDPOINT: AT, ...env };
    expect(urls(all)).toEqual(expected);
    const said = (read(all)?.problems ?? []).join('\n');
    expect(said).toContain(problem);
    expect(said).not.toContain('s3cret');
  });

  test('a password in the address is neither used nor shown', () => {
    const { traces, problems } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:s3cret@collector.example' }) ?? {};
    expect(traces).toBeUndefined();
    expect(problems).toHaveLength(2);
    expect(problems?.join()).not.toContain('s3cret');
  });
});

test('headers, time limits and who speaks are read as the specification has them', () => {
  const settings = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: AT,
    OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%2Cb=, x-team = red',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-team=blue',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '3000',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=dev,service.name=other',
    OTEL_SERVICE_NAME: 'support-desk',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  });
  expect(settings?.traces).toMatchObject({ headers: { 'x-key': 'a,b=', 'x-team': 'blue' }, timeoutMs: 2000 });
  expect(settings?.metrics).toMatchObject({ headers: { 'x-key': 'a,b=', 'x-team': 'red' }, timeoutMs: 3000 });
  expect(settings?.metricsEveryMs).toBe(1000);
  expect([...(settings?.resource ?? [])]).toEqual([
    ['deployment.environment.name', 'dev'],
    ['service.name', 'support-desk'],
  ]);
  expect(settings?.content).toBe(true);
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp' })).toMatchObject({ content: false });
  expect(read({ OTEL_TRACES_EXPORTER: 'otlp' })?.resource.get('service.name')).toBe('bridle');
});
