import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { CallOutcomeRecord, Outcome } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import { gatewayMetrics } from './metrics.ts';
import { type Operations, serveOperations } from './operations.ts';
import type { GatewayStatus } from './status.ts';

let operations: Operations | undefined;
afterEach(async () => {
  await operations?.close();
  operations = undefined;
});

const STATUS: GatewayStatus = {
  servers: [
    { server: 'shop', state: 'ready', tools: 3 },
    { server: 'slow "one"', state: 'waiting', tools: 0 },
  ],
  agents: 2,
  calls: { underWay: 1, calls: 7, refused: 2, isDraining: false },
  waiting: 4,
};

async function told(status: GatewayStatus) {
  const metrics = gatewayMetrics();
  operations = await serveOperations({
    host: '127.0.0.1',
    port: 0,
    status: () => status,
    metrics: () => metrics.text(status),
  });
  const { url } = operations;
  const get = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(url + path, init);
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
  };
  return { url, get, metrics };
}

function ended(agent: string, outcome: Outcome): CallOutcomeRecord {
  const who = { agent, via: 'gateway' } as const;
  return { callId: 'c', conversation: 'c', who, name: 'x', args: {}, startedAt: 0, ms: 250, attempts: 1, outcome };
}

test('the process answers, and is ready once no server is waited for and calls are let in', async () => {
  const { get } = await told(STATUS);
  expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
  const waiting = await get('/readyz');
  expect([waiting.status, JSON.parse(waiting.text)]).toEqual([
    503,
    { ready: false, draining: false, servers: STATUS.servers },
  ]);
  await operations?.close();
  const servers = STATUS.servers.map((each) => ({ ...each, state: 'failed' as const }));
  const failed = await told({ ...STATUS, servers });
  // One that failed is no reason to take the others away.
  expect((await failed.get('/readyz')).status).toBe(200);
  await operations?.close();
  const draining = await told({ ...STATUS, servers, calls: { ...STATUS.calls, isDraining: true } });
  expect((await draining.get('/readyz?x=1')).status).toBe(503);
});

test('metrics are as Prometheus reads them, by agent, end and server', async () => {
  const { get, metrics } = await told(STATUS);
  const ok: Outcome = { kind: 'ok', raw: rawFrom({ content: [] }), isError: false };
  metrics.recorder.outcome(ended('support', ok));
  metrics.recorder.outcome(ended('support', { ...ok, isError: true }));
  metrics.recorder.outcome(ended('support', ok));
  metrics.recorder.outcome(ended('ops', { kind: 'denied', reasons: [] }));
  const { type, text } = await get('/metrics');
  expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = text.split('\n');
  for (const line of [
    '# TYPE bridle_gateway_calls_total counter',
    'bridle_gateway_calls_total{agent="support",end="ok"} 2',
    'bridle_gateway_calls_total{agent="support",end="error"} 1',
    'bridle_gateway_calls_total{agent="ops",end="denied"} 1',
    'bridle_gateway_call_seconds_sum{agent="support"} 0.75',
    'bridle_gateway_call_seconds_count{agent="support"} 3',
    'bridle_gateway_calls_refused_total 2',
    'bridle_gateway_calls_under_way 1',
    'bridle_gateway_calls_waiting 4',
    'bridle_gateway_server_ready{server="shop"} 1',
    'bridle_gateway_server_ready{server="slow \\"one\\""} 0',
    'bridle_gateway_server_tools{server="shop"} 3',
  ]) {
    expect(lines).toContain(line);
  }
  expect(text.endsWith('\n')).toBe(true);
});

test('nothing is told under a name that is not of this machine, nor changed, nor found elsewhere', async () => {
  const { url, get } = await told(STATUS);
  const status = await new Promise((resolve) => {
    request(`${url}/metrics`, { headers: { host: 'evil.example' } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).end();
  });
  expect(status).toBe(403);
  expect((await get('/metrics', { method: 'POST' })).status).toBe(405);
  expect((await get('/mcp')).status).toBe(404);
});

test('an address that is taken is an error that names it', async () => {
  const { url } = await told(STATUS);
  const port = Number(new URL(url).port);
  await expect(
    serveOperations({ host: '127.0.0.1', port, status: () => STATUS, metrics: () => '' }),
  ).rejects.toMatchObject({ code: 'serve_address', message: expect.stringContaining(String(port)) });
});
