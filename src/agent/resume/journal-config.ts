import type { Effect, Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import { isObject } from '../blocks.ts';
import { type EffectiveLimits, effectiveLimits, LIMIT_NAMES } from '../limits.ts';
import type { LoopConfig, LoopTool } from '../state.ts';

/** A limit that a journal doesn't name was none. */
const ENDLESS = Object.fromEntries(LIMIT_NAMES.map((name) => [name, Number.POSITIVE_INFINITY]));

/** Digests of entries, which stay the same objects from request to request. */
const digests = new WeakMap<object, string>();

/**
 * What a journal keeps of what is fixed for a run: everything that is JSON. Of tools it keeps what the loop goes by and a
 * digest of the entry; functions are the program's, and are there again when the run is resumed.
 */
export function journalConfig(config: LoopConfig): JsonObject {
  const { tools, system, limits, ...rest } = config;
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => isPlain(value))),
    limits: Object.fromEntries(Object.entries(limits).filter(([, value]) => Number.isFinite(value))),
    tools: tools.map((tool) => {
      const { entry, ...about } = tool;
      return { ...about, digest: digestOf(entry) };
    }),
    ...(system !== undefined && { system: digestOf(system) }),
  };
}

/** A tool of the run that is there no more, or is described otherwise now. */
export interface ToolChange {
  readonly name: string;
  readonly change: 'gone' | 'changed';
}

/**
 * The configuration that a run was begun with, on the program that is there now.
 *
 * @param journaled as `journalConfig` gave it
 * @param live what the agent would begin a run with
 * @returns `config`: its tools are those of then, in their order; one that is gone has the entry null
 */
export function configOfJournal(
  journaled: Json,
  live: LoopConfig,
): { readonly config: LoopConfig; readonly changes: readonly ToolChange[] } {
  if (!isObject(journaled)) return { config: live, changes: [] };
  const { tools, system: _system, limits, ...rest } = journaled;
  const kept = Object.entries(rest).filter(([key]) => {
    const now = (live as unknown as Readonly<Record<string, unknown>>)[key];
    return now === undefined || isPlain(now);
  });
  const now = new Map(live.tools.map((tool) => [tool.name, tool]));
  const changes: ToolChange[] = [];
  const known = (Array.isArray(tools) ? tools : []).flatMap((tool): LoopTool[] => {
    if (!isObject(tool) || typeof tool.name !== 'string') return [];
    const { digest, ...about } = tool;
    const entry = now.get(tool.name)?.entry ?? null;
    if (entry === null) changes.push({ name: tool.name, change: 'gone' });
    else if (typeof digest === 'string' && digest !== digestOf(entry)) {
      changes.push({ name: tool.name, change: 'changed' });
    }
    return [{ ...(about as object), name: tool.name, effect: effectOf(tool.effect), entry }];
  });
  return {
    config: { ...live, ...Object.fromEntries(kept), limits: limitsOf(limits, ENDLESS), tools: known },
    changes,
  };
}

/** The limits that a journal holds, over others; what is no number above zero is left out. */
export function limitsOf(journaled: Json | undefined, over: Partial<EffectiveLimits>): EffectiveLimits {
  const given = isObject(journaled) ? journaled : {};
  const numbers = LIMIT_NAMES.flatMap((name) => {
    const value = given[name];
    return typeof value === 'number' && value > 0 ? [[name, value] as const] : [];
  });
  return effectiveLimits({ ...over, ...Object.fromEntries(numbers) });
}

function effectOf(effect: Json | undefined): Effect {
  return effect === 'read' || effect === 'idempotent' ? effect : 'write';
}

function digestOf(value: Json): string {
  if (typeof value !== 'object' || value === null) return sha256(canonicalJson(value));
  const known = digests.get(value);
  if (known !== undefined) return known;
  const made = sha256(canonicalJson(value));
  digests.set(value, made);
  return made;
}

/** True for what JSON keeps as it is. */
function isPlain(value: unknown): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value !== 'object') return false;
  const proto = Object.getPrototypeOf(value) as unknown;
  return (proto === Object.prototype || proto === null) && Object.values(value).every(isPlain);
}
