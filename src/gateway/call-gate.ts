import type { Dispatcher, Failure, Outcome } from '../contracts/index.ts';
import type { CallLimits, GatewayAgent } from './gateway-config.ts';

const MINUTE_MS = 60_000;

export interface GateCounts {
  /** Calls under way. */
  readonly underWay: number;
  /** Calls that were let in, and those that weren't, since the gateway began. */
  readonly calls: number;
  readonly refused: number;
  /** It is about to end, and lets none in. */
  readonly isDraining: boolean;
}

/** Lets calls in, each agent within its limits, until the gateway is about to end. */
export interface CallGate {
  call: Dispatcher['call'];
  counts(): GateCounts;
  /** From now on no call is let in. Resolves when those under way have ended, or after `ms`. */
  drain(ms: number): Promise<void>;
}

interface Busy {
  concurrent: number;
  /** When the calls of the last minute came, oldest first, where they are counted. */
  readonly times: number[];
}

/**
 * @param now monotonic, in milliseconds
 */
export function callGate(
  call: Dispatcher['call'],
  agents: ReadonlyMap<string, GatewayAgent>,
  now: () => number = () => performance.now(),
): CallGate {
  const busy = new Map<string, Busy>();
  let underWay = 0;
  let calls = 0;
  let refused = 0;
  let drained: (() => void) | undefined;
  let isDraining = false;

  const busyOf = (agent: string): Busy => {
    const known = busy.get(agent);
    if (known) return known;
    const fresh: Busy = { concurrent: 0, times: [] };
    busy.set(agent, fresh);
    return fresh;
  };
  return {
    async call(request) {
      const { agent } = request.ctx.who;
      const limits = agents.get(agent)?.limits ?? {};
      const state = busyOf(agent);
      const why = isDraining ? ENDING : overLimit(agent, limits, state, now());
      if (why !== undefined) {
        refused += 1;
        return notLetIn(why);
      }
      if (limits.callsPerMinute !== undefined) state.times.push(now());
      state.concurrent += 1;
      underWay += 1;
      calls += 1;
      try {
        return await call(request);
      } finally {
        state.concurrent -= 1;
        underWay -= 1;
        if (underWay === 0) drained?.();
      }
    },
    counts: () => ({ underWay, calls, refused, isDraining }),
    async drain(ms) {
      isDraining = true;
      if (underWay === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        drained = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    },
  };
}

const ENDING = 'The gateway is about to end and takes no more calls. Make the call again in a moment.';

function overLimit(
  agent: string,
  { concurrentCalls, callsPerMinute }: CallLimits,
  { concurrent, times }: Busy,
  now: number,
): string | undefined {
  if (concurrentCalls !== undefined && concurrent >= concurrentCalls) {
    return `${agent} has ${concurrent} calls under way, which is as many as it may have at once. Wait for one of them to end.`;
  }
  if (callsPerMinute === undefined) return undefined;
  while (times[0] !== undefined && times[0] <= now - MINUTE_MS) times.shift();
  const [oldest] = times;
  if (oldest === undefined || times.length < callsPerMinute) return undefined;
  const seconds = Math.max(1, Math.ceil((oldest + MINUTE_MS - now) / 1000));
  return `${agent} made ${callsPerMinute} calls within a minute, which is as many as it may make. Make the call again in ${seconds} seconds.`;
}

function notLetIn(message: string): Outcome {
  const failure: Failure = {
    category: 'transient',
    retryable: true,
    message,
    executed: 'not_executed',
    attempts: [],
  };
  return { kind: 'failed', failure };
}
