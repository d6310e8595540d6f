import type { Policy } from '../../contracts/index.ts';
import type { Pins } from './pins.ts';

/** A policy that denies what the pins do not agree to, to be seen as to be called; the rest is decided as before. */
export function withPins(policy: Policy, known: Pick<Pins, 'verdict' | 'settled'>): Policy {
  return {
    view(who, tool) {
      const decision = policy.view(who, tool);
      const why = known.verdict(tool);
      return why ? { effect: 'deny', reasons: [why], policyVersion: decision.policyVersion } : decision;
    },
    async decide(who, tool, call) {
      known.verdict(tool);
      // What was pinned counts once it is on disk, where another process may have been quicker.
      await known.settled();
      const why = known.verdict(tool);
      if (!why) return policy.decide(who, tool, call);
      return { effect: 'deny', reasons: [why], policyVersion: policy.view(who, tool).policyVersion };
    },
  };
}
