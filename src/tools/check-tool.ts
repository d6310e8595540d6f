import type { Json, Reason } from '../contracts/index.ts';
import { strictTool } from './api-tool.ts';
import { isBridleError } from './bridle-error.ts';
import type { Tool } from './define-tool.ts';
import { sameButForCase } from './enum-case.ts';
import { isJsonObject, pointerSegment } from './json-object.ts';
import { compileSchema } from './schema-check.ts';
import { issuesText } from './schema-issues.ts';
import { subschemasOf } from './schema-walk.ts';

/** Names of flags that say that somebody agreed, in their parts. */
const CONFIRMING =
  /^(?:is|was|has|been|user|human|customer|i|am|are|you|yes|skip|no|without|the|really|already)*(?:confirm|confirmed|confirmation|approve|approved|approval|consent|consented|acknowledge|acknowledged|sure|authorized|authorised)(?:required|given|ok|by|user|human)*$/;

/**
 * What is wrong with an own tool that only running its schemas shows: a schema that can't be compiled or can't be
 * strict, an example that doesn't fit, values that nobody can tell apart; and flags by which a model would confirm its own call. Meant for the author's tests; a definition is not held up for it.
 *
 * @returns one Reason a fault; empty when the tool is sound
 */
export async function checkTool(tool: Tool): Promise<readonly Reason[]> {
  const { inputSchema, outputSchema, hints } = tool.definition;
  const reasons: Reason[] = [];
  const strict = hints?.strict === true ? strictTool(tool.definition) : null;
  if (strict !== null && 'refused' in strict) {
    const text = `It is sent without "strict": ${strict.why}`;
    reasons.push({ room: 'tools', code: 'strict_impossible', text });
  }
  for (const flag of tool.definition.effect === 'read' ? [] : selfConfirmations(inputSchema)) {
    const text =
      `"${flag}" looks like a confirmation, and it is the model that would set it: it confirms nothing. ` +
      'Ask the person (a policy, or ctx.ask), and leave the flag out.';
    reasons.push({ room: 'tools', code: 'confirmation_by_model', text });
  }
  for (const [at, values] of casesApart(inputSchema)) {
    const named = values.map((value) => JSON.stringify(value)).join(', ');
    const text =
      `"${at}" can be ${named}, which differ in letter case alone: a model may write one and mean the other, also under ` +
      'strict tool use. Give them different names.';
    reasons.push({ room: 'tools', code: 'enum_differs_in_case', text });
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

/** Enums with values that differ in letter case alone, by where they stand. */
function casesApart(schema: Json): (readonly [at: string, values: readonly string[]])[] {
  const found: (readonly [string, readonly string[]])[] = [];
  const open: (readonly [Json, string])[] = [[schema, '']];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [member, at] = next;
    if (!isJsonObject(member)) continue;
    const same = Array.isArray(member.enum) ? sameButForCase(member.enum) : [];
    if (same.length > 0) found.push([at, same]);
    for (const [keyword, value] of Object.entries(member)) {
      for (const [path, inner] of subschemasOf(keyword, value)) {
        open.push([inner, [at, ...path.map(pointerSegment)].join('/')]);
      }
    }
  }
  return found.reverse();
}

/** The boolean properties whose name says that a person agreed. */
function selfConfirmations(inputSchema: Json): string[] {
  if (!isJsonObject(inputSchema) || !isJsonObject(inputSchema.properties)) return [];
  return Object.entries(inputSchema.properties)
    .filter(([, schema]) => isJsonObject(schema) && schema.type === 'boolean')
    .map(([name]) => name)
    .filter((name) => CONFIRMING.test(name.replace(/[^a-zA-Z]/g, '').toLowerCase()));
}
