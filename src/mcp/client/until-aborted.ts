import { onAbort } from '../../tools/index.ts';
import { McpError } from './errors.ts';
import { timeLimit } from './time-limit.ts';

/**
 * Waits for something shared that one caller must not stop: when the signal fires or the time is up, only this wait
 * ends. Nothing was sent by then.
 *
 * @param work begins the wait, or joins it; not called when the signal has fired already
 * @param what for messages: what was being waited for
 * @param ms the longest wait in milliseconds; none when left out
 */
export async function untilAborted<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
  what: string,
  ms?: number,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void) | undefined;
  const given = new Promise<never>((_, reject) => {
    const cancel = () =>
      reject(new McpError('mcp_cancelled', `${what} was cancelled before it was sent.`, { executed: 'not_executed' }));
    if (signal?.aborted) cancel();
    else if (signal) unsubscribe = onAbort(signal, cancel);
    timer = timeLimit(ms, () =>
      reject(
        new McpError('mcp_hard_timeout', `${what} was not sent: the server was not ready within ${ms} ms.`, {
          executed: 'not_executed',
          passing: true,
        }),
      ),
    );
  });
  try {
    return await Promise.race([signal?.aborted ? given : work(), given]);
  } finally {
    clearTimeout(timer);
    unsubscribe?.();
  }
}
