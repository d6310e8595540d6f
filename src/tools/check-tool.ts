import type { Reason } from '../contracts/index.ts';
import { canBeStrict } from './api-tool.ts';
import { isBridleError } from './bridle-error.ts';
import type { Tool } from './define-tool.ts';
import { compileSchema } from './schema-check.ts';
import { issuesText } from './schema-issues.ts';

/**
 * What is wrong with an own tool that only running its schemas shows: a schema that can't be compiled or can't be
 * strict, an example that doesn't fit. Meant for the author's tests; a definition is not held up for it.
 *
 * @returns one Reason a fault; empty when the tool is sound
 */
export async function checkTool(tool: Tool): Promise<readonly Reason[]> {
  const { inputSchema, outputSchema, hints } = tool.definition;
  const reasons: Reason[] = [];
  if (!canBeStrict(tool.definition)) {
    const text =
      'It is sent without "strict": its schema has an open object, refers to itself, or has names that the API refuses.';
    reasons.push({ room: 'tools', code: 'strict_impossible', text });
  }
  try {
    const { check } = await compileSchema(inputSchema, { origin: 'own' });
    for (const [i, example] of (hints?.examples ?? []).entries()) {
      const issues = check(example);
      if (issues.length > 0) {
        reasons.push({ room: 'tools', code: 'example_invalid', text: `Example ${i + 1}: ${issuesText(issues)}` });
      }
    }
    if (outputSchema !== undefined) await compileSchema(outputSchema, { origin: 'own' });
  } catch (error) {
    if (!isBridleError(error)) throw error;
    reasons.push({ room: 'tools', code: error.code, text: error.message });
  }
  return reasons;
}
