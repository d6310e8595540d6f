import type { CommandIo } from './command.ts';

/**
 * Takes charge of the streams that a command writes to: without a listener a failing one would end the process in the
 * middle of its work, with a stack trace. A reader that left (`bridle tools list | head -1`) is no error; the work goes
 * on to its end, so that servers and traces are closed in order.
 *
 * @returns waits until stdout has taken everything, and gives the error that kept it from that
 */
export function watchOutput({
  stdout,
  stderr,
}: Pick<CommandIo, 'stdout' | 'stderr'>): () => Promise<Error | undefined> {
  let failure: Error | undefined;
  const isGone = (error: Error) => 'code' in error && error.code === 'EPIPE';
  stdout.on('error', (error) => {
    if (!isGone(error)) failure ??= error;
  });
  // There is no other place to say that nothing can be said.
  stderr.on('error', () => {});
  return async () => {
    await new Promise<void>((resolve) => void stdout.write('', () => resolve()));
    return failure;
  };
}
