import type {
  Decision,
  Identity,
  Json,
  JsonObject,
  Origin,
  Policy,
  PolicyCall,
  Reason,
  ToolDefinition,
} from '../../contracts/index.ts';
import { canonicalJson, isJsonObject } from '../../tools/index.ts';

/**
 * Asks the policy twice about a view: under its own name, and about the tool behind it with the arguments that one
 * would get. The stricter answer counts, so neither name loosens what is said of the other. All other tools go through
 * as they are.
 */
export function withViews(policy: Policy): Policy {
  return {
    view(who, tool) {
      const own = policy.view(who, tool);
      return tool.narrows ? stricter(own, policy.view(who, behindView(tool, tool.narrows.of))) : own;
    },
    decide: (who, tool, call) => (tool.narrows ? decideBoth(policy, who, tool, call) : policy.decide(who, tool, call)),
  };
}

/** One each, so that whoever keeps what it was asked about keeps no more than there are. */
const behindViews = new WeakMap<ToolDefinition, ToolDefinition>();

/** The tool behind a view, as that. */
function behindView(view: ToolDefinition, of: ToolDefinition): ToolDefinition {
  const known = behindViews.get(view) ?? { ...of, behindView: view };
  behindViews.set(view, known);
  return known;
}

async function decideBoth(policy: Policy, who: Identity, tool: ToolDefinition, call: PolicyCall): Promise<Decision> {
  const { narrows } = tool;
  const own = await policy.decide(who, tool, call);
  // With changed arguments all of this is asked again; with those that are the same it isn't.
  if (!narrows || (own.input !== undefined && !isSame(own.input, call.args))) return own;
  const behind = call.behind ?? (await behindOf(tool, call, who));
  if (behind === undefined) return denied(own, 'view_refuses', 'The view refuses these arguments.');
  const { behind: _, origins, ...same } = call;
  const passed = origins && passedOrigins(origins, narrows.passed);
  const other = await policy.decide(who, behindView(tool, narrows.of), {
    ...same,
    args: behind,
    ...(passed && { origins: passed }),
  });
  if (other.input !== undefined && canonicalJson(other.input) !== canonicalJson(behind)) {
    const text = 'A hook changes what the tool behind the view gets, which the view does not allow.';
    return denied(own, 'view_refuses', text);
  }
  return stricter(own, other);
}

/** As the dispatcher compares: what JSON leaves out makes no other arguments. */
function isSame(input: Json, args: Json): boolean {
  return canonicalJson(JSON.parse(JSON.stringify(input)) as Json) === canonicalJson(args);
}

async function behindOf(
  { narrows }: ToolDefinition,
  { args }: PolicyCall,
  who: Identity,
): Promise<JsonObject | undefined> {
  if (!narrows || !isJsonObject(args)) return undefined;
  const mapped = await narrows.arguments(args, who);
  return 'args' in mapped ? mapped.args : undefined;
}

/** What the view puts in came from nowhere that is known. */
function passedOrigins(origins: ReadonlyMap<string, Origin>, passed: ReadonlySet<string>): ReadonlyMap<string, Origin> {
  const nameOf = (pointer: string) => (pointer.split('/')[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
  return new Map([...origins].filter(([pointer]) => passed.has(nameOf(pointer))));
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

function stricter(own: Decision, behind: Decision): Decision {
  const difference = STRICTNESS[own.effect] - STRICTNESS[behind.effect];
  const effect = difference >= 0 ? own.effect : behind.effect;
  const reasons =
    difference === 0 ? distinct([...own.reasons, ...behind.reasons]) : difference > 0 ? own.reasons : behind.reasons;
  const needs = own.needs ?? behind.needs;
  return { effect, reasons, policyVersion: own.policyVersion, ...(needs && { needs }) };
}

function distinct(reasons: readonly Reason[]): readonly Reason[] {
  return [...new Map(reasons.map((reason) => [reason.text, reason])).values()];
}

function denied({ policyVersion }: Decision, code: string, text: string): Decision {
  return { effect: 'deny', reasons: [{ room: 'policy', code, text }], policyVersion };
}
