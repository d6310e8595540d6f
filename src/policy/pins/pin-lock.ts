import type { Json, JsonObject, Reason, ServerRef, ToolDefinition } from '../../contracts/index.ts';
import { BridleError, canonicalJson, sha256 } from '../../tools/index.ts';
import { pinReason } from './pin-reason.ts';
import { type Pinnable, pinnableInstructions, pinnableTool } from './pin-record.ts';

/** One definition in a lock: fingerprints only, so that a lock is short and tells nothing. */
export interface LockedDefinition {
  /** SHA-256 (hex) of the whole. */
  readonly fingerprint: string;
  /** Of each member, the first 12 digits: to say which of them differ. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface LockedServer {
  /** SHA-256 (hex) of its command line or address. */
  readonly fingerprint: string;
  /** The package that its command line names, with the version. */
  readonly package?: string;
  /** Of the instructions that go to the model. */
  readonly instructions?: LockedDefinition;
  readonly tools: Readonly<Record<string, LockedDefinition>>;
}

/** What is in a `bridle.lock.json`: the tools that a team agreed to, as they were defined then. */
export interface PinLock {
  readonly version: 1;
  readonly servers: Readonly<Record<string, LockedServer>>;
  /** Of the process itself. */
  readonly tools: Readonly<Record<string, LockedDefinition>>;
}

/** A server as it goes into a lock. */
export interface ServerToLock {
  readonly server: Pick<ServerRef, 'key' | 'fingerprint'>;
  /** Stands in for the one of `server`, e.g. where that depends on the machine. */
  readonly fingerprint?: string;
  readonly package?: string;
  readonly instructions?: string;
}

/** One place where a lock and what is there differ. */
export interface LockDifference {
  readonly server: string | null;
  /** Null: it is about the server as a whole, or its instructions. */
  readonly tool: string | null;
  readonly what: 'new' | 'gone' | 'changed';
  readonly text: string;
}

/**
 * Makes a lock of tools as they are defined now.
 *
 * @param tools of any servers, and of this process
 * @param servers more about those servers; one that isn't named here is locked by its own fingerprint
 */
export function pinLock(tools: readonly ToolDefinition[], servers: readonly ServerToLock[] = []): PinLock {
  const told = new Map<string, ServerToLock>(servers.map((each) => [each.server.key, each]));
  for (const { ref } of tools) {
    if (ref.server && !told.has(ref.server.key)) told.set(ref.server.key, { server: ref.server });
  }
  const toolsOf = (key: string | null) =>
    sortedObject(
      tools
        .filter(({ ref }) => (ref.server?.key ?? null) === key)
        .map((tool): [string, LockedDefinition] => [tool.ref.tool, lockedDefinition(pinnableTool(tool))]),
    );
  const lockedServer = ({ server, fingerprint, package: fetched, instructions = '' }: ServerToLock): LockedServer => ({
    fingerprint: fingerprint ?? server.fingerprint,
    ...(fetched !== undefined && { package: fetched }),
    ...(instructions !== '' && { instructions: lockedDefinition(pinnableInstructions(server, instructions)) }),
    tools: toolsOf(server.key),
  });
  const entries = [...told].map(([key, each]): [string, LockedServer] => [key, lockedServer(each)]);
  return { version: 1, servers: sortedObject(entries), tools: toolsOf(null) };
}

/**
 * Reads a lock.
 *
 * @param text JSON
 * @param file named in the error
 * @throws BridleError `config_lock_unreadable`
 */
export function readPinLock(text: string, file = 'the lock'): PinLock {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    throw unreadable(file, 'is not JSON', cause);
  }
  if (!isObject(value) || value.version !== 1) throw unreadable(file, 'is no lock of version 1');
  const { servers, tools = {} } = value;
  if (!isObject(servers) || !Object.values(servers).every(isLockedServer) || !isLockedTools(tools)) {
    throw unreadable(file, 'has servers or tools that are no part of a lock');
  }
  return value as unknown as PinLock;
}

/** Why a lock doesn't agree to a tool or a server's instructions; `undefined` when it does. */
export function lockVerdict(lock: PinLock, one: Pinnable, serverFingerprint?: string): Reason | undefined {
  const { server, tool, name } = one;
  const locked = server === null ? undefined : own(lock.servers, server.key);
  if (server !== null && locked === undefined) {
    return pinReason('pin_not_locked', `Its server "${server.key}" is not in the lock.`);
  }
  if (locked !== undefined && locked.fingerprint !== (serverFingerprint ?? server?.fingerprint)) {
    const text = `The command line or address of its server "${server?.key}" is another than the one in the lock.`;
    return pinReason('pin_lock_differs', text);
  }
  if (tool === null) {
    if (locked?.instructions === undefined && one.definition.instructions === '') return undefined;
    return against(locked?.instructions, one, `The instructions of server "${server?.key}"`);
  }
  return against(own(server === null ? (lock.tools ?? {}) : (locked?.tools ?? {}), tool), one, `"${name}"`);
}

