import { deferredEntry, loadedEntry } from './deferred-entry.ts';
import { entriesTaken } from './entries-taken.ts';
import { leavesOutDeferred } from './found-tools.ts';
import type { RequestPart } from './request.ts';
import type { LoopState, LoopTool } from './state.ts';
import { entriesOf } from './toolsets.ts';

/** `tools`: in the order in which they came, so that what the model has cached of them stays cached. */
export const toolsPart: RequestPart = (state, body) => {
  const entries = entriesTaken(entriesOf(sentTools(state)), state.config.noCode === true);
  return entries.length === 0 ? body : { ...body, tools: entries };
};

function sentTools({ config, tools, loaded, gone, changes, told }: LoopState): readonly LoopTool[] {
  const there = leavesOutDeferred(config) ? tools.filter(({ deferred }) => deferred !== true) : tools;
  if (loaded.length === 0 && told.size === 0 && gone.length === 0) return there;
  return there.flatMap((tool) => {
    const { name, deferred, entry, toolset } = tool;
    const isOffered = deferred !== true || loaded.includes(name);
    // Where the word of it was cut away with what was said then, it is left out.
    const isGone = config.toolChanges === true && isOffered && gone.includes(name);
    if (isGone && !told.has(name) && !changes.some((change) => change.name === name)) return [];
    if (toolset !== undefined) return [tool];
    // One that was added in the middle of what is sent is declared so that it isn't at the beginning.
    if (told.get(name) === 'tool_addition') return [deferred ? tool : { ...tool, entry: deferredEntry(entry) }];
    return [deferred && loaded.includes(name) ? { ...tool, entry: loadedEntry(entry) } : tool];
  });
}
