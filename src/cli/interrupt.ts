import type { CommandIo } from './command.ts';
import { EXIT } from './exit-code.ts';

/**
 * Runs work that Ctrl-C, SIGTERM or a hang-up may stop. The first signal aborts the work and lets it end in order; a
 * second one ends the process at once (children die with it).
 *
 * @param taken asked first of each signal: whether the work has dealt with it and goes on
 * @returns the work's exit status
 */
export async function interruptible(
  work: (signal: AbortSignal) => Promise<number>,
  io: CommandIo,
  taken: (name: NodeJS.Signals) => boolean = () => false,
): Promise<number> {
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (taken(name)) return;
    if (stop.signal.aborted) process.exit(EXIT.aborted);
    io.stderr.write(`\nstopping (${name}); once more to stop at once\n`);
    stop.abort(new Error(`stopped by ${name}`));
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, onSignal);
  try {
    return await work(stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return EXIT.aborted;
    throw error;
  } finally {
    for (const name of signals) process.off(name, onSignal);
  }
}

/**
 * Does work that takes no signal, such as making an agent, which starts every server and waits for its tools. When it
 * is to stop, what it waits for is closed, and so it ends.
 */
export async function closingOnAbort<T>(
  signal: AbortSignal,
  close: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const onAbort = () => void close();
  signal.throwIfAborted();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
