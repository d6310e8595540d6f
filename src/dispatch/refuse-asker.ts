import type { Asker, ToolDefinition } from '../contracts/index.ts';
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
      const way = how.replaceAll('{rule}', () => pasteable(tool)).replace(/[.\s]+$/, '');
      const reason = `It needs a person's approval, and nobody could be asked here. To allow it: ${way}.`;
      return { answer: 'deny', by: 'nobody', reason };
    },
  };
}

/** The rule goes into a shell and into JSON by hand: a tool whose name has anything special is named by its wire name. */
function pasteable(tool: ToolDefinition): string {
  const rule = ruleFor(tool);
  return /^[\w./:@-]+$/.test(rule) ? rule : tool.ref.name;
}
