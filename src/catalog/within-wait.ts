/** How long a list waits for its sources. */
export interface ReadyOptions {
  /** Longest wait, in milliseconds. */
  readonly ms: number;
  /** Ends the wait: what isn't there by then comes later. */
  readonly enough?: AbortSignal | undefined;
  /** Gives up the listings themselves. */
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the work, or earlier when the wait is over. */
export async function withinWait(work: Promise<unknown>, { ms, enough }: Partial<ReadyOptions>): Promise<void> {
  if (ms === undefined && enough === undefined) {
    await work;
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  let onEnough = () => {};
  const over = new Promise<void>((resolve) => {
    onEnough = resolve;
    if (ms !== undefined) timer = setTimeout(resolve, ms);
    enough?.addEventListener('abort', onEnough, { once: true });
    if (enough?.aborted) resolve();
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
  enough?.removeEventListener('abort', onEnough);
}
