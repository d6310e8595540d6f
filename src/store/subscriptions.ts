/** Who wants to know of changes, by table and prefix. */
export interface Subscriptions {
  /** @returns unsubscribes */
  add(table: string, prefix: string, tell: (key: string) => void): () => void;
  tell(table: string, key: string): void;
  size(): number;
  clear(): void;
}

interface Subscription {
  readonly table: string;
  readonly prefix: string;
  readonly tell: (key: string) => void;
}

export function createSubscriptions(): Subscriptions {
  const all = new Set<Subscription>();
  return {
    add(table, prefix, tell) {
      const subscription = { table, prefix, tell };
      all.add(subscription);
      return () => void all.delete(subscription);
    },
    tell(table, key) {
      for (const subscription of [...all]) {
        if (subscription.table !== table || !key.startsWith(subscription.prefix) || !all.has(subscription)) continue;
        try {
          subscription.tell(key);
        } catch {
          // What a listener throws is its own; the others still hear.
        }
      }
    },
    size: () => all.size,
    clear: () => all.clear(),
  };
}
