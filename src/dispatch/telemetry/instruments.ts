import { quietly } from '../quietly.ts';
import type { Attributes, TelemetryHistogram, TelemetryMeter } from './types.ts';

/** Durations are told in seconds. */
export interface Instruments {
  readonly operation: Instrument;
  readonly mcp: Instrument;
  readonly tokens: Instrument;
}

type Instrument = (value: number, attributes: Attributes) => void;

/** As the conventions say of each. */
const OPERATION_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const MCP_SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Histograms that never throw, whatever the meter does. */
export function instrumentsOf(meter: TelemetryMeter | undefined): Instruments {
  const histogram = (name: string, description: string, unit: string, boundaries: readonly number[]): Instrument => {
    let made: TelemetryHistogram | undefined;
    quietly(() => {
      const advice = { explicitBucketBoundaries: [...boundaries] };
      made = meter?.createHistogram(name, { description, unit, advice });
    });
    return (value, attributes) => quietly(() => made?.record(value, { ...attributes }));
  };
  return {
    operation: histogram('gen_ai.client.operation.duration', 'GenAI operation duration.', 's', OPERATION_SECONDS),
    mcp: histogram(
      'mcp.client.operation.duration',
      'Duration of an MCP request, from the time it was sent until its answer was there.',
      's',
      MCP_SECONDS,
    ),
    tokens: histogram('gen_ai.client.token.usage', 'Number of input and output tokens used.', '{token}', TOKENS),
  };
}
