import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, Policy, Reason, ServerRef, Store, ToolDefinition } from '../contracts/index.ts';
import type { Project, ServerInstructions } from '../host/index.ts';
import { type PinLock, type PinNews, type Pins, pins, readPinLock, withPins } from '../policy/index.ts';
import { memoryStore, openStore, stateDir } from '../store/index.ts';
import { canonicalJson, isBridleError, isHostTool, printable, sha256 } from '../tools/index.ts';
import type { CommandIo } from './command.ts';
import { counted } from './counted.ts';

/** What is agreed to of the project's tools, as a command uses it. */
export interface WorkspacePins {
  /** Takes from a policy what isn't agreed to. */
  wrap(policy: Policy): Policy;
  /** Why the instructions of a server that has answered are not given to the model; undefined where they may be. */
  instructions(said: ServerInstructions): Reason | undefined;
  /** How a tool is pinned; undefined where nothing is. */
  explain(tool: ToolDefinition): Reason | undefined;
  /** Says what was pinned and held back so far, and from then on whatever comes. */
  tell(note: (text: string) => void, warning: (reason: Reason) => void): void;
  /** What there is to be warned about before any server has answered. */
  readonly problems: readonly Reason[];
  close(): Promise<void>;
}

export const LOCK_FILE = 'bridle.lock.json';

const UNPINNED: WorkspacePins = {
  wrap: (policy) => policy,
  instructions: () => undefined,
  explain: () => undefined,
  tell: () => {},
  problems: [],
  close: async () => {},
};

/**
 * Opens the pins as the settings say.
 *
 * @param how `record`: what is new is pinned; `look`: nothing is written; `none`: nothing is held back
 * @throws BridleError `config_lock_unreadable`, and what the store throws but `no_database`
 */
export async function workspacePins(
  { pins: settings, root, listed }: Project,
  io: Pick<CommandIo, 'env'>,
  how: 'record' | 'look' | 'none',
): Promise<WorkspacePins> {
  if (how === 'none' || !(settings.firstUse || settings.locked)) return UNPINNED;
  const problems: Reason[] = [];
  const lock = settings.locked ? await readLock(root) : undefined;
  if (settings.locked && !lock) {
    const whose = settings.locked === 'all' ? 'a server' : "the project's servers";
    const text = `There is no ${LOCK_FILE}, so no tool of ${whose} may be used. 'bridle pins lock' writes one.`;
    problems.push({ room: 'cli', code: 'pin_lock_missing', text });
  }
  const store = settings.firstUse
    ? await personStore(io, how).catch((error) => noDatabase(error, problems))
    : undefined;
  if (!store && !settings.locked) return { ...UNPINNED, problems };
  const known = await pins({
    ...(store && { store }),
    ...(settings.locked && { lock: lock ?? { version: 1, servers: {}, tools: {} } }),
    lockedAs: (server) => portableFingerprint(server, listed),
    lockSpeaksFor: (server) => {
      if (settings.locked === 'all' || server === null || isOfProject(server.key, listed)) return true;
      // A lock that was written with such a file holds for it.
      return isNamed(server.key, listed) && Object.hasOwn(lock?.servers ?? {}, server.key);
    },
    place: root,
    except: isOwn,
    record: how === 'record',
  });
  return opened(known, store, problems, lock !== undefined);
}

function opened(known: Pins, store: Store | undefined, problems: Reason[], hasLock: boolean): WorkspacePins {
  let listener: { note(text: string): void; warning(reason: Reason): void } | undefined;
  let isDue = false;
  const flush = () => {
    if (!listener) return;
    const { notes, warnings } = inWords(known.news(), hasLock);
    for (const text of notes) listener.note(text);
    for (const reason of warnings) listener.warning(reason);
  };
  const later = () => {
    if (isDue || !listener) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      flush();
    });
  };
  const heard = <T>(found: T): T => {
    later();
    return found;
  };
  return {
    wrap: (policy) =>
      withPins(policy, { verdict: (tool) => heard(known.verdict(tool)), settled: () => known.settled() }),
    instructions: ({ server, instructions }) => heard(known.instructions(server, instructions)),
    explain: (tool) => known.explain(tool),
    tell(note, warning) {
      listener = { note, warning };
      flush();
    },
    problems,
    async close() {
      flush();
      listener = undefined;
      known.close();
      // What could not be written is seen first once more by the next run.
      await known.settled().catch(() => {});
      await store?.close();
    },
  };
}

/** The pins of this person in one place, for looking at and for agreeing. */
export async function pinRecords(
  io: Pick<CommandIo, 'env'>,
  place: string,
): Promise<{ readonly known: Pins; close(): Promise<void> }> {
  const store = await personStore(io, 'record');
  const known = await pins({ store, place, except: isOwn });
  return {
    known,
    async close() {
      known.close();
      await known.settled();
      await store.close();
    },
  };
}

