import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../contracts/index.ts';
import type { Fault } from '../fault.ts';
import { ConnectionClosed } from './exchange.ts';
import { refusalBody } from './refusal.ts';
import type { Split } from './split.ts';
import { streamEvents } from './stream-events.ts';

/** An event as it goes over the wire. */
function eventText(event: JsonObject): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The body of a streamed reply, with what the fault does to it on its way. */
export async function* streamBody(
  message: JsonObject,
  options: {
    readonly split: Split;
    readonly fault: Fault | undefined;
    readonly requestId: string;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<string> {
  const { split, fault, requestId, signal } = options;
  const events = [...streamEvents(message, { split, cutInput: fault?.kind === 'truncate_call' })];
  const middle = Math.floor(events.length / 2);
  for (const [at, event] of events.entries()) {
    if (signal.aborted) return;
    if (at === middle && fault?.kind === 'drop_during') throw new ConnectionClosed();
    if (at === middle && fault?.kind === 'error_during') {
      const refusal = { status: 529, type: 'overloaded_error', message: 'Overloaded' };
      yield eventText(refusalBody(refusal, requestId));
      return;
    }
    if (fault?.kind === 'slow') await delay(fault.ms, undefined, { signal }).catch(() => undefined);
    yield eventText(event);
  }
}
