import type { Reason, ServerRef, Store, ToolDefinition } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { followTable, tableWriter } from '../table-writer.ts';
import { definitionDiff } from './definition-diff.ts';
import { lockVerdict, type PinLock } from './pin-lock.ts';
import { pinReason } from './pin-reason.ts';
import { type Pinnable, type PinRecord, pinId, pinnableInstructions, pinnableTool } from './pin-record.ts';
import { pinRecords } from './pin-records.ts';

export interface PinsOptions {
  /** Pins on first use. It stays the caller's to close. Absent: only the lock counts. */
  readonly store?: Store;
  /** What isn't in it, or is defined otherwise than in it, is denied. */
  readonly lock?: PinLock;
  /** The fingerprint by which a server stands in the lock, where that isn't its own. */
  readonly lockedAs?: (server: Pick<ServerRef, 'key' | 'fingerprint'>) => string;
  /**
   * Whether the lock speaks for what a server offers, or for the tools of this process (null). Where it doesn't, what is
   * pinned in the store counts alone. Default: for all.
   */
  readonly lockSpeaksFor?: (server: Pick<ServerRef, 'key' | 'fingerprint'> | null) => boolean;
  /** Where the tools are used, e.g. a project's folder. Default: one place for all. */
  readonly place?: string;
  /** Most tools that are pinned in this place; one more is denied. Default 10,000. */
  readonly most?: number;
  /** Tools that are not asked about, such as a host's own. Default: none. */
  readonly except?: (tool: ToolDefinition) => boolean;
  /** False: what is seen is judged, and nothing is written. Default true. */
  readonly record?: boolean;
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

/** What was found out about a tool, or about a server's instructions. */
export interface PinNews extends Pick<Pinnable, 'server' | 'tool' | 'name'> {
  /** Of the record; absent where there is none. */
  readonly id?: string;
  /** Why it is held back; absent: it was new, and is pinned now. */
  readonly why?: Reason;
  /** It was told so often that no more is told of it, until somebody accepts a definition. */
  readonly last?: true;
}

export interface Pins {
  /** Why this tool may not be used as it is defined now; `undefined` when it may. Pins it when it is new. */
  verdict(tool: ToolDefinition): Reason | undefined;
  /**
   * The same for what a server says of how to use its tools.
   *
   * @param text absent or empty: it says nothing, which is pinned too
   */
  instructions(server: Pick<ServerRef, 'key' | 'fingerprint'>, text: string | undefined): Reason | undefined;
  /** How this tool is pinned, in a sentence for a person. Pins nothing. */
  explain(tool: ToolDefinition): Reason;
  /**
   * What was pinned and what was held back since this was asked last, each once; again where its server had gone back to
   * what is pinned, up to eight times in all. What isn't told is held back all the same.
   */
  news(): readonly PinNews[];
  list(): readonly PinRecord[];
  /**
   * Agrees to what was seen last.
   *
   * @param options.fingerprint of the definition that was looked at: another one is not agreed to
   * @throws BridleError `pin_not_found`, `pin_nothing_new`
   */
  accept(id: string, options: { readonly by: string; readonly fingerprint?: string }): Promise<PinRecord>;
  /**
   * Takes a pin away: the tool is new here when it is met next, and pinned as it is then.
   *
   * @returns what was pinned
   * @throws BridleError `pin_not_found`
   */
  forget(id: string): Promise<PinRecord>;
  /** Waits until what was seen is written. Rejects with what the store rejects with. */
  settled(): Promise<void>;
  /** Stops following what other processes agree to. */
  close(): void;
}

const MOST = 10_000;
/** A server could change what it says for ever: how often one pin is news, and how many are. */
const MOST_TOLD = { each: 8, pins: 20_000 } as const;

/** What was news already of one pin. */
interface Told {
  /** The fingerprint that was agreed to then: under another one everything is news again. */
  readonly over: string | undefined;
  readonly definitions: Set<string>;
  times: number;
}

/**
 * Pins of tools' definitions. With a store on first use: a tool that is new is pinned as it is; one that is defined
 * otherwise than it was pinned, or whose name looks like another's, is denied until somebody accepts it. With a lock only
 * what stands in it may be used. With both, both have to agree.
 *
 * @throws BridleError `pins_invalid` without either; what the store throws
 */
export async function pins(options: PinsOptions): Promise<Pins> {
  const {
    store,
    lock,
    lockedAs,
    lockSpeaksFor = () => true,
    place = '',
    most = MOST,
    except,
    record: isRecording = true,
    now = Date.now,
  } = options;
  if (!store && !lock) {
    throw new BridleError('pins_invalid', 'pins() has neither a store nor a lock.', { hint: 'Give at least one.' });
  }
  const table = store?.table<PinRecord>('pins', { v: 1 });
  /** Judged without being written: new to whoever looks next. */
  const glimpsed = new Set<string>();
  /** By the pin's id. */
  const told = new Map<string, Told>();
  /** The fingerprint that was judged last here, by the pin's id. */
  const judged = new Map<string, string>();
  const records = pinRecords();
  const drop = (id: string) => {
    records.delete(id);
    for (const known of [glimpsed, told, judged]) known.delete(id);
  };
  const kept = { set: records.set, drop };
  const unwatch = table ? await followTable(table, place, kept) : () => {};
  const writer = table && isRecording ? tableWriter(table, kept) : undefined;
  let news: PinNews[] = [];

  const tell = (one: Pinnable, id: string | undefined, why: Reason | undefined): Reason | undefined => {
    const about = pinId(place, one);
    const over = records.get(about)?.pinned?.fingerprint;
    const before = told.get(about);
    if (!before && told.size >= MOST_TOLD.pins) return why;
    const known = before?.over === over && before ? before : { over, definitions: new Set<string>(), times: 0 };
    const key = JSON.stringify([one.fingerprint, why?.code]);
    if (known.times >= MOST_TOLD.each || known.definitions.has(key)) return why;
    known.definitions.add(key);
    known.times += 1;
    told.set(about, known);
    const last = known.times === MOST_TOLD.each && ({ last: true } as const);
    const { server, tool, name } = one;
    news.push({ server, tool, name, ...(id !== undefined && { id }), ...(why && { why }), ...last });
    return why;
  };

  const firstSeen = (one: Pinnable, id: string): Reason | undefined => {
    if (records.size >= most)
      return pinReason('pins_full', `${most} tools are pinned here already, the most there may be: forget old ones.`);
    const { server, tool, name, fingerprint, definition } = one;
    const twin = records.twin(one);
    const seen = { fingerprint, definition, at: now() };
    const record: PinRecord = {
      v: 1,
      id,
      place,
      server: server && { key: server.key, fingerprint: server.fingerprint },
      tool,
      name,
      ...(twin === undefined ? { pinned: seen } : { pinned: null, seen, like: twin }),
    };
    records.set(id, record);
    if (writer) writer.write(id, (there) => (there === undefined ? record : undefined));
    else glimpsed.add(id);
    return twin === undefined ? undefined : likeReason(record);
  };

  /** Nothing waits any more: the server says again what was agreed to. */
  const wentBack = (record: PinRecord): void => {
    records.set(record.id, withoutSeen(record));
    told.get(record.id)?.definitions.clear();
    writer?.write(record.id, (there) =>
      there?.seen?.fingerprint === record.seen?.fingerprint ? there && withoutSeen(there) : undefined,
    );
  };

  const byUse = (one: Pinnable): Reason | undefined => {
    const id = pinId(place, one);
    const record = records.get(id);
    if (record === undefined) {
      const why = firstSeen(one, id);
      if (records.get(id)) judged.set(id, one.fingerprint);
      return tell(one, id, why);
    }
    const isNews = judged.get(id) !== one.fingerprint;
    judged.set(id, one.fingerprint);
    if (record.pinned?.fingerprint === one.fingerprint) {
      // Another process may meet the other definition all along: only who sees it go back says so.
      if (record.seen && isNews) wentBack(record);
      return undefined;
    }
    if (record.seen?.fingerprint !== one.fingerprint) {
      const seen = { fingerprint: one.fingerprint, definition: one.definition, at: now() };
      records.set(id, { ...record, seen });
      writer?.write(id, (there) => there && { ...there, seen });
    }
    return tell(one, id, record.pinned === null ? likeReason(record) : changedReason(one, record.pinned, id));
  };

  const byLock = (one: Pinnable): Reason | undefined => {
    if (!lock || !lockSpeaksFor(one.server)) return undefined;
    return lockVerdict(lock, one, one.server === null ? undefined : lockedAs?.(one.server));
  };

  const verdict = (one: Pinnable): Reason | undefined => {
    const why = byLock(one);
    if (why) return tell(one, undefined, why);
    return table ? byUse(one) : undefined;
  };

  return {
    // A view is configuration; the tool behind it has a pin of its own.
    verdict: (tool) => (tool.narrows || except?.(tool) === true ? undefined : verdict(pinnableTool(tool))),
    instructions: (server, text = '') => verdict(pinnableInstructions(server, text)),
    explain(tool) {
      if (except?.(tool) === true) return pinReason('pin_not_needed', "It is the host's own, and not pinned.");
      const one = pinnableTool(tool);
      const why = byLock(one);
      if (why) return why;
      if (!table && lockSpeaksFor(one.server)) return pinReason('pin_locked', 'It is as it stands in the lock.');
      if (!table) return pinReason('pin_not_needed', 'The lock does not speak for it, and nothing else is pinned.');
      const id = pinId(place, one);
      const record = records.get(id);
      return stateReason(one, glimpsed.has(id) && record?.pinned ? undefined : record);
    },
    news() {
      const found = news;
      news = [];
      return found;
    },
    list: () => [...records.values()],
    async accept(id, { by, fingerprint }) {
      const there = await table?.get(id);
      if (!table || there?.value.place !== place) throw new BridleError('pin_not_found', `There is no pin "${id}".`);
      const { seen, like: _like, ...rest } = there.value;
      if (!seen) throw new BridleError('pin_nothing_new', `Nothing new was seen of "${there.value.name}".`);
      const accepted: PinRecord = { ...rest, pinned: { ...seen, at: now(), by } };
      const isMeant = fingerprint === undefined || fingerprint === seen.fingerprint;
      if (!isMeant || !(await table.put(id, accepted, there.rev))) {
        throw new BridleError('pin_nothing_new', `Another definition of "${there.value.name}" was seen meanwhile.`, {
          hint: 'Look at it once more.',
        });
      }
      records.set(id, accepted);
      return accepted;
    },
    async forget(id) {
      await writer?.settled();
      for (;;) {
        const there = await table?.get(id);
        if (!table || there?.value.place !== place) throw new BridleError('pin_not_found', `There is no pin "${id}".`);
        if (!(await table.put(id, null, there.rev))) continue;
        drop(id);
        return there.value;
      }
    },
    settled: async () => writer?.settled(),
    close: unwatch,
  };
}

function withoutSeen({ seen: _seen, ...rest }: PinRecord): PinRecord {
  return rest;
}

function changedReason({ tool, server, definition }: Pinnable, pinned: { definition: object }, id: string): Reason {
  const changes = definitionDiff(pinned.definition as Pinnable['definition'], definition).join('; ');
  const what = tool === null ? `The instructions of server "${server?.key}"` : 'Its definition';
  return pinReason('pin_changed', `${what} changed since it was pinned (${id}): ${changes}.`);
}

function stateReason({ fingerprint }: Pinnable, record: PinRecord | undefined): Reason {
  if (record === undefined) return pinReason('pin_new', 'It is new here: it is pinned once it is used in a run.');
  const { id, pinned } = record;
  if (pinned?.fingerprint === fingerprint) {
    const how = pinned.by === undefined ? 'as it was seen first' : `as ${pinned.by} accepted it`;
    return pinReason('pin_kept', `It is pinned ${how}, ${new Date(pinned.at).toISOString().slice(0, 10)} (${id}).`);
  }
  const why = pinned === null ? 'its name can be taken for another' : 'its definition changed';
  return pinReason('pin_waits', `It is held back until it is accepted (${id}), because ${why}.`);
}

function likeReason({ id, like }: PinRecord): Reason {
  const whose = like === undefined ? 'another tool' : `"${like}"`;
  return pinReason('pin_look_alike', `Its name can be taken for ${whose}, which was there before (${id}).`);
}
