/**
 * Rule of this file: a deferred tool that is called without having been found runs like any other, under the same rules;
 * from the next request on its definition is there, and the model and whoever watches are told so.
 */
import type { Json } from '../contracts/index.ts';
import { harnessNote, printable } from '../tools/index.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import type { PendingCall } from './reply.ts';
import type { LoopState } from './state.ts';
import type { Transcript } from './transcript.ts';

/** Loads the deferred tools among those that a reply calls, where no search has loaded them. */
export function loadCalled(state: LoopState, calls: readonly PendingCall[]): LoopState {
  const called = new Set(calls.flatMap(({ toolset, name }) => (toolset === undefined ? [name] : [])));
  const names = state.tools.flatMap(({ name, deferred }) =>
    deferred === true && called.has(name) && ![...state.loaded, ...state.loading].includes(name) ? [name] : [],
  );
  if (names.length === 0) return state;
  const found = referenced(state.transcript);
  const fresh = names.filter((name) => !found.has(name));
  if (fresh.length === 0) return state;
  return { ...state, loading: [...state.loading, ...fresh], notes: [...state.notes, loadedNote(fresh)] };
}

/** The entry of a tool that was loaded: as it is, but no longer deferred. */
export function loadedEntry(entry: Json): Json {
  if (!isObject(entry)) return entry;
  const { defer_loading: _, ...rest } = entry;
  return rest;
}

function loadedNote(names: readonly string[]): string {
  const named = names.map((name) => printable(name, { maxLength: 80 })).join(', ');
  return harnessNote(
    `you called ${named} without having searched for it. It was dealt with as any call; its definition is loaded now, so go by that.`,
  );
}

/** Names that search results refer to, the provider's and a client's; what they name is loaded by that. */
function referenced(transcript: Transcript): ReadonlySet<string> {
  const messages = transcript.state === 'open' ? [...transcript.messages, transcript.reply] : transcript.messages;
  const names = new Set<string>();
  for (const block of messages.flatMap((message) => (isObject(message) ? contentBlocks(message.content) : []))) {
    for (const reference of referencesIn(block)) {
      if (isObject(reference) && typeof reference.tool_name === 'string') names.add(reference.tool_name);
    }
  }
  return names;
}

function referencesIn(block: Json): readonly Json[] {
  if (!isObject(block)) return [];
  const { type, content } = block;
  if (type === 'tool_result' && Array.isArray(content))
    return content.filter((part) => isBlock(part, 'tool_reference'));
  const found = type === 'tool_search_tool_result' && isObject(content) ? content.tool_references : [];
  return Array.isArray(found) ? found : [];
}
