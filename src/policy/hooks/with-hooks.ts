import type { Decision, Identity, Policy, PolicyCall, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import type { HookSet, HookVerdict } from './hook-set.ts';

/** Most verdicts kept: rounds of a decision on one call ask the hooks once. */
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
  const kept = new Map<string, Promise<HookVerdict>>();

  const verdictOn = (who: Identity, tool: ToolDefinition, call: PolicyCall): Promise<HookVerdict> => {
    const ask = () => hooks.run('PreToolUse', namesOf(tool), fieldsOf(who, tool, call), call.signal ?? NEVER);
    if (call.callId === undefined) return ask();
    const key = sha256(canonicalJson([call.conversation ?? '', call.callId, tool.ref.name, call.args]));
    const known = kept.get(key);
    if (known) return known;
    const verdict = ask();
    kept.set(key, verdict);
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) break;
      kept.delete(oldest);
    }
    return verdict;
  };

  return {
    view: (who, tool) => policy.view(who, tool),
    async decide(who, tool, call) {
      // A tool that nobody may see is denied whatever a hook says, so none is run for it.
      const view = policy.view(who, tool);
      if (view.effect === 'deny') return policy.decide(who, tool, call);
      const verdict = await verdictOn(who, tool, call);
      const { permission, reasons, updatedInput } = verdict;
      const { policyVersion } = view;
      if (permission === 'deny') return { effect: 'deny', reasons, policyVersion };
      if (updatedInput && canonicalJson(updatedInput) !== canonicalJson(call.args)) {
        // Nothing is decided of arguments that won't be used; those that will be are decided on next.
        return { effect: 'ask', reasons, policyVersion, input: updatedInput };
      }
      const ruled = await policy.decide(who, tool, call);
      return joined(ruled, verdict);
    },
  };
}

function joined(ruled: Decision, { permission, reasons }: HookVerdict): Decision {
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
