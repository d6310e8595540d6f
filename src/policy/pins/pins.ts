import type { Policy, Reason, Store, ToolDefinition } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { definitionFingerprint, pinnedDefinition } from './canonical-definition.ts';
import { definitionDiff } from './definition-diff.ts';
import { looksLike } from './look-alike.ts';
import { type PinnedDefinition, type PinRecord, pinId } from './pin-record.ts';

export interface PinsOptions {
  /** It stays the caller's to close. */
  readonly store: Store;
  /** Where the tools are used, e.g. a project's folder. Default: one place for all. */
  readonly place?: string;
  /** Most tools that are pinned in this place; one more is denied. Default 10,000. */
  readonly most?: number;
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

export interface Pins {
  /** Why this tool may not be used as it is defined now; `undefined` when it may. Pins it when it is new. */
  verdict(tool: ToolDefinition): Reason | undefined;
  list(): readonly PinRecord[];
  /** Agrees to what was seen last. @throws BridleError `pin_not_found`, `pin_nothing_new` */
  accept(id: string, options: { readonly by: string }): Promise<PinRecord>;
  /** Waits until what was seen is written. Rejects with what the store rejects with. */
  settled(): Promise<void>;
  /** Stops following what other processes agree to. */
  close(): void;
}

const MOST = 10_000;

/**
 * Pins of tools' definitions, on first use: a tool that is new is pinned as it is; one that is defined otherwise than it
 * was pinned, or whose name looks like another's, is denied until somebody accepts it.
 */
export async function pins({ store, place = '', most = MOST, now = Date.now }: PinsOptions): Promise<Pins> {
  const table = store.table<PinRecord>('pins', { v: 1 });
  const records = new Map<string, PinRecord>();
  const writes = new Map<string, Promise<void>>();
  const unwatch = table.watch('', (key) => {
    void table.get(key).then(
      (found) => found?.value.place === place && records.set(key, found.value),
      () => {},
    );
  });
  for await (const [key, record] of table.list('')) if (record.place === place) records.set(key, record);

  /** What is on disk counts: somebody may have been quicker, with another definition. */
  const write = (id: string, change: (record: PinRecord | undefined) => PinRecord | undefined) => {
    const work = (writes.get(id) ?? Promise.resolve()).then(async () => {
      for (;;) {
        const found = await table.get(id);
        const next = change(found?.value);
        if (next === undefined) {
          if (found) records.set(id, found.value);
          return;
        }
        if (!(await table.put(id, next, found?.rev ?? null))) continue;
        records.set(id, next);
        return;
      }
    });
    writes.set(id, work);
    const done = () => {
      if (writes.get(id) === work) writes.delete(id);
    };
    // One that fails stays, so that `settled` tells it.
    work.then(done, () => {});
  };

  const firstSeen = (tool: ToolDefinition, id: string, seen: PinnedDefinition): Reason | undefined => {
    if (records.size >= most)
      return reason('pins_full', `${most} tools are pinned here already, the most there may be.`);
    const twin = lookAlike(tool, records.values());
    const { server, tool: name, name: wire } = tool.ref;
    const record: PinRecord = {
      v: 1,
      id,
      place,
      server: server && { key: server.key, fingerprint: server.fingerprint },
      tool: name,
      name: wire,
      ...(twin === undefined ? { pinned: seen } : { pinned: null, seen }),
    };
    records.set(id, record);
    write(id, (there) => (there === undefined ? record : undefined));
    return twin && likeReason(id, twin);
  };

  return {
    verdict(tool) {
      const id = pinId(place, tool.ref);
      const definition = pinnedDefinition(tool);
      const seen = { fingerprint: definitionFingerprint(definition), definition, at: now() };
      const record = records.get(id);
      if (record === undefined) return firstSeen(tool, id, seen);
      if (record.pinned?.fingerprint === seen.fingerprint) return undefined;
      if (record.seen?.fingerprint !== seen.fingerprint) {
        records.set(id, { ...record, seen });
        write(id, (there) => there && { ...there, seen });
      }
      if (record.pinned === null) return likeReason(id, undefined);
      const changes = definitionDiff(record.pinned.definition, definition).join('; ');
      return reason('pin_changed', `Its definition changed since it was pinned (${id}): ${changes}.`);
    },
    list: () => [...records.values()],
    async accept(id, { by }) {
      const there = await table.get(id);
      if (!there) throw new BridleError('pin_not_found', `There is no pin "${id}".`);
      const { seen, ...rest } = there.value;
      if (!seen) throw new BridleError('pin_nothing_new', `Nothing new was seen of "${there.value.name}".`);
      const accepted: PinRecord = { ...rest, pinned: { ...seen, at: now(), by } };
      if (!(await table.put(id, accepted, there.rev))) {
        throw new BridleError('pin_nothing_new', `Another definition of "${there.value.name}" was seen meanwhile.`, {
          hint: 'Look at it once more.',
        });
      }
      records.set(id, accepted);
      return accepted;
    },
    async settled() {
      while (writes.size > 0) await Promise.all([...writes.values()]);
    },
    close: unwatch,
  };
}

/** A policy that denies what the pins do not agree to, to be seen as to be called; the rest is decided as before. */
export function withPins(policy: Policy, known: Pick<Pins, 'verdict' | 'settled'>): Policy {
  return {
    view(who, tool) {
      const decision = policy.view(who, tool);
      const why = known.verdict(tool);
      return why ? { effect: 'deny', reasons: [why], policyVersion: decision.policyVersion } : decision;
    },
    async decide(who, tool, call) {
      known.verdict(tool);
      // What was pinned counts once it is on disk, where another process may have been quicker.
      await known.settled();
      const why = known.verdict(tool);
      if (!why) return policy.decide(who, tool, call);
      return { effect: 'deny', reasons: [why], policyVersion: policy.view(who, tool).policyVersion };
    },
  };
}

/** The pinned tool that a new one could be taken for: of the same server by its look, of any by its whole name. */
function lookAlike({ ref }: ToolDefinition, pinned: Iterable<PinRecord>): PinRecord | undefined {
  const look = looksLike(ref.tool);
  for (const record of pinned) {
    const sameServer = record.server?.key === ref.server?.key && record.server?.fingerprint === ref.server?.fingerprint;
    if (sameServer ? record.tool !== ref.tool && looksLike(record.tool) === look : looksLike(record.name) === look) {
      return record;
    }
  }
  return undefined;
}

function likeReason(id: string, twin: PinRecord | undefined): Reason {
  const whose = twin ? `"${twin.name}"` : 'another tool';
  return reason('pin_look_alike', `Its name can be taken for ${whose}, which was there before (${id}).`);
}

function reason(code: string, text: string): Reason {
  return { room: 'policy', code, text };
}
