import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { IdempotencyLedger, Store } from '../contracts/index.ts';
import { idempotencyLedger } from '../dispatch/index.ts';
import { openStore, stateDir } from '../store/index.ts';
import type { CommandIo } from './command.ts';

/** The person's `state.db`, opened when something of it is first needed. */
export interface StateStore {
  /** Made if there is none. The same one each time, also when that failed. */
  open(): Promise<Store>;
  /** Nothing of it is there, so nothing was ever kept. */
  isAbsent(): boolean;
  close(): Promise<void>;
}

export function stateStore({ env }: Pick<CommandIo, 'env'>): StateStore {
  const file = join(stateDir(env), 'state.db');
  let opened: Promise<Store> | undefined;
  return {
    open() {
      opened ??= openStore({ file });
      return opened;
    },
    isAbsent: () => opened === undefined && !existsSync(file),
    async close() {
      const store = await opened?.catch(() => undefined);
      await store?.close();
    },
  };
}

/** Remembers acts over runs, and among processes; costs nothing where no tool declares an idempotency key. */
export function stateLedger(state: StateStore): IdempotencyLedger {
  let ledger: IdempotencyLedger | undefined;
  const opened = async (): Promise<IdempotencyLedger> => {
    ledger ??= idempotencyLedger(await state.open());
    return ledger;
  };
  return {
    find: async (key, call, signal) => (state.isAbsent() ? undefined : (await opened()).find(key, call, signal)),
    claim: async (key, call, signal) => (await opened()).claim(key, call, signal),
  };
}
