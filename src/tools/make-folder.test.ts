import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from './index.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bridle-folder-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('makes a folder and those above it, with the mode asked for, and is content when it is there', async () => {
  await makeFolder(join(dir, 'a', 'b'), 0o700);
  await makeFolder(join(dir, 'a', 'b'), 0o700);
  for (const made of ['a', 'a/b']) expect((await stat(join(dir, made))).mode & 0o777).toBe(0o700);
});

test('fails at once where none can be made, below a file as below /proc', async () => {
  await writeFile(join(dir, 'file'), '');
  await expect(makeFolder(join(dir, 'file', 'a', 'b'))).rejects.toHaveProperty('code', 'ENOTDIR');
  await expect(makeFolder('/proc/nothing/here')).rejects.toHaveProperty('code');
});
