import type { JsonObject, ToolDefinition } from '../contracts/index.ts';
import { planStrict, printable, STRICT_LIMITS, type StrictChoice, type StrictPlan } from '../tools/index.ts';

/** Longest step that is shown. */
const MOST_SHOWN = 300;

/** What `strict: 'auto'` makes of one of the tools that an agent sees; of one that it doesn't, as if it stood alone. */
export function strictChoice(tool: ToolDefinition, seen: readonly ToolDefinition[]): StrictChoice | undefined {
  const { choices } = planStrict(seen.some(({ ref }) => ref.name === tool.ref.name) ? seen : [tool], 'auto');
  return choices.find(({ name }) => name === tool.ref.name);
}

/** For a person: whether it would be strict, what it takes of a request's limits, and what was made otherwise. */
export function strictLines({ strictness, needs, reason, steps = [] }: StrictChoice): readonly string[] {
  if (strictness === 'loose' || needs === undefined) return reason === undefined ? [] : [printable(reason.text)];
  const { optional, unions } = needs;
  return [
    `It is strict with "auto": ${optional} of ${STRICT_LIMITS.optional} optional properties of a request, ${unions} of ` +
      `${STRICT_LIMITS.unions} of several types.`,
    ...steps.map(({ pointer, how, text }) =>
      printable(`${how.replace('_', ' ')}${pointer === '' ? '' : ` at ${pointer}`}: ${text}`, {
        maxLength: MOST_SHOWN,
      }),
    ),
  ];
}

export function strictJson({ strictness, needs, reason, steps }: StrictChoice): JsonObject {
  return {
    strictness,
    ...(needs && { needs: { ...needs } }),
    ...(reason && { reason: { ...reason } as JsonObject }),
    ...(steps && { steps: steps.map((step) => ({ ...step })) }),
  };
}

/** Which of the tools are strict with `auto`, for `tools list --strict`. */
export function strictSummary({ choices, used, remedies }: StrictPlan): readonly string[] {
  const left = choices.filter(({ strictness }) => strictness === 'loose');
  return [
    `With strict "auto" ${used.tools} of ${choices.length} tools are strict (a request takes ${STRICT_LIMITS.tools}), with ` +
      `${used.optional} of ${STRICT_LIMITS.optional} optional properties and ${used.unions} of ${STRICT_LIMITS.unions} of several types.`,
    ...left.map(({ name, reason }) => `  ${printable(name)}: ${printable(reason?.text ?? '')}`),
    ...(remedies.length > 0 ? ['What helps, in this order:'] : []),
    ...remedies.map((each, at) => `  ${at + 1}. ${each}`),
  ];
}
