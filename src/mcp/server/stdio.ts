import { Writable } from 'node:stream';
import type { Identity, ServeHandle, ToolHost } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { linePeer } from './line-peer.ts';
import { notePreviews } from './notes.ts';
import { ANYONE } from './peer.ts';
import { servedBy } from './served.ts';

/** How long the process may outlive its stdin when something else still holds it, in milliseconds. */
const LINGER_MS = 2_000;

/** The real stdout for the protocol, and the way back. */
interface ClaimedStdout {
  readonly protocol: Writable;
  release(): void;
}

/**
 * Keeps stdout for the protocol: whatever else this process writes there (`console.log`, a library's banner) goes to
 * stderr. What a child process writes to an inherited stdout can't be caught here: give children their own pipe.
 */
function claimStdout(): ClaimedStdout {
  const stdout = process.stdout;
  const original = stdout.write;
  const protocol = new Writable({
    decodeStrings: false,
    write(chunk, encoding, done) {
      Reflect.apply(original, stdout, [chunk, encoding, done]);
    },
  });
  const onError = (error: Error) => protocol.destroy(error);
  stdout.on('error', onError);
  stdout.write = process.stderr.write.bind(process.stderr);
  return {
    protocol,
    release() {
      stdout.off('error', onError);
      stdout.write = original;
    },
  };
}

let taken = false;

/** Serves this process's stdin and stdout; see `serve`. */
export async function serveOverStdio(host: ToolHost, who: Identity = ANYONE): Promise<ServeHandle> {
  if (taken) {
    throw new BridleError('serve_stdio_taken', 'This process already serves its stdin and stdout.', {
      hint: 'Serve one host with all the tools, or close the first handle before.',
    });
  }
  taken = true;
  // First of all, so that nothing that is printed from here on gets in the protocol's way.
  const stdout = claimStdout();
  notePreviews(host);
  const served = servedBy(host);
  const { stdin: input } = process;
  const peer = linePeer(served, { input, output: stdout.protocol, who }, () => end());
  // An earlier handle may have let go of it.
  input.ref?.();
  input.resume();
  let closed = false;
  const disconnect = () => {
    if (closed) return;
    closed = true;
    process.stdin.off('end', end).off('close', end);
    peer.close();
    served.close();
    process.stdin.pause();
    // A pipe or terminal; a file has no `unref` and holds nothing.
    process.stdin.unref?.();
  };
  const end = () => {
    disconnect();
    // Unreferenced: it fires only if a timer or socket of the program would keep a server without a client alive.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  };
  process.stdin.once('end', end).once('close', end);
  stdout.protocol.once('error', end);
  if (process.stdin.readableEnded || process.stdin.destroyed) end();
  return {
    async close() {
      disconnect();
      stdout.release();
      taken = false;
    },
  };
}
