import { lookAlikes } from './look-alike.ts';
import type { Pinnable, PinRecord } from './pin-record.ts';

/** The records of one place by id, as they are known here. */
interface PinRecords {
  readonly size: number;
  get(id: string): PinRecord | undefined;
  set(id: string, record: PinRecord): void;
  delete(id: string): void;
  values(): Iterable<PinRecord>;
  /** The wire name of a tool among them that this one could be taken for. */
  twin(one: Pinnable): string | undefined;
}

export function pinRecords(): PinRecords {
  const records = new Map<string, PinRecord>();
  const alike = lookAlikes();
  return {
    get size() {
      return records.size;
    },
    get: (id) => records.get(id),
    set(id, record) {
      // Server and names are part of the id, so what is added once stays true.
      if (!records.has(id)) alike.add(record);
      records.set(id, record);
    },
    delete(id) {
      const record = records.get(id);
      if (record === undefined) return;
      records.delete(id);
      alike.remove(record);
    },
    values: () => records.values(),
    twin: (one) => alike.of(one)?.name,
  };
}
