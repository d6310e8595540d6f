import type { DispatchRequest } from './call-path.ts';

/** The ids of the calls that are under way. */
export interface CallIds {
  /** The call's own id, or that with a number where a call of the same conversation has it already. */
  take(request: DispatchRequest): { readonly callId: string; release(): void };
}

export function callIds(): CallIds {
  const taken = new Set<string>();
  return {
    take({ conversation, ctx }) {
      for (let nth = 1; ; nth += 1) {
        const callId = nth === 1 ? ctx.callId : `${ctx.callId}#${nth}`;
        // With its length, no conversation's name can run into an id.
        const key = `${conversation.length} ${conversation}${callId}`;
        if (taken.has(key)) continue;
        taken.add(key);
        return { callId, release: () => void taken.delete(key) };
      }
    },
  };
}
