import type { Decision, Identity, Policy, PolicyCall, Reason, ToolDefinition } from '../contracts/index.ts';
import { evaluate, FACTS_MISSING, type Sight } from './condition.ts';
import type { Rule, RuleKind } from './layer.ts';
import { type Mode, modeAnswer } from './mode.ts';
import type { PatternBook } from './patterns.ts';
import { type RuleSet, ruleFor, toolNames } from './rule-set.ts';

export interface RuleSource {
  readonly sets: Readonly<Record<RuleKind, RuleSet>>;
  readonly mode: Mode;
  readonly version: string;
  readonly patterns: PatternBook;
  /** Absolute. */
  readonly root: string;
}

/** The rules that name a tool, by kind. */
type Naming = Readonly<Record<RuleKind, readonly Rule[]>>;

/** A rule that holds, and what isn't known although it looks at it. */
interface Hit {
  readonly rule: Rule;
  readonly missing: readonly string[];
}

/** `open`: a rule of which only a call will tell. `failed`: an allow rule that names the tool and doesn't hold. */
interface Found {
  readonly hit?: Hit;
  readonly open?: Rule;
  readonly failed?: Hit;
}

type Settled = Pick<Decision, 'effect' | 'reasons'>;

/** The policy of compiled rules: one pass through the order, for a tool and for a call of it. */
export function rulePolicy(source: RuleSource): Policy {
  const { sets, mode, version, patterns, root } = source;
  const naming = new WeakMap<ToolDefinition, Naming>();
  /** Of tools whose rules have no conditions: every call of them is decided alike. */
  const settled = new WeakMap<ToolDefinition, Decision>();

  const rulesOf = (tool: ToolDefinition): Naming => {
    const known = naming.get(tool);
    if (known) return known;
    const found = namingRules(sets, tool);
    naming.set(tool, found);
    return found;
  };
  const always = (tool: ToolDefinition): Decision | undefined => {
    const known = settled.get(tool);
    if (known) return known;
    const rules = rulesOf(tool);
    const [deny] = rules.deny;
    const isFixed = (deny && !deny.when) || ![...rules.deny, ...rules.ask, ...rules.allow].some(({ when }) => when);
    if (!isFixed) return undefined;
    const hit = (rule: Rule | undefined): Found => (rule ? { hit: { rule, missing: [] } } : {});
    const decision = {
      ...settle(mode, tool, { deny: hit(deny), ask: hit(rules.ask[0]), allow: hit(rules.allow[0]) }),
      policyVersion: version,
    };
    settled.set(tool, decision);
    return decision;
  };
  const found = (tool: ToolDefinition, sight: Sight): Record<RuleKind, Found> => {
    const rules = rulesOf(tool);
    return { deny: first(rules.deny, sight), ask: first(rules.ask, sight), allow: first(rules.allow, sight) };
  };
  const decideNow = (who: Identity, tool: ToolDefinition, call: PolicyCall): Decision => {
    const missing = new Set<string>();
    const sight: Sight = { who, patterns, root, missing, call: { ...call, at: call.at ?? Date.now() } };
    const decision = { ...settle(mode, tool, found(tool, sight)), policyVersion: version };
    const wantsFacts = call.facts === undefined && missing.has(FACTS_MISSING);
    return wantsFacts ? { ...decision, needs: ['facts'] } : decision;
  };
  return {
    view(who, tool) {
      const fixed = always(tool);
      if (fixed) return fixed;
      const sight: Sight = { who, patterns, root, missing: new Set() };
      return { ...settleView(mode, tool, found(tool, sight)), policyVersion: version };
    },
    decide(who, tool, call) {
      const fixed = always(tool);
      if (fixed) return fixed;
      if (patterns.isReady) return decideNow(who, tool, call);
      return patterns.load().then(() => decideNow(who, tool, call));
    },
  };
}

function namingRules(sets: RuleSource['sets'], tool: ToolDefinition): Naming {
  const { strict, wide } = toolNames(tool);
  const inProcess = tool.ref.server === null;
  return {
    deny: sets.deny.find(wide, inProcess),
    ask: sets.ask.find(wide, inProcess),
    allow: sets.allow.find(strict, inProcess),
  };
}

