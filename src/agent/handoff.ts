import type { Handoff } from './events.ts';
import type { LoopState } from './state.ts';

/**
 * What whoever takes over a run that has ended needs.
 *
 * @param reason why it is handed over: the name of a limit
 */
export function handoff(state: LoopState, reason: string, message: string): Handoff {
  return {
    reason,
    message,
    tried: state.tried,
    pending: [
      ...state.left.map(({ id, name, input }) => ({ kind: 'call' as const, callId: id, name, args: input })),
      ...state.parked.map((parked) => ({ kind: 'approval' as const, ...parked })),
    ],
    text: state.text,
  };
}
