/**
 * Rule of this file: tools that come or go while a conversation goes on are told in a system message where the model takes
 * that (Messages API, "Mid-conversation tool changes"), so that what stands before stays as it was: `tools` is the
 * beginning of what is cached, and of what thinking is bound to. One that came is declared as deferred, which isn't in
 * the prompt, and offered from that message on.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import type { LoopState, LoopTool } from './state.ts';
import type { ReadyTranscript } from './transcript.ts';

export const TOOL_CHANGES_BETA = 'mid-conversation-tool-changes-2026-07-01';

/** One tool that comes or goes. */
export interface ToolChange {
  readonly type: 'tool_addition' | 'tool_removal';
  readonly name: string;
}

/** What the next request tells of tools: those that were called before a search found them, that came, that went. */
export function changesNow(state: LoopState): readonly ToolChange[] {
  const { config, transcript, tools, addedTools, loading, changes } = state;
  if (config.toolChanges !== true || transcript.state !== 'ready' || !canFollow(transcript.messages.at(-1))) return [];
  const whole = tools.some(({ name, deferred, toolset }) => !deferred && !toolset && !state.gone.includes(name));
  // The API takes no request all of whose tools are deferred: the first ones join as they are.
  const came = whole ? addedTools.filter(isAddable).map(({ name }) => name) : [];
  return [...[...loading, ...came].map((name): ToolChange => ({ type: 'tool_addition', name })), ...changes];
}

function isAddable({ deferred, toolset }: LoopTool): boolean {
  return deferred !== true && toolset === undefined;
}

/** A system message stands behind one of the user. */
function canFollow(last: Json | undefined): boolean {
  return isObject(last) && (last.role === 'user' || last.role === 'system');
}

/** The conversation with a system message at its end that tells of them. */
export function withToolChanges(transcript: ReadyTranscript, changes: readonly ToolChange[]): ReadyTranscript {
  if (changes.length === 0) return transcript;
  const blocks = changes.map(({ type, name }): Json => ({ type, tool: { type: 'tool_reference', name } }));
  const { messages } = transcript;
  const last = messages.at(-1);
  if (isObject(last) && last.role === 'system') {
    const told: Json = { ...last, content: [...contentBlocks(last.content), ...blocks] };
    return { ...transcript, messages: [...messages.slice(0, -1), told] };
  }
  return { ...transcript, messages: [...messages, { role: 'system', content: blocks }] };
}

/** By name, how a tool is told of first. */
export type ToldOfTools = ReadonlyMap<string, ToolChange['type']>;

/**
 * What messages tell of tools: by name, how it is told of first. One that came during the conversation is told of first as
 * added; what was there from the start, as removed. A summary by the provider holds what was told before it.
 */
export function toldOfTools(messages: readonly Json[]): ToldOfTools {
  const told = new Map<string, ToolChange['type']>();
  for (const { name, type } of changesIn(messages)) if (!told.has(name)) told.set(name, type);
  return told;
}

/** Names of tools of which the last that messages tell is that they went. */
export function toldAsGone(messages: readonly Json[]): readonly string[] {
  const last = new Map(changesIn(messages).map(({ name, type }) => [name, type]));
  return [...last].flatMap(([name, type]) => (type === 'tool_removal' ? [name] : []));
}

function changesIn(messages: readonly Json[]): readonly ToolChange[] {
  const blocks = messages.flatMap((message) => (isObject(message) ? contentBlocks(message.content) : []));
  const said = blocks.flatMap((block): readonly Json[] => {
    const inside = isBlock(block, 'compaction') && isObject(block) ? block.tool_changes : undefined;
    return Array.isArray(inside) ? inside : [block];
  });
  return said.flatMap((change): ToolChange[] => {
    const name = changedTool(change);
    if (name === null) return [];
    return [{ type: isBlock(change, 'tool_addition') ? 'tool_addition' : 'tool_removal', name }];
  });
}

/** The name that a change refers to; null for what is no change, or none of a single tool of the request. */
export function changedTool(block: Json): string | null {
  if (!isChange(block)) return null;
  const { tool } = block;
  return isObject(tool) && tool.type === 'tool_reference' && typeof tool.name === 'string' ? tool.name : null;
}

export function isChange(block: Json): block is JsonObject {
  return isBlock(block, 'tool_addition') || isBlock(block, 'tool_removal');
}

/** The state once it is known that tools went away, and that some of those that had gone are there again. */
export function withGone(state: LoopState, names: readonly string[], back: readonly string[]): LoopState {
  const known = new Set(state.tools.map(({ name }) => name));
  const went = names.filter((name) => known.has(name) && !state.gone.includes(name));
  const came = back.filter((name) => state.gone.includes(name));
  const waiting = new Set(names.filter((name) => !known.has(name)));
  if (went.length + came.length + waiting.size === 0) return state;
  const isTold = (name: string) => state.changes.some((change) => change.name === name);
  const isOffered = (name: string) => {
    const tool = state.tools.find((each) => each.name === name);
    return tool?.toolset === undefined && (tool?.deferred !== true || state.loaded.includes(name));
  };
  const fresh = [
    ...went.map((name): ToolChange => ({ type: 'tool_removal', name })),
    ...came.map((name): ToolChange => ({ type: 'tool_addition', name })),
  ].filter(({ name }) => isOffered(name) && !isTold(name));
  const undone = new Set([...went, ...came].filter(isTold));
  return {
    ...state,
    // One that was never sent needs no word.
    addedTools: state.addedTools.filter(({ name }) => !waiting.has(name)),
    gone: [...state.gone.filter((name) => !came.includes(name)), ...went],
    changes: [...state.changes.filter(({ name }) => !undone.has(name)), ...fresh],
  };
}
