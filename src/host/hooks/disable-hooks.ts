/**
 * Rule of this file: hooks stand guard, so only whoever they guard for turns them off: a person their own and their
 * projects', an administrator all. A project's file turns none off, its own neither.
 */
import type { Node } from 'jsonc-parser';
import type { Reason } from '../../contracts/index.ts';
import type { TreeReader } from '../config-tree.ts';
import { hostReason } from '../reason.ts';

type Place = NonNullable<Reason['source']>;

/**
 * Reads `disableAllHooks`, as Claude Code's settings have it. Where it stands twice, hooks are off only if it says so
 * each time.
 *
 * @param nodes the values of the key
 * @param owner whose file it is
 * @returns the place that turns them off
 */
export function readDisableAllHooks(
  reader: TreeReader,
  nodes: readonly Node[],
  owner: 'user' | 'project',
): Place | undefined {
  const wrong = nodes.find(({ value }) => typeof value !== 'boolean');
  if (wrong)
    reader.warn('hooks_disable_invalid', wrong, '"disableAllHooks" is neither true nor false, so it has no effect.');
  const last = nodes.at(-1);
  if (!last || !nodes.every(({ value }) => value === true)) return undefined;
  if (owner === 'user') return reader.file.at(last);
  const text =
    '"disableAllHooks" in a project\'s file has no effect: hooks are turned off in your own bridle.json only.';
  reader.warn('hooks_disable_not_yours', last, text);
  return undefined;
}

export function offBy(off: Place | undefined): { readonly off?: Place } {
  return off ? { off } : {};
}

/** Which hooks are turned off, said once. */
export function turnedOff(which: string, off: Place | undefined): Reason[] {
  return off ? [hostReason('hooks_disabled', `${which} are turned off, and what they guard is not guarded.`, off)] : [];
}
