import type { RunResumed } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { type Next, still } from '../finish.ts';
import { request } from '../request.ts';
import type { LoopState } from '../state.ts';
import { toCheck } from '../structured-output.ts';
import { limitsOf } from './journal-config.ts';

/** A run that broke off goes on: what is waited for is asked for once more. */
export function onResume(state: LoopState, event: RunResumed & { readonly at: number }): Next {
  const { config, startedAt } = state;
  const now: LoopState = {
    ...state,
    startedAt: startedAt === null ? null : startedAt + Math.max(0, event.idleMs),
    ...(event.limits !== undefined && {
      config: { ...config, limits: limitsOf(event.limits, config.limits) },
    }),
  };
  if (now.waitingFor === 'model') return request(now, event.at);
  if (now.waitingFor === 'check') return toCheck(now);
  if (now.waitingFor !== 'calls') return still(now);
  return {
    state: now,
    effects: now.running
      .filter(({ id }) => event.again.includes(id))
      .map(({ id, input, ...call }) => ({ ...call, type: 'call', callId: id, args: rawFrom(input) })),
  };
}
