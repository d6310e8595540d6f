import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** One file of whole lines that grows at its end. What an append that failed left behind is cut off again. */
export interface Segment {
  /** Bytes of whole lines. */
  readonly size: () => number;
  /** Rejects when the text isn't wholly written, or not synced where that was asked for; then nothing of it stays. */
  append(text: string, durable: boolean): Promise<void>;
  /** Syncs and closes. */
  close(): Promise<void>;
}

/**
 * @param size of the whole lines that are there; what is behind it is cut off
 * @param isNew fail when there is such a file
 */
export async function openSegment(path: string, size: number, isNew: boolean): Promise<Segment> {
  const file = await open(path, isNew ? 'wx' : 'r+', 0o600);
  let length = size;
  let isDirty = !isNew;
  const clean = async () => {
    if (!isDirty) return;
    await file.truncate(length);
    isDirty = false;
  };
  try {
    await clean();
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    size: () => length,
    async append(text, durable) {
      await clean();
      const bytes = Buffer.from(text);
      isDirty = true;
      try {
        await writeAll(file, bytes, length);
        if (durable) await file.datasync();
      } catch (error) {
        // At once where it can be, else before the next append.
        await clean().catch(() => {});
        throw error;
      }
      length += bytes.length;
      isDirty = false;
    },
    async close() {
      try {
        await clean();
        await file.datasync();
      } finally {
        await file.close();
      }
    },
  };
}

async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, at + written);
    written += bytesWritten;
  }
}

/** The whole lines of a file, without what stands behind the last line feed. Splits at line feeds only. */
export async function* wholeLines(path: string): AsyncGenerator<string, void> {
  let pieces: Buffer[] = [];
  for await (const chunk of createReadStream(path)) {
    let rest = chunk as Buffer;
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      yield Buffer.concat([...pieces, rest.subarray(0, end)]).toString('utf8');
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) pieces.push(rest);
  }
}

/** How many whole lines a file has, their bytes, and the bytes of what stands behind them. */
export async function measure(path: string): Promise<{ lines: number; whole: number; torn: number }> {
  let lines = 0;
  let whole = 0;
  let read = 0;
  for await (const chunk of createReadStream(path)) {
    const bytes = chunk as Buffer;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, end + 1)) {
      lines += 1;
      whole = read + end + 1;
    }
    read += bytes.length;
  }
  return { lines, whole, torn: read - whole };
}
