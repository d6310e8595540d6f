import type { CallContext, Json, Outcome, Reason } from '../contracts/index.ts';
import { canonicalJson, rawFrom, resolvePointer, wireName } from '../tools/index.ts';
import { type FixedArguments, isTooDeep } from './arguments.ts';
import type { Call, Path, Prepared, ToolPreview } from './call-path.ts';
import { errorText, shown } from './outcomes.ts';
import { withinLimits } from './within-limits.ts';

/** What is known of a call's facts. `canonical` is what approvals are bound to and compared by. */
export type Facts =
  | { readonly state: 'none' }
  | { readonly state: 'not_gathered' }
  | { readonly state: 'known'; readonly value: Json; readonly canonical: string }
  | { readonly state: 'missing'; readonly why: string };

/** More than this isn't something that a person reads before approving. */
const MOST_FACTS = 64_000;

/** Facts before any preview ran. */
export function openFacts({ tool }: Pick<Prepared, 'tool'>): Facts {
  return { state: (tool.narrows?.of ?? tool).preview ? 'not_gathered' : 'none' };
}

/** Runs the tool's preview for these arguments. Never throws: what can't be had is `missing`, with why. */
export async function gatherFacts(
  path: Path,
  call: Call,
  { tool, source }: Pick<Prepared, 'tool' | 'source'>,
  given: FixedArguments,
): Promise<Facts> {
  // A view has no preview of its own: what matters is what the tool behind it would do.
  const target = { tool: tool.narrows?.of ?? tool, source };
  const args = given.behind ?? given;
  const plan = target.tool.preview;
  if (!plan) return { state: 'none' };
  call.notes.previews += 1;
  const ctx = previewContext(call);
  try {
    if (plan.kind === 'author') return await authorFacts(path, call, target, args, ctx);
    return await toolFacts(path, call, target, args, plan, ctx);
  } catch (error) {
    return missing(`The preview failed: ${errorText(error)}`);
  }
}

/** The preview's calls are told apart from the call itself, and say nothing to its listener. */
function previewContext(call: Call): CallContext {
  const nth = call.notes.previews > 1 ? String(call.notes.previews) : '';
  const { who, signal } = call.ctx;
  return { callId: `${call.ctx.callId}.preview${nth}`, who, signal, idleMs: call.idleMs, hardMs: call.hardMs };
}

async function authorFacts(
  path: Path,
  call: Call,
  { tool, source }: Pick<Prepared, 'tool' | 'source'>,
  args: FixedArguments,
  ctx: CallContext,
): Promise<Facts> {
  const run = await withinLimits(
    async ({ signal }) => {
      if (!source.preview) throw new Error('the source has no preview function');
      return source.preview(tool.ref.tool, args.value(), { ...ctx, signal });
    },
    { signal: ctx.signal, clock: path.clock, idleMs: call.idleMs, hardMs: call.hardMs },
  );
  switch (run.end) {
    case 'settled':
      return known(run.value);
    case 'threw':
      return missing(`The preview failed: ${errorText(run.error)}`);
    case 'limit':
      return missing(`The preview gave no answer within its ${run.which} limit of ${run.ms} ms.`);
    case 'cancelled':
      return missing('The call was cancelled.');
  }
}

async function toolFacts(
  path: Path,
  call: Call,
  { tool, source }: Pick<Prepared, 'tool' | 'source'>,
  args: FixedArguments,
  plan: ToolPreview,
  ctx: CallContext,
): Promise<Facts> {
  const label = `The preview tool "${shown(plan.tool, 80)}"`;
  const server = tool.ref.server;
  const name = wireName(server?.key ?? null, plan.tool);
  const found = path.find(name);
  if (!found || found.source !== source || found.tool.ref.tool !== plan.tool) {
    return missing(`${label} is not among the tools of the same server.`);
  }
  const mapped = mapArguments(args.value(), plan.arguments);
  if ('pointer' in mapped) {
    return missing(
      `${label} needs "${mapped.name}" from ${mapped.pointer || 'the arguments'}, which this call doesn't have.`,
    );
  }
  const { profile, conversation, provenance } = call.request;
  const outcome = await path.preview(
    { name, args: rawFrom(mapped.args), profile, conversation, ...(provenance && { provenance }), ctx },
    plan,
  );
  return factsOf(outcome, label);
}

function mapArguments(
  args: Json,
  plan: ToolPreview['arguments'],
): { args: { [k: string]: Json } } | { name: string; pointer: string } {
  const mapped: [string, Json][] = [];
  for (const [name, pointer] of Object.entries(plan)) {
    const value = resolvePointer(args, pointer);
    if (value === undefined) return { name, pointer };
    mapped.push([name, value]);
  }
  return { args: Object.fromEntries(mapped) };
}

function factsOf(outcome: Outcome, label: string): Facts {
  switch (outcome.kind) {
    case 'ok': {
      const answer = readAnswer(outcome.raw.parse());
      if (outcome.isError) return missing(`${label} answered with an error: ${shown(asText(answer))}`);
      return answer === undefined ? missing(`${label} answered without data or text.`) : known(answer);
    }
    case 'failed':
    case 'cancelled':
      return missing(`${label} failed: ${shown(outcome.failure.message)}`);
    case 'input_required':
      return missing(`${label} asked for input, which a preview can't give.`);
    case 'unknown_tool':
    case 'invalid':
    case 'denied':
    case 'parked':
      return missing(`${label} could not be run: ${shown(texts(outcome.reasons))}`);
  }
}

function texts(reasons: readonly Reason[]): string {
  return reasons.map(({ text }) => text).join(' ');
}

/** Structured content, else the one text parsed as JSON, else the text. `undefined` when there is neither. */
function readAnswer(result: Json): Json | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  if (result.structuredContent !== undefined) return result.structuredContent;
  const blocks = Array.isArray(result.content) ? result.content : [];
  const pieces = blocks.flatMap((block) =>
    typeof block === 'object' && block !== null && 'text' in block && typeof block.text === 'string'
      ? [block.text]
      : [],
  );
  const text = pieces.join('\n');
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function asText(answer: Json | undefined): string {
  return typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? 'without a text');
}

/** `value` comes from foreign code, whatever its type says: it is fixed as JSON before anybody relies on it. */
function known(value: unknown): Facts {
  try {
    const text = JSON.stringify(value);
    if (text === undefined) return missing('The preview gave no data.');
    if (text.length > MOST_FACTS) return missing(`The preview gave ${text.length} characters, more than can be shown.`);
    const fixed = JSON.parse(text) as Json;
    if (isTooDeep(fixed)) return missing('The preview gave something that is nested too deeply to be shown.');
    return { state: 'known', value: fixed, canonical: canonicalJson(fixed) };
  } catch (error) {
    return missing(`The preview gave something that isn't JSON: ${errorText(error)}`);
  }
}

function missing(why: string): Facts {
  return { state: 'missing', why };
}
