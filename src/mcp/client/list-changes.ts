import type { Connection } from '../../contracts/index.ts';

/** How soon a change is told, and the longest it may take when changes don't stop. */
const COALESCE_MS = 100;
const MAX_COALESCE_MS = 10_000;

/**
 * Tells when a server says that one of its lists changed. A storm of notifications is one change. Each change that
 * follows soon is told later than the last one: some servers say that their list changed whenever it is read.
 *
 * @param methods the notifications that count
 * @param heard told of each of them at once
 */
export function onListChanges(
  connection: Connection,
  methods: ReadonlySet<string>,
  listener: () => void,
  heard?: () => void,
): () => void {
  let timer: NodeJS.Timeout | null = null;
  let pause = COALESCE_MS;
  let toldAt = Number.NEGATIVE_INFINITY;
  const stop = connection.onNotification((method) => {
    if (!methods.has(method)) return;
    heard?.();
    if (timer) return;
    pause = Date.now() - toldAt < MAX_COALESCE_MS ? Math.min(pause * 2, MAX_COALESCE_MS) : COALESCE_MS;
    timer = setTimeout(() => {
      timer = null;
      toldAt = Date.now();
      listener();
    }, pause);
  });
  return () => {
    stop();
    if (timer) clearTimeout(timer);
  };
}
