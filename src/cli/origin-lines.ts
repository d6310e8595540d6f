import type { CallOutcomeRecord } from '../contracts/index.ts';
import { printable } from '../tools/index.ts';

const MOST_SHOWN = 12;

/** Where the arguments of a recorded call came from, and what had entered the conversation. Files come from outside. */
export function originLines({ origins, labels }: Pick<CallOutcomeRecord, 'origins' | 'labels'>): readonly string[] {
  const all = Object.entries(isObject(origins) ? origins : {});
  const shown = all.slice(0, MOST_SHOWN).map(([pointer, origin]) => {
    const { from, callId, server } = (isObject(origin) ? origin : {}) as Readonly<Record<string, unknown>>;
    const result = `result ${String(callId)}${typeof server === 'string' ? ` of ${server}` : ''}`;
    return printable(`${pointer || 'the arguments'} ${from === 'result' ? result : String(from)}`);
  });
  const more = all.length > MOST_SHOWN ? [`and ${all.length - MOST_SHOWN} more`] : [];
  const lines = all.length === 0 ? [] : [`came from: ${[...shown, ...more].join(', ')}`];
  const entered = Array.isArray(labels) ? labels.map(String) : [];
  return entered.length === 0 ? lines : [...lines, printable(`entered before: ${entered.join(', ')}`)];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
