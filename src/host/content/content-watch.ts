import type { FoundResource } from '../../catalog/index.ts';
import { printable } from '../../tools/index.ts';
import { resourceLabel } from './content-places.ts';

/** Resources followed at a time; the oldest is let go first. */
const MOST_WATCHED = 32;

/** Follows the resources that are in a conversation. */
export interface ContentWatch {
  add(resources: readonly FoundResource[]): void;
  /** What to say of the changes since it was last asked; undefined when there were none. */
  take(): string | undefined;
  /** What was taken last wasn't said after all. */
  untake(): void;
  /** Forgets all: another conversation begins, or none. */
  clear(): void;
}

export function contentWatch(): ContentWatch {
  const watched = new Map<string, () => void>();
  const changed = new Set<string>();
  let taken: readonly string[] = [];
  const drop = (name: string): void => {
    watched.get(name)?.();
    watched.delete(name);
    changed.delete(name);
  };
  return {
    add(resources) {
      for (const resource of resources) {
        const name = printable(resourceLabel(resource), { maxLength: 300 });
        // Read anew, so what changed before is in.
        changed.delete(name);
        if (watched.has(name)) continue;
        const [oldest] = watched.keys();
        if (watched.size >= MOST_WATCHED && oldest !== undefined) drop(oldest);
        watched.set(
          name,
          resource.source.subscribe(resource.uri, () => changed.add(name)),
        );
      }
    },
    take() {
      taken = [...changed];
      if (taken.length === 0) return undefined;
      const names = taken.join(', ');
      changed.clear();
      return `${names} changed since it was read into this conversation; what was read then may be out of date.`;
    },
    untake() {
      for (const name of taken) if (watched.has(name)) changed.add(name);
      taken = [];
    },
    clear() {
      for (const name of [...watched.keys()]) drop(name);
    },
  };
}