/** @returns undefined where there is none */
export async function readLock(root: string): Promise<PinLock | undefined> {
  const file = join(root, LOCK_FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  return readPinLock(text, file);
}

/** Whether a server that is in use comes from the project's own file. */
export function isOfProject(key: string, listed: Project['listed']): boolean {
  return listed.some((one) => one.key === key && one.state === 'ready' && one.scope === 'project');
}

/** Whether a server that is in use comes from a file that was named on the command line. */
export function isNamed(key: string, listed: Project['listed']): boolean {
  return listed.some((one) => one.key === key && one.state === 'ready' && one.named === true);
}

/** Of the entry as it stands in its file, so that a lock holds on every machine, whatever variables come to there. */
export function portableFingerprint(
  { key, fingerprint }: Pick<ServerRef, 'key' | 'fingerprint'>,
  listed: Project['listed'],
): string {
  const raw = listed.find((one) => one.key === key && one.state === 'ready')?.raw;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return fingerprint;
  const part = (name: string): Json => (Object.hasOwn(raw, name) ? (raw[name] ?? null) : null);
  return sha256(canonicalJson([part('command'), part('args'), part('url')]));
}

/** Definitions that Bridle writes itself change with its own version, which is no server's doing. */
function isOwn(tool: ToolDefinition): boolean {
  return tool.ref.server === null || isHostTool(tool);
}

/** The person's `state.db`; where nothing is to be written and there is none, an empty store. */
export async function personStore(io: Pick<CommandIo, 'env'>, how: 'record' | 'look'): Promise<Store> {
  const file = join(stateDir(io.env), 'state.db');
  return how === 'look' && !existsSync(file) ? memoryStore() : openStore({ file });
}

function noDatabase(error: unknown, problems: Reason[]): undefined {
  if (!isBridleError(error) || error.code !== 'no_database') throw error;
  const text = `Tools are not pinned, so a changed one is not noticed: ${error.message} ${error.hint ?? ''}`.trimEnd();
  problems.push({ room: 'cli', code: 'pins_not_kept', text });
}

const NO_MORE = ' It changes again and again, so no more is told of it.';

/** What was found out, a sentence each: of new tools and of unlocked ones a server, of others a tool. */
function inWords(news: readonly PinNews[], hasLock = true) {
  const added = new Map<string, number>();
  const unlocked = new Map<string, string[]>();
  const unpinned = new Map<string, string[]>();
  const warnings: Reason[] = [];
  const warn = (code: string, text: string) => void warnings.push({ room: 'cli', code, text });
  for (const { server, tool, name, id, why, last } of news) {
    const key = server?.key ?? '';
    const what = tool === null ? `The instructions of server "${printable(key)}" are` : `"${printable(name)}" is`;
    if (!why) {
      if (tool !== null) added.set(key, (added.get(key) ?? 0) + 1);
    } else if (why.code === 'pin_not_locked' || why.code === 'pin_lock_differs') {
      if (hasLock) unlocked.set(key, [...(unlocked.get(key) ?? []), tool ?? 'its instructions']);
    } else if (why.code === 'pins_full') {
      unpinned.set(key, [...(unpinned.get(key) ?? []), tool ?? 'its instructions']);
    } else if (id === undefined) {
      warn(why.code, `${what} held back. ${why.text}`);
    } else {
      const because =
        why.code === 'pin_changed' ? 'what its server says of it changed since it was pinned' : lowered(why);
      warn(
        why.code,
        `${what} held back: ${because}. Look: bridle pins show ${id}; agree: bridle pins accept ${id}.${last ? NO_MORE : ''}`,
      );
    }
  }
  for (const [key, tools] of unlocked) {
    const text = `Of server "${printable(key)}" is held back what ${LOCK_FILE} doesn't agree to: ${few(tools)}. Look: bridle pins check; agree: bridle pins lock.`;
    warn('pin_not_locked', text);
  }
  for (const [key, tools] of unpinned) {
    const text = `Of server "${printable(key)}" is held back ${few(tools)}: as many tools are pinned here as may be. Make room: bridle pins prune, or bridle pins forget SERVER.`;
    warn('pins_full', text);
  }
  const notes = [...added].map(([key, count]) => {
    const were = count === 1 ? 'was' : 'were';
    return `${counted(count, 'new tool')} of server ${printable(key)} ${were} pinned (bridle pins list)`;
  });
  return { notes, warnings };
}

/** The first five of the names. */
function few(tools: readonly string[]): string {
  const named = tools.slice(0, 5).map((tool) => printable(tool, { maxLength: 80 }));
  return tools.length > 5 ? `${named.join(', ')} and ${tools.length - 5} more` : named.join(', ');
}

function lowered({ text }: Reason): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/ \([0-9a-f-]+\)\.$/, '');
}
