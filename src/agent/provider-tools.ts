/**
 * Rule of this file: what the model's provider runs by itself is decided before it is declared. Nothing stands between a
 * model and such a tool later, so a rule that looks at what nobody can know yet counts as met.
 */
import type {
  Asker,
  AskReply,
  Decision,
  DeclarationRecord,
  Effect,
  Identity,
  Json,
  JsonObject,
  Model,
  Policy,
  Reason,
  ToolDefinition,
} from '../contracts/index.ts';
import { modelFacts } from '../models/index.ts';
import { BridleError, canonicalJson, hostTool, printable, rawFrom, sha256 } from '../tools/index.ts';
import { isObject } from './blocks.ts';
import type { LoopTool } from './state.ts';

/** An entry of the Messages API's `tools` by its dated type, such as `{type: 'web_search_20250305', name: 'web_search'}`. */
export type ProviderTool = JsonObject & { readonly type: string; readonly name: string };

/** Those that may be declared. */
export interface ProviderTools {
  /** As the policy has it now. */
  list(): readonly LoopTool[];
  /** What was decided on each, as the policy has it now. */
  declarations(): readonly Omit<DeclarationRecord, 'conversation'>[];
  /** Which were left out, and why. */
  readonly warnings: readonly Reason[];
}

interface Deciding {
  readonly model: Model;
  readonly who: Identity;
  readonly policy: Policy;
  readonly asker: Asker;
}

interface Declared {
  readonly definition: ToolDefinition;
  readonly tool: LoopTool;
}

/** What came of an entry, and what is recorded of it. */
interface Decided {
  readonly made: Declared | string;
  readonly record: Omit<DeclarationRecord, 'conversation' | 'leftOut'>;
}

/** Kinds of tools that the provider runs, and what a call of them may do to the world. */
const KINDS: ReadonlyMap<string, Effect> = new Map([
  ['web_search', 'read'],
  ['web_fetch', 'read'],
  ['tool_search_tool_bm25', 'read'],
  ['tool_search_tool_regex', 'read'],
  ['advisor', 'read'],
  ['code_execution', 'write'],
]);
/** From this date on, web tools are called by code of the provider's container unless told otherwise. */
const CALLED_BY_CODE = 20260209;
/** The first code execution that may stand beside them. */
const BESIDE_THOSE = 20260120;

/**
 * Decides which of the provider's own tools are declared. What a rule doesn't allow is asked about; what is denied is left
 * out, with the reason.
 *
 * @throws BridleError `provider_tool_invalid` for an entry that the API would refuse, or that the provider doesn't run
 */
export async function providerTools(entries: readonly ProviderTool[], deciding: Deciding): Promise<ProviderTools> {
  checkEntries(entries);
  const { model, who, policy } = deciding;
  const declared: Declared[] = [];
  const all: Decided[] = [];
  const warnings: Reason[] = [];
  for (const entry of entries) {
    const came = isOfAnother(model) ? undefined : await decided(forModel(entry, model), deciding);
    if (came) all.push(came);
    const made = came?.made ?? `The model "${printable(model.id)}" has no tools of its provider.`;
    if (typeof made !== 'string') declared.push(made);
    else {
      const text = `The provider's tool "${printable(entry.name)}" is left out. ${made}`;
      warnings.push({ room: 'agent', code: 'provider_tool_left_out', text });
    }
  }
  return {
    list: () =>
      declared.filter(({ definition }) => policy.view(who, definition).effect !== 'deny').map(({ tool }) => tool),
    declarations: () =>
      all.map(({ made, record }) => {
        if (typeof made === 'string') return { ...record, leftOut: made };
        const view = policy.view(who, made.definition);
        return view.effect === 'deny' ? { ...record, decision: view, leftOut: reasonsOf(view) } : record;
      }),
    warnings,
  };
}

/** The tool as it may be declared, or why it may not. */
async function decided(entry: ProviderTool, { who, policy, asker }: Deciding): Promise<Decided> {
  const definition = definitionOf(entry);
  const callId = `provider_${entry.name}`;
  const decision = await policy.decide(who, definition, { args: entry, labels: UNKNOWN, callId });
  const came = (made: Declared | string, asked?: AskReply): Decided => {
    const { ref, effect } = typeof made === 'string' ? definition : made.definition;
    const args = typeof made === 'string' ? entry : (made.tool.entry ?? entry);
    const proposed = canonicalJson(args) === canonicalJson(entry) ? {} : { proposed: entry };
    return { made, record: { callId, who, ref, effect, args, ...proposed, decision, ...(asked && { asked }) } };
  };
  if (decision.effect === 'deny') return came(reasonsOf(decision));
  const changed = changedBy(entry, decision.input);
  if (decision.effect === 'allow') return came(changed ? declaredAs(changed) : OTHER_TOOL);
  const { signal } = new AbortController();
  const reply = await asker.ask({ callId, who, tool: definition, args: changed ?? entry, decision, signal });
  if (reply.answer !== 'allow') return came(refusalOf(reply), reply);
  const claim = await reply.grant?.claim(callId);
  if (claim && !claim.claimed) return came(claim.why, reply);
  const answered = changed && changedBy(changed, reply.args);
  return came(answered ? declaredAs(answered) : OTHER_TOOL, reply);
}

