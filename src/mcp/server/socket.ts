import { chmodSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { isAbsolute } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { ServeHandle, ToolHost } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { type LinePeer, linePeer } from './line-peer.ts';
import { note, notePreviews } from './notes.ts';
import { ANYONE } from './peer.ts';
import { servedBy } from './served.ts';

/** Longest address of a Unix socket that every system takes, in bytes. */
const MAX_PATH_BYTES = 103;
/** How long a server at the same address may take to show that it is there, in milliseconds. */
const PROBE_MS = 1_000;
/** How often, and after which pauses in milliseconds, a place is tried that another server is about to take. */
const LOCK_TRIES = 100;
const LOCK_PAUSE_MS = 50;

/**
 * Serves a Unix socket, each connection as a client of its own, with the lines of stdio; see `serve`. Who may connect is
 * who may open the file: nobody but its owner.
 */
export async function serveOverSocket(
  host: ToolHost,
  { path: given }: { readonly path: string },
): Promise<ServeHandle> {
  const path = asPath(given);
  if (process.platform === 'win32') throw refused(path, 'Windows has no Unix sockets here', 'Serve over HTTP instead.');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw refused(
      path,
      `its name has more than ${MAX_PATH_BYTES} bytes`,
      'Choose a shorter path, such as one in /run or /tmp.',
    );
  }
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
  try {
    await takePlace(path, () => listen(server, path));
  } catch (error) {
    served.close();
    throw error;
  }
  // One connection that can't be accepted is no reason to end all others.
  server.on('error', (error) => note(`a connection failed: ${error.message}`));
  let closed: Promise<void> | undefined;
  return {
    close() {
      closed ??= new Promise<void>((resolve) => {
        // The file goes with the listener.
        server.close(() => resolve());
        for (const end of [...peers.values()]) end();
        served.close();
      });
      return closed;
    },
  };
}

/**
 * What can be nothing but the path of a file: the platform takes the name `8080`, and the empty one, for a port, on which
 * everybody who reaches this machine could call.
 */
function asPath(given: string): string {
  const hint = 'Give the path of a file, such as one in /run or /tmp.';
  if (given === '') throw refused('a socket', 'its path is empty', hint);
  if (given.includes('\0')) throw refused(JSON.stringify(given), 'its path holds a zero character', hint);
  return isAbsolute(given) ? given : `./${given}`;
}

/**
 * A socket that a process left behind is taken away; one that somebody serves, or another kind of file, is not. Of several
 * that come at once one looks at a time: else the last would take away what another has just begun to serve.
 */
async function takePlace(path: string, listen: () => Promise<void>): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (!there) return listen();
  if (!there.isSocket())
    throw refused(path, 'there is a file of that name', 'Choose another path, or remove the file.');
  const release = await alone(path);
  try {
    if (await answers(path))
      throw refused(path, 'somebody serves it already', 'Choose another path, or end the other server.');
    rmSync(path, { force: true });
    await listen();
  } finally {
    release();
  }
}

/** Holds a file beside the socket, with the number of this process in it. One of a process that is gone holds nobody. */
async function alone(path: string): Promise<() => void> {
  const file = `${path}.lock`;
  for (let left = LOCK_TRIES; left > 0; left -= 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) {
        throw refused(path, `${file} can't be made`, 'Choose a path in a folder of yours.', cause);
      }
    }
    if (isLeft(file)) rmSync(file, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
  }
  throw refused(path, `another server is about to take it (${file})`, 'Try again, or choose another path.');
}

function isLeft(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // It may just be written.
    if (!Number.isInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
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
    const fail = (cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      reject(refused(path, why, 'Choose a path in a folder of yours.', cause));
    };
    server.once('error', fail);
    // Nobody may connect in the moment before the mode is set. A thread can't have a mask of its own.
    const before = isMainThread ? process.umask(0o177) : undefined;
    server.listen(path, () => {
      server.off('error', fail);
      try {
        chmodSync(path, 0o600);
        resolve();
      } catch (cause) {
        server.close();
        fail(cause);
      }
    });
    if (before !== undefined) process.umask(before);
  });
}

function refused(path: string, why: string, hint: string, cause?: unknown): BridleError {
  return new BridleError('serve_address', `Can't listen on ${path}: ${why}.`, { hint, cause });
}
