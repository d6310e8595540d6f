import type { Asker } from '../contracts/index.ts';
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
    ask: async ({ tool }) => {
      const way = how.replaceAll('{rule}', () => ruleFor(tool)).replace(/[.\s]+$/, '');
      const reason = `It needs a person's approval, and nobody could be asked here. To allow it: ${way}.`;
      return { answer: 'deny', by: 'nobody', reason };
    },
  };
}
