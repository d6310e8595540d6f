/** Makes for the tests of this folder. */
import type { AskQuestion, Decision, Store } from '../../contracts/index.ts';
import { tool } from '../fixtures.ts';
import { type Approvals, approvals } from './approvals.ts';
import type { ApprovalsOptions } from './settings.ts';

const KEY = 'a key for tests, of enough bytes';

/** A clock that stands until it is moved. */
export function standingClock(start = 1_800_000_000_000) {
  let time = start;
  return {
    now: () => time,
    move(ms: number) {
      time += ms;
    },
  };
}

export function inboxOf(store: Store, more: Partial<ApprovalsOptions> = {}): Approvals {
  return approvals({ store, key: KEY, place: '/project', ...more });
}

const NO_RULE: Decision = {
  effect: 'ask',
  reasons: [{ room: 'policy', code: 'no_rule', text: 'No rule names this tool.' }],
  policyVersion: 'p1',
};

export const ASK_RULE: Decision = {
  effect: 'ask',
  reasons: [{ room: 'policy', code: 'ask_rule', text: 'An ask rule names it.' }],
  policyVersion: 'p1',
};

export const HOOK_ASKS: Decision = {
  effect: 'ask',
  reasons: [{ room: 'policy', code: 'hook_ask', text: 'A hook wants it asked about.' }, ...NO_RULE.reasons],
  policyVersion: 'p1',
};

export function question(more: Partial<AskQuestion> = {}): AskQuestion {
  return {
    callId: 'call-1',
    who: { agent: 'main', user: 'mina', via: 'terminal' },
    tool: tool('shop', 'refund'),
    args: { order: 'O-104', amount: 5 },
    decision: NO_RULE,
    signal: new AbortController().signal,
    ...more,
  };
}
