import { type FileHandle, open } from 'node:fs/promises';

/** Appends lines to one file, in order; lines that come while a write is under way go out together with the next one. */
export interface LineWriter {
  /**
   * @param durable wait until the line is on disk (fdatasync), not only handed to the system
   * @returns resolves when the line is written; rejects when it could not be
   */
  append(line: string, durable: boolean): Promise<void>;
  /** Writes what is pending, syncs and closes. Later appends reject. */
  close(): Promise<void>;
}

interface Pending {
  readonly line: string;
  readonly durable: boolean;
  readonly done: (error?: unknown) => void;
}

/** Opens a file (0600) for appending. A last line that was torn by a crash is ended first, so that it stays alone. */
export async function openLineWriter(path: string): Promise<{ writer: LineWriter; empty: boolean }> {
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    let torn = size > 0 && !(await endsWithNewline(file, size));
    const write = async (batch: readonly Pending[]): Promise<void> => {
      const text = batch.map(({ line }) => `${line}\n`).join('');
      const bytes = Buffer.from(torn ? `\n${text}` : text);
      torn = true;
      await writeAll(file, bytes);
      torn = false;
      if (batch.some(({ durable }) => durable)) await file.datasync();
    };
    return { writer: batchingWriter(write, () => syncAndClose(file)), empty: size === 0 };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function batchingWriter(write: (batch: readonly Pending[]) => Promise<void>, end: () => Promise<void>): LineWriter {
  let pending: Pending[] = [];
  let running: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      try {
        await write(batch);
        for (const { done } of batch) done();
      } catch (error) {
        for (const { done } of batch) done(error);
      }
    }
    running = undefined;
  };
  return {
    append(line, durable) {
      if (closing) return Promise.reject(new Error('the file is closed'));
      return new Promise((resolve, reject) => {
        pending.push({ line, durable, done: (error) => (error === undefined ? resolve() : reject(error)) });
        running ??= drain();
      });
    },
    close() {
      closing ??= (async () => {
        await running;
        await end();
      })();
      return closing;
    },
  };
}

async function endsWithNewline(file: FileHandle, size: number): Promise<boolean> {
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] === 0x0a;
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written);
    written += bytesWritten;
  }
}

async function syncAndClose(file: FileHandle): Promise<void> {
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
