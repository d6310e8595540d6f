/**
 * Rule of this file: which tools of a request are strict is chosen over all of them, before any is sent, and by nothing but
 * the tools themselves: the same tools in the same order give the same choice, so that what a model has cached stays.
 */
import type { Reason, ToolDefinition } from '../contracts/index.ts';
import { type Strictness, strictTool } from './api-tool.ts';
import type { SchemaStep } from './schema-step.ts';
import { STRICT_LIMITS, type StrictNeeds } from './strict-needs.ts';

/**
 * - `asked`: the tools whose authors ask for it.
 * - `auto`: as many as the API's limits for a request leave room for.
 * - `off`: none.
 */
export type StrictMode = 'asked' | 'auto' | 'off';

/** What was chosen for one tool. */
export interface StrictChoice {
  readonly name: string;
  readonly strictness: Strictness;
  /** Whether its author asks for it. */
  readonly asked: boolean;
  /** Of a strict one: how its schema came to be what is sent. */
  readonly steps?: readonly SchemaStep[];
  /** Of a strict one: what it takes of a request's limits. */
  readonly needs?: StrictNeeds;
  /** Why it isn't strict, where it was to be. */
  readonly reason?: Reason;
}

export interface StrictPlan {
  /** In the order of the tools. */
  readonly choices: readonly StrictChoice[];
  /** What the strict tools, and what else is in the request, take of its limits. */
  readonly used: StrictNeeds & { readonly tools: number };
  /** What makes room for more, to be tried in this order; empty where nothing was left out for want of room. */
  readonly remedies: readonly string[];
}

export interface StrictPlanOptions {
  /** What else of the request takes of the limits: the schema that an answer is held to. */
  readonly beside?: StrictNeeds;
  /** By name, what was chosen before: that stays, and comes before all else. */
  readonly before?: ReadonlyMap<string, StrictChoice>;
}

/** What the API's pages advise, in their order. */
const REMEDIES = [
  'Ask for strict only where a wrong argument does harm.',
  'Let fewer properties be optional: require those that a call needs anyway.',
  'Make schemas simpler: fewer alternatives, less nesting.',
  'Split the tools: among several agents, or give some to a subagent.',
] as const;

interface Candidate {
  readonly tool: ToolDefinition;
  readonly at: number;
  readonly size: number;
}

/** Which tools of a request are strict: those asked for first, then those that change things, then the smallest. */
export function planStrict(
  tools: readonly ToolDefinition[],
  mode: StrictMode,
  { beside = { optional: 0, unions: 0 }, before = new Map() }: StrictPlanOptions = {},
): StrictPlan {
  const choices = new Map<number, StrictChoice>();
  const used = { tools: 0, ...beside };
  const take = (at: number, choice: StrictChoice, { optional, unions }: StrictNeeds): void => {
    used.tools += 1;
    used.optional += optional;
    used.unions += unions;
    choices.set(at, choice);
  };
  const candidates: Candidate[] = [];
  for (const [at, tool] of tools.entries()) {
    const kept = before.get(tool.ref.name);
    if (kept?.needs && overLimit(used, kept.needs) === null) take(at, kept, kept.needs);
    else if (kept && !kept.needs) choices.set(at, kept);
    else candidates.push({ tool, at, size: JSON.stringify(tool.inputSchema).length });
  }
  for (const { tool, at } of candidates.sort(byClaim)) {
    const name = tool.ref.name;
    const asked = tool.hints?.strict === true;
    const loose = (reason?: Reason) =>
      choices.set(at, { name, strictness: 'loose', asked, ...(reason !== undefined && { reason }) });
    const unwanted = whyUnwanted(tool, mode);
    if (unwanted !== null) {
      loose(unwanted === 'unasked' ? undefined : unwanted);
      continue;
    }
    let why: Reason | null = null;
    for (const strictness of ['strict', 'defaults_required'] as const) {
      const form = strictTool(tool, { defaultsRequired: strictness === 'defaults_required' });
      if ('refused' in form) {
        why ??= form.refused;
        break;
      }
      const over = overLimit(used, form.needs);
      if (over === null) {
        take(at, { name, strictness, asked, steps: form.steps, needs: form.needs }, form.needs);
        why = null;
        break;
      }
      why ??= over;
      // Only for want of room among the optional ones does it help to require some.
      if (over.code !== 'strict_over_optional') break;
    }
    if (why !== null) loose(why);
  }
  const isLeftOut = [...choices.values()].some(({ reason }) => reason?.code.startsWith('strict_over_'));
  return {
    choices: tools.flatMap((_, at) => choices.get(at) ?? []),
    used,
    remedies: isLeftOut ? REMEDIES : [],
  };
}

function byClaim(left: Candidate, right: Candidate): number {
  return rank(left.tool) - rank(right.tool) || left.size - right.size || left.at - right.at;
}

function rank({ hints, effect }: ToolDefinition): number {
  if (hints?.strict === true) return 0;
  return effect === 'read' ? 2 : 1;
}

/** Why nobody wants it strict, or null when somebody does; `unasked`: nobody said anything. */
function whyUnwanted({ hints }: ToolDefinition, mode: StrictMode): Reason | 'unasked' | null {
  if (mode === 'off') {
    return hints?.strict === true ? reason('strict_off', "It isn't strict: strict is off for this agent.") : 'unasked';
  }
  if (hints?.strict === true) return null;
  if (mode === 'asked') return 'unasked';
  return hints?.strict === false ? reason('strict_unwanted', "It isn't strict: its author wants it so.") : null;
}

function overLimit(used: StrictPlan['used'], needs: StrictNeeds): Reason | null {
  if (used.tools + 1 > STRICT_LIMITS.tools) {
    const text = `It isn't strict: a request takes ${STRICT_LIMITS.tools} strict tools, and others come first.`;
    return reason('strict_over_tools', text);
  }
  for (const [kind, what] of [
    ['optional', 'optional properties'],
    ['unions', 'properties of several types'],
  ] as const) {
    if (used[kind] + needs[kind] <= STRICT_LIMITS[kind]) continue;
    const text =
      `It isn't strict: it has ${needs[kind]} ${what}, what comes first has ${used[kind]}, and a request takes ` +
      `${STRICT_LIMITS[kind]} in its strict schemas.`;
    return reason(`strict_over_${kind}`, text);
  }
  return null;
}

function reason(code: string, text: string): Reason {
  return { room: 'tools', code, text };
}

/** Most tools that one notice names. */
const MOST_NAMED = 10;

/** What a developer has to hear of a plan: tools that were to be strict and aren't, and what helps. */
export function strictNotices({ choices, remedies }: StrictPlan): readonly Reason[] {
  const left = choices.filter(({ reason: why }) => why?.code.startsWith('strict_over_'));
  const impossible = choices.filter(
    ({ asked, reason: why }) => asked && why !== undefined && !left.some((one) => one.reason === why),
  );
  const named = (all: readonly StrictChoice[]): string => {
    const some = all.slice(0, MOST_NAMED).map(({ name, reason: why }) => `"${name}": ${why?.text ?? ''}`);
    return [...some, ...(all.length > MOST_NAMED ? [`And ${all.length - MOST_NAMED} more.`] : [])].join(' ');
  };
  return [
    ...(impossible.length > 0 ? [reason('strict_impossible', named(impossible))] : []),
    ...(left.length > 0
      ? [
          reason(
            'strict_limits',
            `${named(left)} What helps, in this order: ${remedies.map((each, at) => `${at + 1}. ${each}`).join(' ')}`,
          ),
        ]
      : []),
  ];
}
