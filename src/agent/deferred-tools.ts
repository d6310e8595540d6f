/**
 * Rule of this file: a deferred tool that is called without having been found runs like any other, under the same rules;
 * from the next request on its definition is there, and the model and whoever watches are told so.
 */
import type { Json } from '../contracts/index.ts';
import { harnessNote, printable } from '../tools/index.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import { leavesOutDeferred, referencedIn, referencedNow } from './found-tools.ts';
import type { PendingCall } from './reply.ts';
import { sentMessages } from './sent-messages.ts';
import type { LoopState } from './state.ts';
import { type ToolChange, toldAsGone, toldOfTools } from './tool-changes.ts';

/** Loads the deferred tools among those that a reply calls, where no search has loaded them. */
export function loadCalled(state: LoopState, calls: readonly PendingCall[]): LoopState {
  const called = new Set(calls.flatMap(({ toolset, name }) => (toolset === undefined ? [name] : [])));
  const names = state.tools.flatMap(({ name, deferred }) =>
    deferred === true && called.has(name) && ![...state.loaded, ...state.loading].includes(name) ? [name] : [],
  );
  if (names.length === 0) return state;
  // Where they are left out of requests, a reference alone doesn't load them.
  const found = leavesOutDeferred(state.config) ? NONE : referencedNow(state);
  const told = toldOfTools(sentMessages(state));
  const fresh = names.filter((name) => !found.has(name) && told.get(name) !== 'tool_addition');
  if (fresh.length === 0) return state;
  return { ...state, loading: [...state.loading, ...fresh], notes: [...state.notes, loadedNote(fresh)] };
}

const NONE: ReadonlySet<string> = new Set();

/**
 * A run before its first request, with the deferred tools loaded that its conversation found, called or was told of as
 * gone in runs before, as far as that is still sent: what the model has cached of them stays cached. What it was told of
 * as gone and what is there again, it is told of as there.
 */
export function withEarlierTools(state: LoopState): LoopState {
  const deferred = new Set(state.tools.flatMap((tool) => (tool.deferred === true ? [tool.name] : [])));
  if (deferred.size === 0 && state.config.toolChanges !== true) return state;
  const sent = sentMessages(state);
  return withReturned(deferred.size === 0 ? state : withEarlierDeferred(state, sent, deferred), sent);
}

function withEarlierDeferred(state: LoopState, sent: readonly Json[], deferred: ReadonlySet<string>): LoopState {
  const called = calledIn(sent).filter((name) => deferred.has(name));
  const referenced = referencedIn(sent);
  if (leavesOutDeferred(state.config)) return { ...state, found: [...state.found, ...referenced, ...called] };
  const told = toldOfTools(sent);
  const isThere = (name: string) => referenced.has(name) || told.get(name) === 'tool_addition';
  // Only what stood whole at the beginning can be told of first as gone.
  const whole = [...told].flatMap(([name, type]) => (type === 'tool_removal' && deferred.has(name) ? [name] : []));
  const loaded = [...new Set([...called, ...whole])].filter((name) => !isThere(name));
  return loaded.length === 0 ? state : { ...state, loaded: [...state.loaded, ...loaded] };
}

function withReturned(state: LoopState, sent: readonly Json[]): LoopState {
  if (state.config.toolChanges !== true) return state;
  const offered = new Set(
    state.tools.flatMap(({ name, deferred, toolset }) => {
      const isOffered = deferred !== true || [...state.loaded, ...state.found].includes(name);
      return toolset === undefined && isOffered ? [name] : [];
    }),
  );
  const back = toldAsGone(sent).filter((name) => offered.has(name));
  if (back.length === 0) return state;
  return {
    ...state,
    changes: [...state.changes, ...back.map((name): ToolChange => ({ type: 'tool_addition', name }))],
  };
}

function calledIn(messages: readonly Json[]): readonly string[] {
  const blocks = messages.flatMap((message) => (isObject(message) ? contentBlocks(message.content) : []));
  return blocks.flatMap((block) =>
    isBlock(block, 'tool_use') && isObject(block) && block.toolset_name === undefined ? [String(block.name)] : [],
  );
}

function loadedNote(names: readonly string[]): string {
  const named = names.map((name) => printable(name, { maxLength: 80 })).join(', ');
  return harnessNote(
    `you called ${named} without having searched for it. It was dealt with as any call; its definition is loaded now, so go by that.`,
  );
}
