import type { Json } from '../../../contracts/index.ts';
import type { Attributes, TelemetryMeter } from '../types.ts';
import { keyValues, nanos } from './otlp-json.ts';

/** Most sets of attributes of one histogram; what is over goes into one of its own, as OpenTelemetry's SDKs do it. */
const MOST_POINTS = 2_000;
const OVERFLOW: Attributes = { 'otel.metric.overflow': true };
const CUMULATIVE = 2;

interface Point {
  readonly attributes: Attributes;
  readonly buckets: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

interface Histogram {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly bounds: readonly number[];
  readonly points: Map<string, Point>;
}

/** A meter that adds up in memory. */
export interface OtlpMeter {
  readonly meter: TelemetryMeter;
  /** All histograms that have anything, since the start: `Metric` messages. */
  collect(now: number): Json[];
}

export function otlpMeter(start: number): OtlpMeter {
  const all: Histogram[] = [];
  return {
    meter: {
      createHistogram(name, { description = '', unit = '', advice } = {}) {
        const bounds = advice?.explicitBucketBoundaries ?? [];
        const made: Histogram = { name, description, unit, bounds, points: new Map() };
        all.push(made);
        return { record: (value, attributes = {}) => add(made, value, attributes) };
      },
    },
    collect: (now) => all.filter(({ points }) => points.size > 0).map((each) => metricOf(each, start, now)),
  };
}

function add({ bounds, points }: Histogram, value: number, given: Attributes): void {
  if (!Number.isFinite(value)) return;
  const keyOf = (attributes: Attributes) =>
    JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
  const isFull = points.size >= MOST_POINTS - 1 && !points.has(keyOf(given));
  const attributes = isFull ? OVERFLOW : given;
  const key = keyOf(attributes);
  let point = points.get(key);
  if (!point) {
    const buckets = Array.from({ length: bounds.length + 1 }, () => 0);
    point = { attributes, buckets, count: 0, sum: 0, min: value, max: value };
    points.set(key, point);
  }
  // A bound belongs to the bucket below it.
  const at = bounds.findIndex((bound) => value <= bound);
  const bucket = at < 0 ? bounds.length : at;
  point.buckets[bucket] = (point.buckets[bucket] ?? 0) + 1;
  point.count += 1;
  point.sum += value;
  point.min = Math.min(point.min, value);
  point.max = Math.max(point.max, value);
}

function metricOf({ name, description, unit, bounds, points }: Histogram, start: number, now: number): Json {
  const dataPoints = [...points.values()].map(({ attributes, buckets, count, sum, min, max }) => ({
    attributes: keyValues(attributes),
    startTimeUnixNano: nanos(start),
    timeUnixNano: nanos(now),
    count: String(count),
    sum,
    bucketCounts: buckets.map(String),
    explicitBounds: [...bounds],
    min,
    max,
  }));
  return { name, description, unit, histogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
}
