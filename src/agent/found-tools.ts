/**
 * Rule of this file: what a search found stands in the transcript as `tool_reference` blocks, for every model, so that a
 * conversation can be gone on from with another. How a request says it hangs on the model that it is for.
 */
import type { Json, JsonObject, Outcome } from '../contracts/index.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import { undeferred } from './deferred-entry.ts';
import type { PendingCall } from './reply.ts';
import { sentMessages } from './sent-messages.ts';
import type { LoopConfig, LoopState, LoopTool } from './state.ts';

/** How a run's search for tools works. */
export interface LoopSearch {
  /** Name of the tool that searches. */
  readonly tool: string;
  /** Whether the model takes `tool_reference` blocks; else what was found is appended to the tools of its requests. */
  readonly references: boolean;
}

/** Whether deferred tools are left out of requests until they are found. */
export function leavesOutDeferred({ search }: LoopConfig): boolean {
  return search !== undefined && !search.references;
}

/** The `tool_result` of a search that found something, and what it found; null for every other end of a call. */
export function foundBy(
  { config, tools, addedTools }: LoopState,
  call: PendingCall,
  outcome: Outcome,
): { readonly result: JsonObject; readonly names: readonly string[] } | null {
  if (config.search?.tool !== call.name || call.toolset !== undefined) return null;
  if (outcome.kind !== 'ok' || outcome.isError) return null;
  const there = new Set([...tools, ...addedTools].map(({ name }) => name));
  const said = namesIn(outcome);
  if (said.length === 0) return null;
  // One that went away while it was looked for is named by nothing.
  const names = said.filter((name) => there.has(name));
  const content: Json =
    names.length === 0 ? GONE : names.map((name): Json => ({ type: 'tool_reference', tool_name: name }));
  return { result: { type: 'tool_result', tool_use_id: call.id, content }, names };
}

/** What a search found has gone since. */
export const GONE = 'What was found is not there any more. Search again, or go on without it.';

function namesIn({ raw }: Extract<Outcome, { kind: 'ok' }>): readonly string[] {
  try {
    const value = raw.parse();
    const found = isObject(value) && isObject(value.structuredContent) ? value.structuredContent.tools : [];
    const names = Array.isArray(found) ? found.filter((name) => typeof name === 'string') : [];
    return [...new Set(names)];
  } catch {
    return [];
  }
}

/** Names that search results of these messages refer to, the provider's and a client's, in order. */
export function referencedIn(messages: readonly Json[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const block of messages.flatMap((message) => (isObject(message) ? contentBlocks(message.content) : []))) {
    for (const reference of referencesOf(block)) {
      if (isObject(reference) && typeof reference.tool_name === 'string') names.add(reference.tool_name);
    }
  }
  return names;
}

/** Those that the model has before it, in what is sent of the conversation: one that was cut away has fallen away. */
export function referencedNow(state: LoopState): ReadonlySet<string> {
  const { transcript } = state;
  return referencedIn([...sentMessages(state), ...(transcript.state === 'open' ? [transcript.reply] : [])]);
}

function referencesOf(block: Json): readonly Json[] {
  if (!isObject(block)) return [];
  const { type, content } = block;
  if (type === 'tool_result' && Array.isArray(content))
    return content.filter((part) => isBlock(part, 'tool_reference'));
  const found = type === 'tool_search_tool_result' && isObject(content) ? content.tool_references : [];
  return Array.isArray(found) ? found : [];
}

/**
 * The tools with some of the deferred ones loaded, for a model that was sent none of those: they come last, in the order
 * in which they were found, so that what stood before stays where it was.
 */
export function withLoaded(tools: readonly LoopTool[], names: Iterable<string>): readonly LoopTool[] {
  const byName = new Map(tools.flatMap((tool) => (tool.deferred === true ? [[tool.name, tool] as const] : [])));
  const loaded = [...new Set(names)].flatMap((name) => byName.get(name) ?? []);
  if (loaded.length === 0) return tools;
  const others = tools.filter((tool) => !loaded.includes(tool));
  return [...others, ...loaded.map(undeferred)];
}
