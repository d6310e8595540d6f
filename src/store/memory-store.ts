import type { RecordVersions, Store, StoreLog, StoreTable } from '../contracts/index.ts';
import { readRecord, recordText } from './record-text.ts';
import { storeClosed } from './store-closed.ts';
import { createSubscriptions } from './subscriptions.ts';

interface Entry {
  readonly text: string;
  readonly rev: number;
}

/**
 * A store that ends with the process: for tests, and for programs that keep nothing. It behaves as `openStore` does,
 * apart from that: records are copied in and out, and revisions are never given twice.
 */
export function memoryStore(): Store {
  const tables = new Map<string, Map<string, Entry>>();
  const logs = new Map<string, string[]>();
  const subscriptions = createSubscriptions();
  let rev = 0;
  let isClosed = false;
  const open = () => {
    if (isClosed) throw storeClosed();
  };

  function table<T extends { readonly v: number }>(name: string, versions?: RecordVersions<T>): StoreTable<T> {
    const entries = tables.get(name) ?? new Map<string, Entry>();
    tables.set(name, entries);
    const read = (key: string, { text }: Entry) => readRecord<T>(text, `table ${name}, key "${key}"`, versions);
    return {
      async get(key) {
        open();
        const entry = entries.get(key);
        return entry && { value: read(key, entry), rev: entry.rev };
      },
      async put(key, value, ifRev) {
        open();
        const text = value === null ? null : recordText(value);
        if ((entries.get(key)?.rev ?? null) !== ifRev) return false;
        if (text === null && ifRev === null) return true;
        rev += 1;
        if (text === null) entries.delete(key);
        else entries.set(key, { text, rev });
        setImmediate(() => subscriptions.tell(name, key));
        return true;
      },
      async *list(prefix) {
        open();
        const keys = [...entries.keys()].filter((key) => key.startsWith(prefix));
        keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        for (const key of keys) {
          const entry = entries.get(key);
          if (entry) yield [key, read(key, entry)];
        }
      },
      watch(prefix, cb) {
        open();
        return subscriptions.add(name, prefix, cb);
      },
    };
  }

  function log<T extends { readonly v: number }>(
    name: string,
    writer: string,
    versions?: RecordVersions<T>,
  ): StoreLog<T> {
    const id = JSON.stringify([name, writer]);
    const texts = logs.get(id) ?? [];
    logs.set(id, texts);
    return {
      async append(records) {
        open();
        texts.push(...records.map(recordText));
        return texts.length;
      },
      async *read(from) {
        open();
        for (let seq = Math.max(1, from); seq <= texts.length; seq += 1) {
          const where = `log ${name} of ${writer}, record ${seq}`;
          yield { seq, record: readRecord<T>(texts[seq - 1] ?? '', where, versions) };
        }
      },
    };
  }

  return {
    log,
    table,
    async close() {
      isClosed = true;
      subscriptions.clear();
    },
  };
}
