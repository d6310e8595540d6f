import type { AskQuestion, Json } from '../../contracts/index.ts';
import { globMatches } from '../glob.ts';
import { sameBinding, sameTool } from './binding.ts';
import { type AlwaysRecord, type ApprovalRecord, type Binding, isOpen } from './record.ts';

/** What stored records say of a call. Pure: `outdated` is what has to be written. */
export interface Found {
  readonly record: ApprovalRecord | undefined;
  /** Records for the same tool that are good for nothing any more, with why. */
  readonly outdated: readonly { readonly record: ApprovalRecord; readonly why: string }[];
}

export const DEFINITION_CHANGED = "The tool's definition changed.";
const FACTS_CHANGED = 'What the call would do changed: its facts are others now.';

/**
 * Finds the record that answers this binding. A yes to a tool that has been defined anew since, or to the same
 * arguments with other facts, is void; a no and an open question of that kind are as well.
 *
 * @param records all of the same agent, as far as they are not expired
 */
export function findRecord(binding: Binding, records: readonly ApprovalRecord[]): Found {
  const outdated: { record: ApprovalRecord; why: string }[] = [];
  let record: ApprovalRecord | undefined;
  for (const one of records) {
    if (!isOpen(one) || !sameTool(one.binding, binding)) continue;
    if (one.binding.definition !== binding.definition) outdated.push({ record: one, why: DEFINITION_CHANGED });
    else if (sameBinding(one.binding, binding)) record = one;
    else if (one.binding.args === binding.args) outdated.push({ record: one, why: FACTS_CHANGED });
  }
  return { record, outdated };
}

/** Whether a standing approval covers a call of this tool with these arguments. */
export function alwaysCovers(
  always: AlwaysRecord,
  { binding, args, reasons }: Pick<ApprovalRecord, 'args' | 'reasons'> & { readonly binding: Binding },
): boolean {
  return (
    always.state === 'standing' &&
    sameTool(always.binding, binding) &&
    always.binding.definition === binding.definition &&
    !wantsEachCall(reasons) &&
    always.when.every(([pointer, pattern]) => matches(resolve(args, pointer), pattern))
  );
}

/** Ask rules and hooks want a person's word for each call, so nothing that was said once and for all satisfies them. */
export function wantsEachCall(reasons: AskQuestion['decision']['reasons']): boolean {
  return reasons.some(({ code }) => code === 'ask_rule' || code === 'hook_ask');
}

/**
 * A text matches as it is, a number or truth value as JSON writes it, anything else never. A star doesn't stand for a
 * way up: `src/*` is no yes to `src/../../.ssh/id`.
 */
function matches(value: Json | undefined, pattern: string): boolean {
  if (typeof value === 'string') {
    const goesUp = pattern.includes('*') && /(?:^|[\\/])\.\.(?:[\\/]|$)/.test(value);
    return !goesUp && globMatches(pattern, value);
  }
  if (typeof value === 'number' || typeof value === 'boolean') return globMatches(pattern, JSON.stringify(value));
  return false;
}

/** RFC 6901. */
function resolve(document: Json, pointer: string): Json | undefined {
  let here: Json | undefined = document;
  for (const token of pointer.split('/').slice(1)) {
    if (typeof here !== 'object' || here === null) return undefined;
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(here)) here = /^(?:0|[1-9]\d*)$/.test(key) ? here[Number(key)] : undefined;
    else here = Object.hasOwn(here, key) ? here[key] : undefined;
  }
  return here;
}

export function isPointer(text: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)+$/.test(text);
}
