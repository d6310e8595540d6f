import { afterEach, beforeEach, expect, test } from 'vitest';
import { chatModel, type ChatModel } from './helpers/chat-model.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { cloneInto } from './helpers/clone.ts';
import { type OtlpReceiver, otlpReceiver, plain } from './helpers/otlp-receiver.ts';
import { bridle } from './helpers/terminal.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const CALL = [{ name: 'mcp__m__meta', args: '{"note":"s3cret"}' }];
/** Longer than any machine takes. */
const PATIENT = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000' };
const RULES = ['--allow', 'mcp__m__meta', '--trust-project', '--model'];

let at: Person;
let model: ChatModel;
let receiver: OtlpReceiver;
beforeEach(async () => {
  at = await person();
  await at.servers({ m: at.fixture('scripted.mjs', ['--also=meta']) });
  model = await chatModel([CALL, 'Done.', CALL, 'Done.']);
  receiver = await otlpReceiver();
});
afterEach(async () => {
  await at.remove();
  await model.close();
  await receiver.close();
});

const run = (env: Readonly<Record<string, string>>) =>
  bridle(['run', 'Look.', ...RULES, model.spec], { cwd: at.cwd, env: { ...at.env, ...PATIENT, ...env } });

test('nothing is sent, and servers are told of no trace, as long as nobody asks for it', async () => {
  const { status } = await run({ TRACEPARENT: `00-${TRACE}-${CALLER}-01` });
  expect(status).toBe(0);
  expect(receiver.requests).toEqual([]);
  expect(model.toolAnswers(1)[0]).not.toContain('traceparent');
});

test('a run is one trace in that of its caller, and a server goes on from its call', async () => {
  const { status, stdout, stderr } = await run({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k1',
    OTEL_SERVICE_NAME: 'support-desk',
    TRACEPARENT: `00-${TRACE}-${CALLER}-01`,
    TRACESTATE: 'vendor=a',
  });
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: 'Done.\n' });
  const spans = receiver.spans();
  const [root, call] = ['invoke_agent main', 'execute_tool mcp__m__meta'].map((name) =>
    spans.find((span) => span.name === name),
  );
  expect(spans.map(({ name }) => name).sort()).toEqual(
    ['chat scripted', 'chat scripted', root?.name, call?.name].map((name) => name ?? '').sort(),
  );
  expect(root).toMatchObject({ parentSpanId: CALLER, traceState: 'vendor=a', flags: 0x301, kind: 1 });
  for (const span of spans) expect(span.traceId).toBe(TRACE);
  for (const span of spans.filter((each) => each !== root)) {
    expect(span).toMatchObject({ parentSpanId: root?.spanId, flags: 0x101 });
    expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
  }
  expect(plain(call?.attributes ?? [])).toMatchObject({ 'bridle.outcome': 'ok', 'bridle.server': 'm' });
  const told = JSON.parse(model.toolAnswers(1)[0] ?? '') as object;
  expect(told).toMatchObject({ traceparent: `00-${TRACE}-${call?.spanId}-01`, tracestate: 'vendor=a' });
  expect(receiver.metrics().map(({ name }) => name)).toEqual(
    expect.arrayContaining(['gen_ai.client.operation.duration', 'mcp.client.operation.duration']),
  );
  for (const resource of receiver.resources()) expect(resource).toMatchObject({ 'service.name': 'support-desk' });
  for (const { headers } of receiver.requests)
    expect(headers).toMatchObject({ 'x-key': 'k1', 'content-type': 'application/json' });
  expect(JSON.stringify(receiver.requests.map(({ body }) => body))).not.toContain('s3cret');
});

test('a chat sends too, a trace for each turn; with a caller that is not sampled it sends metrics alone', async () => {
  const chat = (env: Readonly<Record<string, string>>) =>
    bridle(['chat', ...RULES, model.spec], {
      cwd: at.cwd,
      env: { ...at.env, ...PATIENT, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env },
      piped: 'Look.\nAgain.\n',
    });
  await chat({});
  const roots = receiver.spans().filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
  const before = receiver.spans().length;
  await chat({ TRACEPARENT: `00-${TRACE}-${CALLER}-00` });
  expect(receiver.spans()).toHaveLength(before);
  expect(receiver.requests.filter(({ path }) => path === '/v1/metrics').length).toBeGreaterThan(1);
});

test('nothing that a project holds says where it is sent', async () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_TRACES_EXPORTER: 'otlp' };
  const lines = Object.entries(endpoint).map(([name, value]) => `${name}=${value}\n`);
  cloneInto(at.cwd, {
    '.env': lines.join(''),
    'otel.yaml': `endpoint: ${receiver.url}\n`,
    'bridle.json': { env: endpoint, telemetry: { endpoint: receiver.url } },
    '.claude/settings.json': { env: { ...endpoint, CLAUDE_CODE_ENABLE_TELEMETRY: '1' } },
  });
  await at.servers({ m: at.fixture('scripted.mjs', ['--also=meta'], { env: endpoint }) });
  await run({});
  expect(model.requests).toHaveLength(2);
  expect(receiver.requests).toEqual([]);
  const own = await otlpReceiver();
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: own.url });
  await own.close();
  expect(own.spans()).toHaveLength(4);
  expect(receiver.requests).toEqual([]);
});

test('a receiver that refuses, or is gone, changes nothing of the run but a warning, said once', async () => {
  const refusing = await otlpReceiver((response) => {
    response.writeHead(401);
    response.end('words of the receiver');
  });
  const { status, stdout, stderr } = await run({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${refusing.url}/v1/traces`,
    OTEL_METRICS_EXPORTER: 'none',
  });
  await refusing.close();
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: 'Done.\n' });
  expect(stderr.split('it answers 401')).toHaveLength(2);
  expect(stderr).toContain('4 spans of the telemetry could not be sent');
  expect(stderr).not.toContain('words of the receiver');
  const grpc = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  expect(grpc.status).toBe(0);
  expect(grpc.stderr).toContain('OTEL_EXPORTER_OTLP_PROTOCOL is grpc');
  expect(receiver.requests).toEqual([]);
});
