import { expect, test } from 'vitest';
import { otlpMeter } from './otlp-meter.ts';

function histogram(bounds: number[]) {
  const { meter, collect } = otlpMeter(1_000);
  const made = meter.createHistogram('h', {
    description: 'Of a test.',
    unit: 's',
    advice: { explicitBucketBoundaries: bounds },
  });
  const points = () => {
    const [metric] = collect(2_000) as { histogram: { dataPoints: Record<string, unknown>[] } }[];
    return metric?.histogram.dataPoints ?? [];
  };
  return { record: made.record.bind(made), collect, points };
}

test('a bound belongs to the bucket below it, and everything is since the start', () => {
  const { record, points, collect } = histogram([1, 10]);
  expect(collect(2_000)).toEqual([]);
  for (const value of [0, 1, 1.5, 10, 11, Number.NaN, Number.POSITIVE_INFINITY]) record(value, { b: 1, a: 'x' });
  record(3, { a: 'x', b: 1 });
  expect(points()).toEqual([
    {
      attributes: [
        { key: 'b', value: { intValue: '1' } },
        { key: 'a', value: { stringValue: 'x' } },
      ],
      startTimeUnixNano: '1000000000',
      timeUnixNano: '2000000000',
      count: '6',
      sum: 26.5,
      bucketCounts: ['2', '3', '1'],
      explicitBounds: [1, 10],
      min: 0,
      max: 11,
    },
  ]);
  record(3, { a: 'x', b: 1 });
  expect(points()[0]).toMatchObject({ count: '7' });
});

test('sets of attributes without end, such as names that a model makes up, take no memory without end', () => {
  const { record, points } = histogram([]);
  for (let nth = 0; nth < 5_000; nth += 1) record(1, { name: `tool-${nth}` });
  expect(points()).toHaveLength(2_000);
  expect(points().at(-1)).toMatchObject({
    attributes: [{ key: 'otel.metric.overflow', value: { boolValue: true } }],
    count: '3001',
  });
});
