import type { ToolDefinition } from '../../contracts/index.ts';
import type { Hook } from './hook.ts';
import { readMatcher } from './hook-matcher.ts';
import { namesOf } from './with-hooks.ts';

/** A hook that is asked before each call of a tool. */
export interface HookBefore<T> {
  readonly hook: T;
  /** Why its matcher can't be read, and it is thus asked about every tool. */
  readonly problem?: string;
}

/**
 * Which hooks are asked before a call of this tool is decided on, found as `createHookSet` and `withHooks` find them; none
 * is run. A view has those of the tool behind it, too, as both are decided on.
 *
 * @param hooks in the order of their layers
 * @returns those of `PreToolUse` that are for the tool, in the same order
 */
export async function hooksBefore<T extends Pick<Hook, 'event' | 'matcher'>>(
  hooks: readonly T[],
  tool: ToolDefinition,
): Promise<readonly HookBefore<T>[]> {
  const asked = [namesOf(tool), ...(tool.narrows ? [namesOf(tool.narrows.of)] : [])];
  const found: HookBefore<T>[] = [];
  for (const hook of hooks) {
    if (hook.event !== 'PreToolUse') continue;
    const { matches, problem } = await readMatcher(hook.matcher);
    if (asked.some((names) => matches(names))) found.push({ hook, ...(problem !== undefined && { problem }) });
  }
  return found;
}