/** What isn't known counts against the call: an allow rule doesn't hold, a deny or ask rule does. */
function first(rules: readonly Rule[], sight: Sight): Found {
  let open: Rule | undefined;
  let failed: Hit | undefined;
  for (const rule of rules) {
    const missing = new Set<string>();
    const truth = rule.when ? evaluate(rule.when, { ...sight, missing }) : 'yes';
    for (const what of missing) sight.missing.add(what);
    const holds = truth === 'yes' || (truth === 'unknown' && rule.kind !== 'allow');
    if (holds) return { hit: { rule, missing: truth === 'unknown' ? [...missing] : [] }, ...(open && { open }) };
    if (truth === 'open') open ??= rule;
    else failed ??= { rule, missing: [...missing] };
  }
  return { ...(open && { open }), ...(failed && { failed }) };
}

/** One pass through the order: deny, ask, mode, allow, the person. */
function settle(mode: Mode, tool: ToolDefinition, { deny, ask, allow }: Readonly<Record<RuleKind, Found>>): Settled {
  if (deny.hit) return { effect: 'deny', reasons: [ruleReason(deny.hit)] };
  const askReasons = ask.hit ? [ruleReason(ask.hit)] : [];
  const byMode = modeAnswer(mode, tool, ask.hit !== undefined);
  if (byMode) return { effect: byMode.effect, reasons: [...askReasons, modeReason(mode, byMode.text)] };
  if (!ask.hit && allow.hit) return { effect: 'allow', reasons: [ruleReason(allow.hit)] };
  const reasons = ask.hit ? askReasons : [allow.failed ? notMet(allow.failed) : noRule(tool)];
  if (mode !== 'dontAsk') return { effect: 'ask', reasons };
  return { effect: 'deny', reasons: [...reasons, modeReason(mode, 'Mode dontAsk denies what would be asked.')] };
}

/**
 * What can be said without a call. Where calls can end differently it is `ask`: never `deny`, as what the view denies
 * every decision has to deny.
 */
function settleView(mode: Mode, tool: ToolDefinition, found: Readonly<Record<RuleKind, Found>>): Settled {
  const { deny, ask, allow } = found;
  if (deny.hit) return settle(mode, tool, found);
  const ends: Settled[] = [];
  for (const oneAsk of either(ask)) {
    for (const oneAllow of either(allow)) ends.push(settle(mode, tool, { deny: {}, ask: oneAsk, allow: oneAllow }));
  }
  const [end] = ends;
  const isOne = end && ends.every(({ effect }) => effect === end.effect);
  if (isOne && (!deny.open || end.effect === 'deny')) return end;
  const rules = [deny.open, ask.hit ? undefined : ask.open, allow.hit ? undefined : allow.open];
  const reasons = rules.flatMap((rule) => (rule ? [dependsReason(rule)] : []));
  return { effect: 'ask', reasons };
}

/** With and without the rule of which only a call will tell. */
function either({ hit, open, failed }: Found): readonly Found[] {
  if (hit || !open) return [{ ...(hit && { hit }), ...(failed && { failed }) }];
  return [{ hit: { rule: open, missing: [] } }, { ...(failed && { failed }) }];
}

function ruleReason({ rule, missing }: Hit): Reason {
  const does = { deny: 'denies it', ask: 'wants it asked about', allow: 'allows it' }[rule.kind];
  const said = rule.why === undefined ? '' : ` Its reason: ${rule.why}`;
  const unknown = missing.length === 0 ? '' : ` It holds because this is not known: ${missing.join(', ')}.`;
  return reasonOf(rule, `${rule.kind}_rule`, `${nameOf(rule)} ${does}.${unknown}${said}`);
}

function notMet({ rule, missing }: Hit): Reason {
  const unknown =
    missing.length === 0 ? '' : `: not known, or of another type than it compares with: ${missing.join(', ')}`;
  return reasonOf(rule, 'allow_not_met', `${nameOf(rule)} names this tool, but doesn't hold for this call${unknown}.`);
}

function dependsReason(rule: Rule): Reason {
  return reasonOf(rule, 'depends_on_call', `${nameOf(rule)} holds for some calls only, so it depends on the call.`);
}

function nameOf({ kind, text, scope }: Rule): string {
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  return `The ${kind} rule "${shown}" of the ${scope} layer`;
}

const MOST_SHOWN = 300;

function reasonOf({ source }: Rule, code: string, text: string): Reason {
  return { room: 'policy', code, text, source };
}

function modeReason(mode: Mode, text: string): Reason {
  return { room: 'policy', code: `mode_${mode}`, text };
}

function noRule(tool: ToolDefinition): Reason {
  const text = `No rule names this tool. To run it without a question, add "${ruleFor(tool)}" to permissions.allow.`;
  return { room: 'policy', code: 'no_rule', text };
}
