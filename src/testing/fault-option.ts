import { BridleError } from '../tools/index.ts';
import { FAULT_KINDS, type Fault, type FaultKind } from './fault.ts';

/** Other names that people know these by. */
const ALIASES: ReadonlyMap<string, FaultKind> = new Map<string, FaultKind>([
  ['429', 'rate_limit'],
  ['529', 'overloaded'],
  ['500', 'server_error'],
]);

/**
 * Reads faults as a command line gives them, each as `KIND[:VALUE][@WHEN]`: `VALUE` is seconds for `rate_limit` and
 * milliseconds for `slow`, `WHEN` the number of the request that would get a reply, from 1 (the default), or `*`.
 *
 * @returns the faults by request, as `withFaults` takes them
 * @throws BridleError `usage` naming what can't be read
 *
 * @example readFaults(['429:2', 'truncate_call@3', 'slow:50@*'])
 */
export function readFaults(texts: readonly string[]): ReadonlyMap<number | '*', Fault> {
  const faults = new Map<number | '*', Fault>();
  for (const text of texts) {
    const [, name = '', value, when = '1'] = /^([a-z0-9_]+)(?::(\d+))?(?:@(\d+|\*))?$/.exec(text) ?? [];
    const kind = ALIASES.get(name) ?? name;
    if (!isKind(kind) || when === '0') {
      throw new BridleError('usage', `'${text}' is no fault.`, {
        hint: `It is KIND[:VALUE][@N], N being the request or *, KIND one of ${[...FAULT_KINDS.keys()].join(', ')}.`,
      });
    }
    const takesValue = kind === 'rate_limit' || kind === 'slow';
    if (value !== undefined && !takesValue) {
      throw new BridleError('usage', `'${text}': ${kind} takes no value.`, { hint: `Write ${kind} or ${kind}@N.` });
    }
    faults.set(when === '*' ? '*' : Number(when), faultOf(kind, value === undefined ? undefined : Number(value)));
  }
  return faults;
}

function isKind(name: string): name is FaultKind {
  return FAULT_KINDS.has(name as FaultKind);
}

function faultOf(kind: FaultKind, value: number | undefined): Fault {
  switch (kind) {
    case 'rate_limit':
      return { kind, retryAfter: value ?? 1 };
    case 'slow':
      return { kind, ms: value ?? 200 };
    default:
      return { kind };
  }
}
