import { type FileHandle, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openLineWriter } from './line-writer.ts';

let dir: string;
let path: string;
/** What the file handles of this process share, so that their calls can be watched. */
let handles: FileHandle;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lines-'));
  path = join(dir, 'lines');
  const handle = await open(join(dir, 'other'), 'w');
  handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(dir, { recursive: true, force: true });
});

test('a durable line resolves only after it was synced to disk', async () => {
  const { writer } = await openLineWriter(path);
  let release = () => {};
  const synced = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sync = vi.spyOn(handles, 'datasync').mockReturnValueOnce(synced);
  let resolved = false;
  const appended = writer.append('line', true).then(() => {
    resolved = true;
  });
  await vi.waitFor(() => expect(sync).toHaveBeenCalledTimes(1));
  expect(await readFile(path, 'utf8')).toBe('line\n');
  expect(resolved).toBe(false);
  release();
  await appended;
  await writer.close();
});

test('a line that need not be durable is not synced', async () => {
  const { writer } = await openLineWriter(path);
  const sync = vi.spyOn(handles, 'datasync');
  await writer.append('line', false);
  expect(sync).not.toHaveBeenCalled();
  await writer.close();
});

test('lines that wait at the same time share one sync, and keep their order', async () => {
  const { writer } = await openLineWriter(path);
  const sync = vi.spyOn(handles, 'datasync');
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  await Promise.all(lines.map((line) => writer.append(line, true)));
  expect(sync.mock.calls.length).toBeLessThanOrEqual(2);
  expect(await readFile(path, 'utf8')).toBe(`${lines.join('\n')}\n`);
  await writer.close();
});

test('a sync that fails rejects the line that waits for it, and the next line still goes through', async () => {
  const { writer } = await openLineWriter(path);
  vi.spyOn(handles, 'datasync').mockRejectedValueOnce(new Error('no space'));
  await expect(writer.append('one', true)).rejects.toThrow('no space');
  await writer.append('two', true);
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
  await writer.close();
});
