import type { Reason, ToolDefinition } from '../contracts/index.ts';
import { type ListedHook, type Project, visibleText } from '../host/index.ts';
import { hooksBefore } from '../policy/index.ts';
import { printable } from '../tools/index.ts';
import { shownHook } from './hooks.ts';

/** A hook that stands before the calls of a tool, for a person and for a script. */
export interface ToolHook {
  /** What it means for a call, with the place of the hook. */
  readonly reason: Reason;
  readonly json: ReturnType<typeof shownHook> & { readonly matcherProblem?: string };
}

/** The hooks that are asked before each call of a tool, those that can't be run and so deny it among them. Runs none. */
export async function toolHooks({ hooks }: Pick<Project, 'hooks'>, tool: ToolDefinition): Promise<readonly ToolHook[]> {
  // What is turned off, or waits for the project's trust, guards nothing.
  const standing = hooks.filter(({ state }) => state !== 'disabled' && state !== 'untrusted');
  const before = await hooksBefore(
    standing.map((listed) => ({ event: listed.entry.event, matcher: listed.entry.matcher, listed })),
    tool,
  );
  return before.map(({ hook: { listed }, problem }) => ({
    reason: reasonOf(listed, problem),
    json: { ...shownHook(listed), ...(problem !== undefined && { matcherProblem: problem }) },
  }));
}

function reasonOf({ entry, scope, state, reason }: ListedHook, problem: string | undefined): Reason {
  const command = 'command' in entry ? ` "${visibleText(entry.command)}"` : '';
  const hook = `The ${entry.event} hook${command} of the ${scope} scope (${matched(entry.matcher, problem)})`;
  const runs = state === 'ready' && 'command' in entry;
  const why = reason ?? ('problem' in entry ? entry.problem : '');
  const text = runs
    ? `${hook} is asked before each call, and may deny it, want it asked about, or change its arguments.`
    : `${hook} can't be run, so each call is denied: ${why.replace(/\.$/, '')}.`;
  return { room: 'policy', code: runs ? 'hook_before' : 'hook_held_back', text, source: entry.source };
}

function matched(matcher: string, problem: string | undefined): string {
  const shown = matcher.trim();
  if (problem !== undefined)
    return `for every tool, as its matcher "${printable(shown, { maxLength: 200 })}" can't be read`;
  return shown === '' || shown === '*' ? 'for every tool' : `matcher "${printable(shown, { maxLength: 200 })}"`;
}
