import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import type { ServeHandle, ToolHost } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { note, notePreviews } from './notes.ts';
import { ANYONE } from './peer.ts';
import { createServer } from './relay.ts';
import { followListening, resourceUpdates } from './resource-updates.ts';
import { tellContentChanged } from './serve-content.ts';

/** How long the process may outlive its stdin when something else still holds it, in milliseconds. */
const LINGER_MS = 2_000;
/** Longest message read from a client, in bytes. */
const MAX_FRAME_BYTES = 10 * 1024 * 1024;

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
export async function serveOverStdio(host: ToolHost): Promise<ServeHandle> {
  if (taken) {
    throw new BridleError('serve_stdio_taken', 'This process already serves its stdin and stdout.', {
      hint: 'Serve one host with all the tools, or close the first handle before.',
    });
  }
  taken = true;
  // First of all, so that what is printed while the SDK loads is already out of the protocol's way.
  const stdout = claimStdout();
  const [sdk, { serveStdio, StdioServerTransport }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  notePreviews(host);
  const conversation = randomUUID();
  const unsubscribers: (() => void)[] = [];
  let updated: (uri: string) => void = () => {};
  const updates = resourceUpdates(host, (uri) => updated(uri));
  const transport = new StdioServerTransport(process.stdin, stdout.protocol, { maxBufferSize: MAX_FRAME_BYTES });
  const connection = serveStdio(
    ({ era }) => {
      const server = createServer(sdk, host, { who: ANYONE, conversation, era });
      unsubscribers.push(host.onChange(() => void server.sendToolListChanged().catch(() => undefined)));
      const { content } = host;
      if (content) unsubscribers.push(content.onChange(() => tellContentChanged(server)));
      if (era === 'modern') updated = (uri) => void server.sendResourceUpdated({ uri }).catch(() => undefined);
      return server;
    },
    {
      transport,
      onerror: (error) => note(error.message),
    },
  );
  // The SDK answers `subscriptions/listen` itself; what is listened for has to be known here too.
  unsubscribers.push(followListening(transport, updates));

  let closed: Promise<void> | undefined;
  const disconnect = () => {
    closed ??= (async () => {
      for (const unsubscribe of unsubscribers) unsubscribe();
      process.stdin.off('end', end).off('close', end);
      await connection.close();
      // A pipe or terminal; a file has no `unref` and holds nothing.
      process.stdin.unref?.();
    })();
    return closed;
  };
  const end = () => {
    void disconnect();
    // Unreferenced: it fires only if a timer or socket of the program would keep a server without a client alive.
    setTimeout(() => process.exit(), LINGER_MS).unref();
  };
  process.stdin.once('end', end).once('close', end);
  stdout.protocol.once('error', end);
  if (process.stdin.readableEnded || process.stdin.destroyed) end();
  return {
    async close() {
      await disconnect();
      stdout.release();
      taken = false;
    },
  };
}
