/**
 * Waits for one listing, but never longer than it may take, whatever the source does.
 *
 * @param listMs longest listing, in milliseconds
 * @throws what the listing rejects with, or an Error that says that it was given up
 */
export async function listWithin<T>(
  list: (signal: AbortSignal) => Promise<T>,
  listMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  const given = new Promise<never>((_resolve, reject) => {
    const giveUp = (why: string) => {
      reject(new Error(why));
      stop.abort(new Error(why));
    };
    timer = setTimeout(() => giveUp(`it gave no list within ${listMs} ms`), listMs);
    onAbort = () => giveUp('listing was cancelled');
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
  });
  // A synchronous throw becomes a rejection.
  const started = async () => list(stop.signal);
  try {
    return await Promise.race([started(), given]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
