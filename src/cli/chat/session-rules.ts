import type { AskQuestion, Policy, ToolDefinition } from '../../contracts/index.ts';
import type { AlwaysAnswer } from '../../host/index.ts';
import { type CompiledPolicy, compilePolicy, type PolicyLayer, ruleFor } from '../../policy/index.ts';

/** The rules of a session: those of the files, and those that the person adds while it goes on. */
export interface SessionRules {
  readonly policy: Policy;
  readonly added: readonly string[];
  /** Of the rules with all that was added. */
  version(): string;
  /** Adds an allow rule for exactly the tool of the question, or says why that would do nothing. */
  always(question: Pick<AskQuestion, 'tool' | 'who' | 'decision'>): AlwaysAnswer;
}

/**
 * Nothing is written to any file: what was added ends with the session.
 *
 * @param root absolute; what relative paths in conditions are relative to
 */
export function sessionRules(layers: readonly PolicyLayer[], mode: string, root?: string): SessionRules {
  const added: string[] = [];
  const compile = (allow: readonly string[]): CompiledPolicy =>
    compilePolicy(
      [...layers, { scope: 'session', file: 'this chat', permissions: { allow: [...allow] }, trusted: true }],
      { mode, ...(root !== undefined && { root }) },
    );
  const base = compile([]);
  let extended = base;
  /** A yes for all calls is to the tool as it was defined then: one that has become another is asked about anew. */
  const approved = new Set<string>();
  const policyFor = (tool: ToolDefinition) => (approved.has(identityOf(tool)) ? extended : base).policy;
  return {
    added,
    version: () => extended.version,
    policy: {
      view: (who, tool) => policyFor(tool).view(who, tool),
      decide: (who, tool, call) => policyFor(tool).decide(who, tool, call),
    },
    always({ tool, who, decision }) {
      const asks = decision.reasons.find(({ code }) => code === 'ask_rule');
      if (asks) {
        const { source } = asks;
        const place = source ? ` (${source.file}${source.line === undefined ? '' : `:${source.line}`})` : '';
        return { why: `an ask rule${place} wants your word for each call, and no allow rule stands above it.` };
      }
      if (decision.reasons.some(({ code }) => code === 'hook_ask')) {
        return { why: 'a hook wants your word for this call, and no allow rule stands above it.' };
      }
      const rule = ruleFor(tool);
      const next = compile([...added, rule]);
      const { effect, reasons } = next.policy.view(who, tool);
      // A condition of another rule doesn't make the new one useless.
      if (effect !== 'allow' && !reasons.some(({ code }) => code === 'depends_on_call')) {
        return { why: reasons.map(({ text }) => text).join(' ') || `the rule "${rule}" would not allow it.` };
      }
      if (!added.includes(rule)) added.push(rule);
      extended = next;
      approved.add(identityOf(tool));
      return { rule };
    },
  };
}

function identityOf({ ref }: ToolDefinition): string {
  return JSON.stringify([ref.server?.key ?? null, ref.server?.fingerprint ?? null, ref.tool, ref.fingerprint]);
}
