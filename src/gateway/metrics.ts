import type { CallOutcomeRecord, Recorder } from '../contracts/index.ts';
import type { GatewayStatus } from './status.ts';

/** Counts calls by agent and end, and tells them as Prometheus reads them (text format 0.0.4). */
export interface GatewayMetrics {
  readonly recorder: Recorder;
  text(status: GatewayStatus): string;
}

/** Ends of calls by agent, and how long they took together, in seconds. */
interface Counted {
  readonly ends: Map<string, number>;
  seconds: number;
  count: number;
}

export function gatewayMetrics(): GatewayMetrics {
  const agents = new Map<string, Counted>();
  return {
    recorder: {
      intent: async () => {},
      outcome(call) {
        const counted = agents.get(call.who.agent) ?? { ends: new Map(), seconds: 0, count: 0 };
        agents.set(call.who.agent, counted);
        const end = endOf(call);
        counted.ends.set(end, (counted.ends.get(end) ?? 0) + 1);
        counted.seconds += call.ms / 1000;
        counted.count += 1;
      },
    },
    text({ servers, calls, waiting }) {
      const ends = [...agents].flatMap(([agent, counted]) =>
        [...counted.ends].map(([end, count]) => [{ agent, end }, count] as const),
      );
      const all = [...agents];
      return [
        ...family('bridle_gateway_calls_total', 'counter', 'Calls that ended, by agent and end.', ends),
        ...family('bridle_gateway_call_seconds_sum', 'counter', 'Seconds that calls took together, by agent.', [
          ...all.map(([agent, { seconds }]) => [{ agent }, seconds] as const),
        ]),
        ...family('bridle_gateway_call_seconds_count', 'counter', 'Calls that were timed, by agent.', [
          ...all.map(([agent, { count }]) => [{ agent }, count] as const),
        ]),
        ...family('bridle_gateway_calls_refused_total', 'counter', 'Calls that were not let in.', [
          [{}, calls.refused],
        ]),
        ...family('bridle_gateway_calls_under_way', 'gauge', 'Calls under way.', [[{}, calls.underWay]]),
        ...family('bridle_gateway_calls_waiting', 'gauge', 'Calls that wait for answers of their clients.', [
          [{}, waiting],
        ]),
        ...family('bridle_gateway_server_ready', 'gauge', 'Whether the tools of a server are there.', [
          ...servers.map(({ server, state }) => [{ server }, state === 'ready' ? 1 : 0] as const),
        ]),
        ...family('bridle_gateway_server_tools', 'gauge', 'Tools of a server.', [
          ...servers.map(({ server, tools }) => [{ server }, tools] as const),
        ]),
        '',
      ].join('\n');
    },
  };
}

export function endOf({ outcome }: CallOutcomeRecord): string {
  return outcome.kind === 'ok' && outcome.isError ? 'error' : outcome.kind;
}

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

function family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string[] {
  const lines = samples.map(([labels, value]) => {
    const named = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${name}${named.length > 0 ? `{${named.join(',')}}` : ''} ${value}`;
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
