import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import type { ServeHandle, ToolHost } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { type LinePeer, linePeer } from './line-peer.ts';
import { notePreviews } from './notes.ts';
import { ANYONE } from './peer.ts';
import { servedBy } from './served.ts';

/** Longest address of a Unix socket that every system takes, in bytes. */
const MAX_PATH_BYTES = 103;
/** How long a server at the same address may take to show that it is there, in milliseconds. */
const PROBE_MS = 1_000;

/**
 * Serves a Unix socket, each connection as a client of its own, with the lines of stdio; see `serve`. Who may connect is
 * who may open the file: nobody but its owner.
 */
export async function serveOverSocket(host: ToolHost, { path }: { readonly path: string }): Promise<ServeHandle> {
  if (process.platform === 'win32') throw refused(path, 'Windows has no Unix sockets here', 'Serve over HTTP instead.');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw refused(
      path,
      `its name has more than ${MAX_PATH_BYTES} bytes`,
      'Choose a shorter path, such as one in /run or /tmp.',
    );
  }
  await makeRoom(path);
  notePreviews(host);
  const served = servedBy(host);
  const peers = new Map<LinePeer, () => void>();
  const server = createServer((socket) => {
    const end = () => {
      if (!peers.delete(peer)) return;
      peer.close();
      socket.destroySoon();
    };
    const peer = linePeer(served, { input: socket, output: socket, who: ANYONE }, () => end());
    peers.set(peer, end);
    socket.once('end', end).once('close', end).once('error', end);
  });
  await listen(server, path);
  let closed: Promise<void> | undefined;
  return {
    close() {
      closed ??= new Promise<void>((resolve) => {
        // The file goes with the listener.
        server.close(() => resolve());
        for (const end of [...peers.values()]) end();
        served.changes.close();
      });
      return closed;
    },
  };
}

/** A socket that a process left behind is taken away; one that somebody serves, or another kind of file, is not. */
async function makeRoom(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there) return;
  if (!there.isSocket())
    throw refused(path, 'there is a file of that name', 'Choose another path, or remove the file.');
  if (await answers(path))
    throw refused(path, 'somebody serves it already', 'Choose another path, or end the other server.');
  unlinkSync(path);
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    const finish = (is: boolean) => {
      probe.destroy();
      resolve(is);
    };
    probe.setTimeout(PROBE_MS, () => finish(true));
    probe.once('connect', () => finish(true)).once('error', () => finish(false));
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(refused(path, cause.message, 'Choose a path in a folder of yours.', cause)));
    // Nobody may connect in the moment before the mode is set.
    const before = process.umask(0o177);
    server.listen(path, () => {
      chmodSync(path, 0o600);
      resolve();
    });
    process.umask(before);
  });
}

function refused(path: string, why: string, hint: string, cause?: unknown): BridleError {
  return new BridleError('serve_address', `Can't listen on ${path}: ${why}.`, { hint, cause });
}
