import { z } from 'zod';
import { type Answer, type LoopbackServer, loopbackServer } from '../fixtures/loopback-server.ts';

/** 64-bit integers, and times, are text in ProtoJSON; ids are hex there, as OTLP says. */
const whole = z.string().regex(/^\d+$/);
const hex = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`));
const scalar = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const value = z.union([scalar, z.strictObject({ arrayValue: z.strictObject({ values: z.array(scalar) }) })]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const resource = z.strictObject({ attributes });
const scope = z.strictObject({ name: z.literal('bridle'), version: z.string().min(1) });
const span = z.strictObject({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: hex(16).optional(),
  traceState: z.string().optional(),
  flags: z.int(),
  name: z.string().min(1),
  kind: z.union([z.literal(1), z.literal(3)]),
  startTimeUnixNano: whole,
  endTimeUnixNano: whole,
  attributes,
  status: z.strictObject({ code: z.literal(2) }).optional(),
});
const point = z
  .strictObject({
    attributes,
    startTimeUnixNano: whole,
    timeUnixNano: whole,
    count: whole,
    sum: z.number(),
    bucketCounts: z.array(whole),
    explicitBounds: z.array(z.number()),
    min: z.number(),
    max: z.number(),
  })
  .refine(({ bucketCounts, explicitBounds }) => bucketCounts.length === explicitBounds.length + 1)
  .refine(({ bucketCounts, count }) => bucketCounts.reduce((sum, each) => sum + Number(each), 0) === Number(count));
const metric = z.strictObject({
  name: z.string().min(1),
  description: z.string().min(1),
  unit: z.string().min(1),
  histogram: z.strictObject({ aggregationTemporality: z.literal(2), dataPoints: z.array(point).min(1) }),
});
const traces = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({ resource, scopeSpans: z.tuple([z.strictObject({ scope, spans: z.array(span).min(1) })]) }),
  ]),
});
const metrics = z.strictObject({
  resourceMetrics: z.tuple([
    z.strictObject({ resource, scopeMetrics: z.tuple([z.strictObject({ scope, metrics: z.array(metric).min(1) })]) }),
  ]),
});

export type ReceivedSpan = z.infer<typeof span>;

export interface OtlpReceiver extends LoopbackServer {
  /** All spans, each request held to the form that the protocol gives it. */
  spans(): ReceivedSpan[];
  metrics(): z.infer<typeof metric>[];
  /** Of every request. */
  resources(): Readonly<Record<string, unknown>>[];
}

/** A receiver of OTLP over HTTP in JSON, strict about what it gets. */
export async function otlpReceiver(...answers: readonly Answer[]): Promise<OtlpReceiver> {
  const taken: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  };
  const server = await loopbackServer(...(answers.length > 0 ? answers : [taken]));
  const bodies = (path: string) => server.requests.filter((request) => request.path === path).map(({ body }) => body);
  const ofSpans = () => bodies('/v1/traces').map((body) => traces.parse(body).resourceSpans[0]);
  const ofMetrics = () => bodies('/v1/metrics').map((body) => metrics.parse(body).resourceMetrics[0]);
  return {
    ...server,
    spans: () => ofSpans().flatMap(({ scopeSpans }) => scopeSpans[0].spans),
    metrics: () => ofMetrics().flatMap(({ scopeMetrics }) => scopeMetrics[0].metrics),
    resources: () => [...ofSpans(), ...ofMetrics()].map((each) => plain(each.resource.attributes)),
  };
}

/** Attributes as they were before they were written. */
export function plain(written: z.infer<typeof attributes>): Readonly<Record<string, unknown>> {
  const of = (one: z.infer<typeof value>): unknown => {
    const [[kind, inner] = ['', undefined]] = Object.entries(one);
    if (kind === 'arrayValue') return (inner as { values: z.infer<typeof scalar>[] }).values.map(of);
    return kind === 'intValue' ? Number(inner) : inner;
  };
  return Object.fromEntries(written.map(({ key, value: one }) => [key, of(one)]));
}