function against(locked: LockedDefinition | undefined, one: Pinnable, what: string): Reason | undefined {
  if (locked?.fingerprint === one.fingerprint) return undefined;
  const are = one.tool === null ? 'are' : 'is';
  if (!locked) return pinReason('pin_not_locked', `${what} ${are} not in the lock.`);
  const parts = changedParts(locked, lockedDefinition(one)).join(', ');
  return pinReason('pin_lock_differs', `${what} ${are} another than in the lock: ${parts} differ${few(parts)}.`);
}

/** Every place where they differ, servers and tools in the order of their names. */
export function lockDifferences(lock: PinLock, now: PinLock): readonly LockDifference[] {
  const out: LockDifference[] = [];
  for (const key of names(lock.servers, now.servers)) {
    const [before, after] = [own(lock.servers, key), own(now.servers, key)];
    const add = (what: LockDifference['what'], text: string) => out.push({ server: key, tool: null, what, text });
    if (!after) add('gone', `server ${key} is in the lock, and is not here`);
    else if (!before) add('new', `server ${key} is not in the lock`);
    else {
      if (before.package !== after.package) {
        add('changed', `server ${key}: its package was ${before.package ?? 'none'}, is ${after.package ?? 'none'}`);
      }
      if (before.fingerprint !== after.fingerprint)
        add('changed', `server ${key}: its command line or address changed`);
      if (before.instructions?.fingerprint !== after.instructions?.fingerprint) {
        add('changed', `server ${key}: its instructions changed`);
      }
      out.push(...toolDifferences(key, before.tools, after.tools));
    }
  }
  return [...out, ...toolDifferences(null, lock.tools ?? {}, now.tools)];
}

type LockedTools = PinLock['tools'];

function toolDifferences(server: string | null, before: LockedTools, after: LockedTools): readonly LockDifference[] {
  const label = (tool: string) => (server === null ? `tool ${tool}` : `server ${server}: tool ${tool}`);
  return names(before, after).flatMap((tool): LockDifference | readonly [] => {
    const [was, is] = [own(before, tool), own(after, tool)];
    if (!is) return { server, tool, what: 'gone', text: `${label(tool)} is in the lock, and is not here` };
    if (!was) return { server, tool, what: 'new', text: `${label(tool)} is not in the lock` };
    if (was.fingerprint === is.fingerprint) return [];
    const text = `${label(tool)} is defined otherwise: ${changedParts(was, is).join(', ')}`;
    return { server, tool, what: 'changed', text };
  });
}

function lockedDefinition({ definition, fingerprint }: Pinnable): LockedDefinition {
  const parts = Object.entries(definition).map(([key, value]): [string, string] => [
    key,
    sha256(canonicalJson(value)).slice(0, 12),
  ]);
  return { fingerprint, parts: sortedObject(parts) };
}

function changedParts(before: LockedDefinition, after: LockedDefinition): readonly string[] {
  return names(before.parts, after.parts).filter((key) => own(before.parts, key) !== own(after.parts, key));
}

function few(parts: string): string {
  return parts.includes(', ') ? '' : 's';
}

function names(one: object, other: object): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
}

/** `fromEntries` defines members, so that a name such as `__proto__` is one like any other. */
function sortedObject<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function own<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isLockedServer(value: Json): boolean {
  if (!isObject(value) || typeof value.fingerprint !== 'string') return false;
  const { package: fetched, instructions, tools } = value;
  if (fetched !== undefined && typeof fetched !== 'string') return false;
  return isLockedTools(tools) && (instructions === undefined || isLockedDefinition(instructions));
}

function isLockedTools(value: Json | undefined): boolean {
  return isObject(value) && Object.values(value).every(isLockedDefinition);
}

function isLockedDefinition(value: Json): boolean {
  if (!isObject(value) || typeof value.fingerprint !== 'string') return false;
  return isObject(value.parts) && Object.values(value.parts).every((part) => typeof part === 'string');
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unreadable(file: string, what: string, cause?: unknown): BridleError {
  return new BridleError('config_lock_unreadable', `${file} ${what}.`, {
    hint: "Take it from version control, or write it anew with 'bridle pins lock'.",
    ...(cause !== undefined && { cause }),
  });
}
