import type { Decision, Identity, Policy, PolicyCall, Reason, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import type { HookSet, HookVerdict } from './hook-set.ts';

/** Most calls of which verdicts are kept, where many share a signal. */
const MOST_KEPT = 1_000;
const NEVER = new AbortController().signal;

/** Reasons of an `ask` that a hook's allow may answer: nobody said anything of the tool. */
const UNSAID: ReadonlySet<string> = new Set(['no_rule']);

/**
 * Puts the `PreToolUse` hooks before the rules. They can only tighten: a hook's deny and ask hold whatever the rules
 * say, its allow answers the question of a call that no rule names, and skips neither a deny nor an ask. What it changes
 * of the arguments goes back as `input`, to be validated and decided on again. `view` never asks a hook.
 */
export function withHooks(policy: Policy, hooks: HookSet): Policy {
  if (!hooks.has('PreToolUse')) return policy;
  const asked = askedOnce();
  return {
    view: (who, tool) => policy.view(who, tool),
    async decide(who, tool, call) {
      // A tool that nobody may see is denied whatever a hook says, so none is run for it.
      const view = policy.view(who, tool);
      if (view.effect === 'deny') return policy.decide(who, tool, call);
      const about = asked(who, tool, call);
      const verdict = await about.verdict(() =>
        hooks.run('PreToolUse', namesOf(tool), fieldsOf(who, tool, call), call.signal ?? NEVER),
      );
      const { permission, reasons, updatedInput } = verdict;
      const { policyVersion } = view;
      if (permission === 'deny') return { effect: 'deny', reasons, policyVersion };
      // Whatever becomes of the arguments: that somebody is to be asked about this call stands.
      if (permission === 'ask') about.asks.push(reasons);
      if (updatedInput && canonicalJson(updatedInput) !== canonicalJson(call.args)) {
        // Nothing is decided of arguments that won't be used; those that will be are decided on next.
        return { effect: 'ask', reasons, policyVersion, input: updatedInput };
      }
      const ruled = await policy.decide(who, tool, call);
      const [earlier] = about.asks;
      return joined(ruled, permission !== 'ask' && earlier ? { permission: 'ask', reasons: earlier } : verdict);
    },
  };
}

/** What hooks said of one call. */
interface Asked {
  /** The verdict on these arguments and facts: from the hooks, the first time. */
  verdict(ask: () => Promise<HookVerdict>): Promise<HookVerdict>;
  /** Reasons of those that want the call asked about, in the order of the rounds. */
  readonly asks: (readonly Reason[])[];
}

interface Kept extends Pick<Asked, 'asks'> {
  /** By arguments and facts. */
  readonly said: Map<string, Promise<HookVerdict>>;
}

/**
 * Keeps what hooks said for as long as a call is decided on. A call is known by its id and its signal: ids alone come
 * from models, and one that gives an id twice may not have an old answer.
 */
function askedOnce(): (who: Identity, tool: ToolDefinition, call: PolicyCall) => Asked {
  const bySignal = new WeakMap<AbortSignal, Map<string, Kept>>();
  return ({ agent, user }, { ref }, { args, callId, conversation, facts, signal }) => {
    if (callId === undefined || signal === undefined) return { verdict: (ask) => ask(), asks: [] };
    const calls = bySignal.get(signal) ?? new Map<string, Kept>();
    bySignal.set(signal, calls);
    const id = canonicalJson([agent, user ?? null, conversation ?? null, callId, ref.name, ref.fingerprint]);
    const about = sha256(canonicalJson([args, facts ?? null]));
    const kept: Kept = calls.get(id) ?? { said: new Map(), asks: [] };
    const { said, asks } = kept;
    calls.set(id, kept);
    for (const oldest of calls.keys()) {
      if (calls.size <= MOST_KEPT) break;
      calls.delete(oldest);
    }
    return {
      asks,
      verdict(ask) {
        const known = said.get(about) ?? ask();
        said.set(about, known);
        return known;
      },
    };
  };
}

function joined(ruled: Decision, { permission, reasons }: Pick<HookVerdict, 'permission' | 'reasons'>): Decision {
  if (ruled.effect === 'deny') return ruled;
  const decision: Decision = { ...ruled, reasons: [...reasons, ...ruled.reasons] };
  if (permission === 'ask') return { ...decision, effect: 'ask' };
  return permission === 'allow' && mayAnswer(ruled) ? { ...decision, effect: 'allow' } : decision;
}

function mayAnswer({ effect, reasons }: Decision): boolean {
  return effect === 'ask' && reasons.length > 0 && reasons.every(({ code }) => UNSAID.has(code));
}

/** The names by which a matcher may know a tool: its wire name, and as its server spells it. */
export function namesOf({ ref }: ToolDefinition): string[] {
  const spelled = ref.server === null ? ref.tool : `mcp__${ref.server.key}__${ref.tool}`;
  return spelled === ref.name ? [ref.name] : [ref.name, spelled];
}

function fieldsOf(who: Identity, tool: ToolDefinition, call: PolicyCall) {
  return {
    ...(call.conversation !== undefined && { session_id: call.conversation }),
    agent: who.agent,
    ...(who.user !== undefined && { user: who.user }),
    tool_name: tool.ref.name,
    tool_input: call.args,
    ...(call.callId !== undefined && { tool_use_id: call.callId }),
    ...(call.facts !== undefined && { bridle_facts: call.facts }),
  };
}