/** Nobody can tell now what will have entered the conversation when the provider runs it. */
const UNKNOWN: ReadonlySet<string> = new Set(['unknown']);
const OTHER_TOOL = 'What a hook or a person made of it is another tool.';

function changedBy(entry: ProviderTool, input: Json | undefined): ProviderTool | undefined {
  if (input === undefined) return entry;
  const isSame = isObject(input) && input.type === entry.type && input.name === entry.name;
  return isSame ? { ...input, type: entry.type, name: entry.name } : undefined;
}

function declaredAs(entry: ProviderTool): Declared {
  const definition = definitionOf(entry);
  return { definition, tool: { name: entry.name, entry, effect: definition.effect } };
}

function definitionOf(entry: ProviderTool): ToolDefinition {
  const { type, name } = entry;
  const description = `Run by the model's provider (${type}): nothing is decided on when it is used.`;
  return hostTool({
    ref: { server: null, tool: name, name, fingerprint: sha256(canonicalJson(entry)) },
    description,
    inputSchema: { type: 'object' },
    annotations: { openWorldHint: true },
    raw: rawFrom(entry),
    effect: KINDS.get(kindOf(type)) ?? 'write',
  });
}

function reasonsOf({ reasons }: Decision): string {
  return reasons.map(({ text }) => text).join(' ');
}

function refusalOf(reply: Exclude<AskReply, { answer: 'allow' }>): string {
  if (reply.answer === 'parked')
    return `It waits for approval ${printable(reply.approval)}: make the agent again then.`;
  return `${printable(reply.by)} denied it.${reply.reason === undefined ? '' : ` ${printable(reply.reason)}`}`;
}

/** Models without programmatic calling take newer web tools only as called by the model itself. */
function forModel(entry: ProviderTool, model: Model): ProviderTool {
  const isByCode = isWeb(entry) && dateOf(entry.type) >= CALLED_BY_CODE && entry.allowed_callers === undefined;
  return isByCode && modelFacts(model.id)?.programmatic === false ? { ...entry, allowed_callers: ['direct'] } : entry;
}

/** Only Claude models have them; what isn't known by its name is given the benefit of the doubt. */
function isOfAnother({ id }: Model): boolean {
  return id === 'offline' || id.startsWith('openai:');
}

function checkEntries(entries: readonly ProviderTool[]): void {
  const names = new Set<string>();
  const isByCode = entries.some((entry) => isWeb(entry) && dateOf(entry.type) >= CALLED_BY_CODE);
  for (const entry of entries) {
    const { type, name } = entry;
    const wrong =
      typeof type !== 'string' || typeof name !== 'string' || !KINDS.has(kindOf(type))
        ? 'is none that the provider runs. Connect an MCP server here, where each of its calls is decided on'
        : names.has(name)
          ? 'stands there twice'
          : entry.allowed_domains !== undefined && entry.blocked_domains !== undefined
            ? 'has both allowed_domains and blocked_domains'
            : isByCode && kindOf(type) === 'code_execution' && dateOf(type) < BESIDE_THOSE
              ? `can't stand beside web tools of ${CALLED_BY_CODE} or later: take code_execution_${BESIDE_THOSE} or later`
              : entry.input_schema !== undefined
                ? 'brings an input_schema: its provider has its own'
                : kindOf(type).startsWith('tool_search') && entry.defer_loading === true
                  ? 'is deferred: nothing would find it'
                  : undefined;
    if (wrong !== undefined) {
      throw new BridleError('provider_tool_invalid', `The provider tool "${printable(String(type))}" ${wrong}.`, {
        hint: "An entry is as the Messages API has it, e.g. { type: 'web_search_20250305', name: 'web_search' }.",
      });
    }
    names.add(name);
  }
}

function isWeb({ type }: ProviderTool): boolean {
  return /^web_(?:search|fetch)_/.test(type);
}

function kindOf(type: string): string {
  return type.replace(/_\d{8}$/, '');
}

function dateOf(type: string): number {
  return Number(/_(\d{8})$/.exec(type)?.[1] ?? 0);
}
