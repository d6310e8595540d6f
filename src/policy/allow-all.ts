import type { Decision, Policy } from '../contracts/index.ts';

const ALLOWED: Decision = {
  effect: 'allow',
  reasons: [{ room: 'policy', code: 'allow_all', text: 'This host allows every tool that it offers.' }],
  policyVersion: 'allow-all',
};

/** For a server author's own host: what is offered may be called, and the client that calls decides for its user. */
export function allowAll(): Policy {
  return { view: () => ALLOWED, decide: () => ALLOWED };
}
