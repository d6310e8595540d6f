import type { Reason, ToolDefinition } from '../contracts/index.ts';
import { editDistance } from '../tools/index.ts';
import type { Condition } from './condition.ts';
import type { Rule } from './layer.ts';

const SERVER = 'server:';

/** The labels that the loop gives to conversations, beside `server:KEY`. */
const LABELS = ['untrusted-content', 'unknown'];

/** Most slips of the pen in a label, or a third of it. */
const MOST_SLIPS = 3;

/**
 * Labels in a rule that no conversation is ever given. The rule counts as it is written, as a program may give labels of
 * its own.
 *
 * @param own those that the program gives
 */
export function unknownLabels(rule: Rule, own: readonly string[]): readonly Reason[] {
  const known = [...LABELS, ...own];
  return labelsOf(rule)
    .filter((label) => !known.includes(label) && !(label.startsWith(SERVER) && label.length > SERVER.length))
    .map((label) => warning(rule, label, 'which no conversation is given', nearest(label, known)));
}

/** Labels in rules that name a server which has no tool here. */
export function labelsWithoutServer(rules: readonly Rule[], tools: readonly ToolDefinition[]): readonly Reason[] {
  const known = [...new Set(tools.flatMap(({ ref }) => (ref.server ? [SERVER + ref.server.key] : [])))];
  return rules.flatMap((rule) =>
    labelsOf(rule)
      .filter((label) => label.startsWith(SERVER) && !known.includes(label))
      .map((label) => warning(rule, label, 'of a server that is not here', nearest(label, known))),
  );
}

function labelsOf({ when }: Rule): readonly string[] {
  const labels = new Set<string>();
  const open: Condition[] = when ? [when] : [];
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.is === 'label') for (const label of next.among) labels.add(label);
    else if (next.is === 'not') open.push(next.of);
    else if (next.is === 'all' || next.is === 'any') open.push(...next.of);
  }
  return [...labels];
}

function warning({ kind, text, source }: Rule, label: string, what: string, near: string | undefined): Reason {
  const advice = near === undefined ? `Labels are ${LABELS.join(', ')} and ${SERVER}KEY.` : `Did you mean "${near}"?`;
  const said = `The ${kind} rule "${text}" looks for the label "${label}", ${what}. ${advice}`;
  return { room: 'policy', code: 'rule_label', text: said, source };
}

function nearest(label: string, known: readonly string[]): string | undefined {
  // The work grows with the product of both lengths, and a label of this length is no slip of the pen.
  if (label.length > 200) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[_\s-]/g, '');
  const [best] = known
    .map((each) => ({ each, far: editDistance(plain(label), plain(each)) }))
    .sort((a, b) => a.far - b.far);
  return best && best.far <= Math.min(MOST_SLIPS, Math.floor(label.length / 3)) ? best.each : undefined;
}
