import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contentBlock } from './content-block.ts';
import { readLocalFile } from './local-file.ts';

let dir: string;
let root: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bridle-mention-'));
  root = join(dir, 'project');
  await mkdir(join(root, 'sub'), { recursive: true });
  await writeFile(join(root, 'sub', 'notes.md'), 'Hello.');
  await writeFile(join(dir, 'secret.txt'), 'no');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const outside = expect.objectContaining({ code: 'file_outside_project' });

describe('readLocalFile', () => {
  test.each(['sub/notes.md', './sub/../sub/notes.md'])('reads %j', async (path) => {
    const item = { label: 'sub/notes.md', server: null, uri: 'sub/notes.md', text: 'Hello.' };
    expect(await readLocalFile(path, root)).toEqual({ kind: 'file', item });
    expect(await readLocalFile(join(root, path), root)).toMatchObject({ kind: 'file' });
  });

  test('what is not there is no error, as it may be a resource', async () => {
    for (const path of ['nothing.md', 'sub/notes.md/more', 'a\0b', 'x'.repeat(5_000)])
      expect(await readLocalFile(path, root)).toEqual({ kind: 'none' });
    expect(await readLocalFile('sub', root)).toEqual({ kind: 'folder' });
    expect(await readLocalFile('.', root)).toEqual({ kind: 'folder' });
  });

  test('nothing outside the project is read, through a link either', async () => {
    await symlink(join(dir, 'secret.txt'), join(root, 'link.txt'));
    await symlink(dir, join(root, 'up'));
    for (const path of ['../secret.txt', join(dir, 'secret.txt'), 'link.txt', 'up/secret.txt', '..'])
      await expect(readLocalFile(path, root)).rejects.toEqual(outside);
  });

  test('a project reached through a link is the project', async () => {
    await symlink(root, join(dir, 'linked'));
    expect(await readLocalFile('sub/notes.md', join(dir, 'linked'))).toMatchObject({ kind: 'file' });
  });

  test('a pipe is not waited for', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    expect(await readLocalFile('pipe', root)).toEqual({ kind: 'none' });
  });

  test('a binary is refused when it is to become a block, whatever its name says', async () => {
    await writeFile(join(root, 'a.txt'), Buffer.from([0, 1, 2]));
    const read = await readLocalFile('a.txt', root);
    expect(() => read.kind === 'file' && contentBlock(read.item)).toThrow(
      expect.objectContaining({ code: 'content_unsupported' }),
    );
  });

  test('a PDF stays one, even of plain characters', async () => {
    await writeFile(join(root, 'a.pdf'), '%PDF-1.4\nplain');
    const read = await readLocalFile('a.pdf', root);
    expect(read.kind === 'file' && contentBlock(read.item)).toMatchObject({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf' },
      title: 'a.pdf',
    });
  });

  test('text under a name that ends in .pdf is text', async () => {
    await writeFile(join(root, 'b.pdf'), 'only text');
    expect(await readLocalFile('b.pdf', root)).toMatchObject({ item: { text: 'only text' } });
  });

  test('a file that is too large is not read', async () => {
    await writeFile(join(root, 'big'), '');
    await truncate(join(root, 'big'), 30 * 1024 * 1024);
    await expect(readLocalFile('big', root)).rejects.toEqual(expect.objectContaining({ code: 'content_too_large' }));
  });
});
