import type { Json, JsonObject } from '../contracts/index.ts';
import { isObject } from './blocks.ts';
import type { LoopTool } from './state.ts';

/** The entry of a tool that was loaded: as it is, but no longer deferred. The same object each time. */
export function loadedEntry(entry: Json): Json {
  if (!isObject(entry)) return entry;
  return madeOnce(loadedOf, entry, ({ defer_loading: _, ...rest }) => rest);
}

/** The entry of a tool that is deferred. The API takes no mark for the cache on one: it isn't in the prompt. */
export function deferredEntry(entry: Json): Json {
  if (!isObject(entry)) return entry;
  return madeOnce(deferredOf, entry, ({ cache_control: _, ...rest }) => ({ ...rest, defer_loading: true }));
}

const loadedOf = new WeakMap<JsonObject, JsonObject>();
const deferredOf = new WeakMap<JsonObject, JsonObject>();

function madeOnce(
  made: WeakMap<JsonObject, JsonObject>,
  entry: JsonObject,
  make: (entry: JsonObject) => JsonObject,
): JsonObject {
  const known = made.get(entry) ?? make(entry);
  made.set(entry, known);
  return known;
}

/** A tool that was loaded, or that nobody could find. */
export function undeferred({ deferred: _, ...tool }: LoopTool): LoopTool {
  return { ...tool, entry: loadedEntry(tool.entry) };
}
