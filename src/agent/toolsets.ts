/**
 * Rule of this file: a member of a toolset is what its toolset and its own name say together. Members run one by one, in
 * the order in which they were called, and after one that went wrong none of the same reply does.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { isObject } from './blocks.ts';
import type { PendingCall } from './reply.ts';
import type { LoopTool } from './state.ts';

/** Which member of which toolset a tool is. */
export type MemberOf = {
  readonly name: string;
  readonly member: string;
  /** Every member that the toolset has, offered or not. */
  readonly members: string[];
};

/** The tool that a call means, as the rules know it; undefined for a member that isn't there, or no member at all. */
export function memberTool(tools: readonly LoopTool[], { toolset, name }: PendingCall): LoopTool | undefined {
  return tools.find((tool) => tool.toolset?.name === toolset && tool.toolset?.member === name);
}

/** True for a call that names a member as if it were a tool of its own: no such tool was declared. */
export function isStray(tools: readonly LoopTool[], { toolset, name }: PendingCall): boolean {
  return toolset === undefined && tools.some((tool) => tool.toolset !== undefined && tool.name === name);
}

/** What the API's own pages have a client say of the calls after one that went wrong, to the letter. */
export function notExecutedResult(call: PendingCall): JsonObject {
  const action = call.toolset === 'computer' ? 'computer action' : 'action';
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content: `Not executed: an earlier ${action} in this turn failed.`,
    is_error: true,
  };
}

/**
 * The `tools` of a request. A toolset has one entry, where its first member stands; members that nobody here runs, or that
 * aren't to be seen, are switched off in it.
 */
export function entriesOf(tools: readonly LoopTool[]): Json[] {
  const done = new Set<string>();
  return tools.flatMap(({ entry, toolset }) => {
    if (toolset === undefined) return [entry];
    if (done.has(toolset.name)) return [];
    done.add(toolset.name);
    return [toolsetEntry(entry, toolset, tools)];
  });
}

function toolsetEntry(entry: Json, { name, members }: MemberOf, tools: readonly LoopTool[]): Json {
  if (!isObject(entry)) return entry;
  const given = isObject(entry.configs) ? entry.configs : {};
  const offered = new Set(tools.flatMap(({ toolset }) => (toolset?.name === name ? [toolset.member] : [])));
  const off = members.filter((member) => !offered.has(member)).map((member) => [member, { enabled: false }] as const);
  const configs = { ...given, ...Object.fromEntries(off) };
  return Object.keys(configs).length === 0 ? entry : { ...entry, configs };
}
