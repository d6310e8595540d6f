import type { Identity, ToolHost } from '../../contracts/index.ts';

/** What is told of lists, in either era. */
export type ListChange =
  | 'notifications/tools/list_changed'
  | 'notifications/resources/list_changed'
  | 'notifications/prompts/list_changed';

/** What changes at a host, told once for changes of one moment. */
export interface Changes {
  onLists(listener: (method: ListChange) => void): () => void;
  /** @param who for whom the resource is followed */
  onUpdated(uri: string, who: Identity, listener: () => void): () => void;
  close(): void;
}

export function changesOf(host: ToolHost): Changes {
  const listeners = new Set<(method: ListChange) => void>();
  const due = new Set<ListChange>();
  const later = gather(() => {
    const methods = [...due];
    due.clear();
    for (const method of methods) for (const listener of [...listeners]) listener(method);
  });
  const changed = (...methods: readonly ListChange[]) => {
    for (const method of methods) due.add(method);
    later();
  };
  const stops = [host.onChange(() => changed('notifications/tools/list_changed'))];
  const unfollow = host.content?.onChange(() =>
    changed('notifications/resources/list_changed', 'notifications/prompts/list_changed'),
  );
  if (unfollow) stops.push(unfollow);
  return {
    onLists(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    onUpdated: (uri, who, listener) => host.content?.subscribe(uri, who, gather(listener)) ?? (() => {}),
    close() {
      for (const stop of stops) stop();
      listeners.clear();
    },
  };
}

/** Calls it once for all calls of one moment: still before the result of the call that changed something. */
function gather(tell: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      tell();
    });
  };
}
