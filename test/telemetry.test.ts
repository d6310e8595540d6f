import {
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { allRecorders, createAgent, defineTool, memoryRecorder, telemetry } from 'bridle';
import { scriptedModel } from 'bridle/testing';
import { describe, expect, test } from 'vitest';

/** A long time: only what is flushed is exported. */
const NEVER = 2 ** 30;

function sdk() {
  const spans = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const metrics = new InMemoryMetricExporter(0);
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: NEVER });
  const meters = new MeterProvider({ readers: [reader] });
  return { spans, metrics, meters, tracer: provider.getTracer('bridle'), meter: meters.getMeter('bridle') };
}

const lookUp = defineTool(
  { name: 'look_up', description: 'Looks up.', input: { type: 'object' }, effect: 'read' },
  () => 'found',
);
const refund = defineTool({ name: 'refund', description: 'Refunds.', input: { type: 'object' } }, () => {
  throw new Error('The till is locked.');
});

async function agentWith(
  { tracer, meter }: Pick<ReturnType<typeof sdk>, 'tracer' | 'meter'>,
  recorder = memoryRecorder(),
) {
  return createAgent({
    name: 'support',
    model: scriptedModel([
      { calls: [{ name: 'look_up' }, { name: 'look_up' }], usage: { input_tokens: 11, output_tokens: 3 } },
      { calls: [{ name: 'refund' }] },
      'Done.',
    ]),
    tools: [lookUp, refund],
    permissions: { allow: ['look_up', 'refund'] },
    recorder: allRecorders(telemetry({ tracer, meter }), recorder),
  });
}

describe('telemetry through the SDK of OpenTelemetry', () => {
  test('gives one trace a run: the run, and below it its replies and its calls', async () => {
    const { spans, tracer, meter, meters } = sdk();
    const recorder = memoryRecorder();
    const agent = await agentWith({ tracer, meter }, recorder);
    const { end, conversation } = await agent.run('Help.').result;
    await agent.close();
    await meters.shutdown();
    expect(end).toBe('answered');
    expect(recorder.outcomes).toHaveLength(3);

    const all = spans.getFinishedSpans();
    const root = all.find(({ name }) => name === 'invoke_agent support');
    expect(root?.parentSpanContext).toBeUndefined();
    expect(root?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': conversation,
      'bridle.run.end': 'answered',
      'bridle.run.turns': 3,
      'bridle.run.calls': 3,
    });
    const children = all.filter((span) => span !== root);
    expect(children.map(({ name }) => name).sort()).toEqual([
      'chat scripted',
      'chat scripted',
      'chat scripted',
      'execute_tool look_up',
      'execute_tool look_up',
      'execute_tool refund',
    ]);
    for (const child of children) {
      expect(child.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
      expect(child.spanContext().traceId).toBe(root?.spanContext().traceId);
      expect(child.ended).toBe(true);
    }
    const failed = children.find(({ name }) => name === 'execute_tool refund');
    expect(failed?.status.code).toBe(2);
    expect(failed?.attributes).toMatchObject({ 'gen_ai.tool.type': 'function', 'bridle.outcome': expect.any(String) });
    expect(failed?.attributes).not.toHaveProperty('mcp.method.name');
  });

  test('gives two runs two traces, also side by side', async () => {
    const { spans, tracer, meter, meters } = sdk();
    const agents = await Promise.all([agentWith({ tracer, meter }), agentWith({ tracer, meter })]);
    await Promise.all(agents.map((agent) => agent.run('Help.').result));
    await Promise.all(agents.map((agent) => agent.close()));
    await meters.shutdown();
    const perTrace = new Map<string, number>();
    for (const span of spans.getFinishedSpans()) {
      const { traceId } = span.spanContext();
      perTrace.set(traceId, (perTrace.get(traceId) ?? 0) + 1);
    }
    expect([...perTrace.values()]).toEqual([7, 7]);
  });

  test('measures seconds and tokens in the buckets of the conventions', async () => {
    const { tracer, meter, meters, metrics } = sdk();
    const agent = await agentWith({ tracer, meter });
    await agent.run('Help.').result;
    await agent.close();
    await meters.forceFlush();
    const told = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    await meters.shutdown();

    const duration = told.find(({ descriptor }) => descriptor.name === 'gen_ai.client.operation.duration');
    expect(duration?.descriptor.unit).toBe('s');
    if (duration?.dataPointType !== DataPointType.HISTOGRAM) throw new Error('It is no histogram.');
    const counts = duration.dataPoints.map(({ attributes, value }) => [
      attributes['gen_ai.operation.name'],
      value.count,
    ]);
    expect(counts.sort()).toEqual([
      ['chat', 3],
      ['execute_tool', 1],
      ['execute_tool', 2],
      ['invoke_agent', 1],
    ]);
    expect(duration.dataPoints[0]?.value.buckets.boundaries.slice(0, 3)).toEqual([0.01, 0.02, 0.04]);

    const tokens = told.find(({ descriptor }) => descriptor.name === 'gen_ai.client.token.usage');
    if (tokens?.dataPointType !== DataPointType.HISTOGRAM) throw new Error('It is no histogram.');
    const input = tokens.dataPoints.find(({ attributes }) => attributes['gen_ai.token.type'] === 'input');
    expect(input?.value.count).toBe(3);
    expect(input?.value.buckets.boundaries.slice(0, 4)).toEqual([1, 4, 16, 64]);
  });
});
