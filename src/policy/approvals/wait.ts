import { changeRecord } from './keep.ts';
import type { ApprovalRecord } from './record.ts';
import type { Settings } from './settings.ts';

/** A watch may miss what happens while a store is moved or restored; a look now and then doesn't. */
const LOOK_MS = 2_000;

/**
 * Waits until a waiting record is something else.
 *
 * @returns the record then; `undefined` when the time is over, the signal aborts, or the record is gone
 */
export async function changeOf(
  { table, now }: Pick<Settings, 'table' | 'now'>,
  { id }: ApprovalRecord,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<ApprovalRecord | undefined> {
  const until = performance.now() + ms;
  let wake = () => {};
  let isTold = false;
  const unwatch = table.watch(id, () => {
    isTold = true;
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      isTold = false;
      // Writes it down when its time is over.
      const found = await changeRecord(table, id, now, () => ({ left: undefined }));
      if (found?.record.state !== 'waiting') return found?.record;
      const left = Math.min(until - performance.now(), LOOK_MS, Math.max(1, found.record.expiresAt - now()));
      if (signal.aborted || until <= performance.now()) return undefined;
      if (isTold) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, left));
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    unwatch();
  }
}
