import type { Asker, Reason } from '../contracts/index.ts';
import { ruleFor } from '../policy/index.ts';

const DEFAULT_HOW = `run with --allow '{rule}', or add "{rule}" to permissions.allow in bridle.json`;

/**
 * The asker where nobody can be asked: every question is refused, and the refusal says how to allow the call.
 *
 * @param how how a person allows a call beforehand, as the end of a sentence; `{rule}` stands for the rule that names
 *   the tool
 */
export function refuseAsker(how: string = DEFAULT_HOW): Asker {
  return {
    ask: async ({ tool, decision }) => {
      const rule = decision.reasons.find(({ code }) => code === 'ask_rule');
      if (rule) return { answer: 'deny', by: 'nobody', reason: askRuleReason(rule) };
      const way = how.replaceAll('{rule}', () => ruleFor(tool)).replace(/[.\s]+$/, '');
      const reason = `It needs a person's approval, and nobody could be asked here. To allow it: ${way}.`;
      return { answer: 'deny', by: 'nobody', reason };
    },
  };
}

/** An ask rule stands above every allow rule, so naming one as the way on would send people in circles. */
function askRuleReason({ source }: Reason): string {
  const place = source ? ` (${source.file}${source.line === undefined ? '' : `:${source.line}`})` : '';
  return `An ask rule${place} wants a person's word for each call, which no allow rule replaces, and nobody could be asked here. Run it where somebody can answer, or take the ask rule out.`;
}
