import { mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FileTrash, fileTrash } from './file-trash.ts';

let home: string;
let trash: FileTrash;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'bridle-trash-'));
  trash = fileTrash(join(home, 'trash'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'went well',
    (error) => error.code,
  );

test('a file goes to the trash and comes back as it was', async () => {
  const file = join(home, 'note.txt');
  await writeFile(file, 'hello');
  const { id, path } = await trash.put(file);
  expect(path).toBe(file);
  expect(await code(stat(file))).toBe('ENOENT');
  expect((await trash.list()).map((one) => one.id)).toEqual([id]);
  await trash.restore(id);
  expect(await readFile(file, 'utf8')).toBe('hello');
  expect(await trash.list()).toEqual([]);
});

test('a folder goes with all that is in it, and its parents are made again', async () => {
  const folder = join(home, 'deep', 'folder');
  await mkdir(join(folder, 'in'), { recursive: true });
  await writeFile(join(folder, 'in', 'a'), 'a');
  const { id } = await trash.put(folder);
  await rm(join(home, 'deep'), { recursive: true });
  await trash.restore(id);
  expect(await readFile(join(folder, 'in', 'a'), 'utf8')).toBe('a');
});

test('a link goes itself, and what it leads to stays', async () => {
  await writeFile(join(home, 'target'), 'stays');
  await symlink(join(home, 'target'), join(home, 'link'));
  const { id } = await trash.put(join(home, 'link'));
  expect(await readFile(join(home, 'target'), 'utf8')).toBe('stays');
  await trash.restore(id);
  expect(await readlink(join(home, 'link'))).toBe(join(home, 'target'));
});

test('nothing that came in the meantime is overwritten', async () => {
  const file = join(home, 'note.txt');
  await writeFile(file, 'old');
  const { id } = await trash.put(file);
  await writeFile(file, 'new');
  expect(await code(trash.restore(id))).toBe('trash_occupied');
  expect(await readFile(file, 'utf8')).toBe('new');
  expect(await trash.list()).toHaveLength(1);
});

test('what is not there, not known, or holds the trash itself is refused', async () => {
  expect(await code(trash.put(join(home, 'missing')))).toBe('trash_missing');
  expect(await code(trash.restore('../../etc'))).toBe('trash_unknown');
  expect(await code(trash.restore('0'.repeat(24)))).toBe('trash_unknown');
  await mkdir(join(home, 'trash'));
  expect(await code(trash.put(home))).toBe('trash_missing');
});

test('only what is old enough is deleted for good', async () => {
  await writeFile(join(home, 'a'), 'a');
  const put = await trash.put(join(home, 'a'));
  expect(await trash.purge(new Date(0))).toEqual([]);
  expect(await trash.purge(new Date(Date.now() + 60_000))).toEqual([put]);
  expect(await code(trash.restore(put.id))).toBe('trash_unknown');
});

test('a put that was cut off leaves the file where it was, and nothing in the list', async () => {
  const id = 'a'.repeat(24);
  await mkdir(join(home, 'trash', id), { recursive: true });
  const note = { id, path: join(home, 'kept'), trashedAt: new Date().toISOString() };
  await writeFile(join(home, 'trash', id, 'was.json'), JSON.stringify(note));
  await writeFile(join(home, 'kept'), 'kept');
  expect(await trash.list()).toEqual([]);
  expect(await code(trash.restore(id))).toBe('trash_unknown');
});
