import type { SourceReadiness } from '../catalog/index.ts';
import type { Identity, Policy, ServerRef, ToolDefinition } from '../contracts/index.ts';
import { harnessNote, hostTool, printable, rawFrom } from '../tools/index.ts';

/** What the model was last told of each server whose tools weren't there, by the server's key. */
export type Told = ReadonlyMap<string, 'waiting' | 'failed'>;

export interface ReadinessNews {
  readonly told: Told;
  /** What the model hears of it; null when there is nothing new. */
  readonly note: string | null;
}

/**
 * Tells the model which servers' tools are missing, since when, and which of them have come since. Says nothing of a
 * server that was there from the start, and none of a server's own words: they are no word of the harness.
 *
 * @param sources as far as whoever calls may know of them
 */
export function readinessNews(told: Told, sources: readonly SourceReadiness[]): ReadinessNews {
  const next = new Map(told);
  const lines: string[] = [];
  for (const { server, state, since } of sources) {
    if (server === null) continue;
    const before = told.get(server.key);
    if (before === state || (before === undefined && state === 'ready')) continue;
    const name = `Server "${printable(server.key, { maxLength: 80 })}"`;
    const time = new Date(since).toISOString();
    if (state === 'ready') {
      next.delete(server.key);
      lines.push(`${name} is ready now (${time}); its tools stand at the end of the list.`);
    } else {
      next.set(server.key, state);
      lines.push(
        state === 'waiting'
          ? `${name} is still starting (since ${time}): its tools are not in the list yet and will be added to its end.`
          : `${name} could not be used (since ${time}): its tools are missing.`,
      );
    }
  }
  if (lines.length === 0) return { told, note: null };
  const missing = next.size > 0 ? ' If what is missing matters to the task, say so and do not guess.' : '';
  return { told: next, note: harnessNote(`${lines.join(' ')}${missing}`) };
}

/** The sources that this caller may know of: one whose every tool is hidden reads the same as one that isn't there. */
export function visibleSources(
  sources: readonly SourceReadiness[],
  policy: Policy,
  who: Identity,
): readonly SourceReadiness[] {
  return sources.filter(({ server }) => {
    if (server === null) return true;
    try {
      return policy.view(who, anyToolOf(server)).effect !== 'deny';
    } catch {
      return false;
    }
  });
}

/** A tool that no rule names by itself. It reads only, so that a mode that shows nothing else shows it. */
function anyToolOf(server: ServerRef): ToolDefinition {
  const tool = 'any_tool_of_this_server';
  const inputSchema = { type: 'object' } as const;
  return hostTool({
    ref: { server, tool, name: `mcp__${server.key}__${tool}`, fingerprint: '' },
    description: '',
    inputSchema,
    raw: rawFrom({ name: tool, inputSchema }),
    effect: 'read',
  });
}
