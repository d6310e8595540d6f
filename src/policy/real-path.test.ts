import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compilePolicy } from './compile-policy.ts';
import { layer, tool, who } from './fixtures.ts';
import { pathInside } from './real-path.ts';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'paths-')));
  await mkdir(join(root, 'docs/deep'), { recursive: true });
  await mkdir(join(root, 'secrets'));
  await mkdir(join(root, 'docs-old'));
  await writeFile(join(root, 'secrets/key'), '');
  await symlink('../secrets', join(root, 'docs/way-in'));
  await symlink(join(root, 'secrets/key'), join(root, 'docs/key'));
  await symlink('../secrets/not-yet', join(root, 'docs/dangling'));
  await symlink('docs/deep', join(root, 'short'));
  await symlink('loop', join(root, 'loop'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const rows: readonly [path: string, inDocs: string, inSecrets: string][] = [
  ['docs/a.txt', 'yes', 'no'],
  ['./docs/new/folder/a.txt', 'yes', 'no'],
  ['docs', 'yes', 'no'],
  ['docs/', 'yes', 'no'],
  ['docs-old/a', 'no', 'no'],
  ['docs/../secrets/key', 'no', 'yes'],
  ['docs/../../x', 'no', 'no'],
  ['docs/way-in/key', 'no', 'yes'],
  ['docs/way-in/new', 'no', 'yes'],
  ['docs/key', 'no', 'yes'],
  ['docs/dangling', 'no', 'yes'],
  ['short/a', 'yes', 'no'],
  // By the file system this is docs/a; by a program that shortens paths first it is a.
  ['short/../a', 'unknown', 'no'],
  ['docs/way-in/../x', 'unknown', 'no'],
  ['Docs/a', 'unknown', 'no'],
  ['SECRETS/key', 'no', 'unknown'],
  ['loop/a', 'unknown', 'unknown'],
  ['~/docs/a', 'unknown', 'unknown'],
  ['file:///etc/passwd', 'unknown', 'unknown'],
  ['docs/\u0000a', 'unknown', 'unknown'],
  ['docs\\..\\secrets', 'unknown', 'unknown'],
  ['docs/%2e%2e/secrets', 'unknown', 'unknown'],
  ['$HOME/docs', 'unknown', 'unknown'],
  ['', 'unknown', 'unknown'],
];
test.each(rows)('%j lies in docs: %s, in secrets: %s', (path, inDocs, inSecrets) => {
  expect(pathInside(path, 'docs', root)).toBe(inDocs);
  expect(pathInside(path, 'secrets', root)).toBe(inSecrets);
  const isPlain = /^[A-Za-z]/.test(path) && !/^file|[\\%\0]/.test(path);
  if (isPlain) expect(pathInside(join(root, 'x/..', '/').concat(path), './docs/', root)).toBe(inDocs);
});

test('a deny by folder holds for every way there, and an allow for none that leads out', async () => {
  const read = tool('fs', 'read');
  const when = (folder: string) => ({ tool: 'mcp__fs__read', when: { 'args:/path': { inside: folder } } });
  const { policy } = compilePolicy([layer({ allow: [when('docs')], deny: [when('secrets')] })], { root });
  const effect = async (path: string) => (await policy.decide(who, read, { args: { path }, labels: new Set() })).effect;
  expect(await effect('docs/a')).toBe('allow');
  expect(await effect('docs/way-in/key')).toBe('deny');
  expect(await effect('docs/../../etc/passwd')).toBe('ask');
  expect(await effect('docs-old/a')).toBe('ask');
});

test.runIf(process.platform === 'linux')('a way that leads elsewhere for another process is not known', () => {
  for (const path of ['/proc/self/cwd/docs/a', `/proc/${process.pid}/root${root}/docs/a`, '/dev/fd/0/../a']) {
    expect(pathInside(path, 'docs', root)).toBe('unknown');
  }
  expect(pathInside('/proc/cpuinfo', 'docs', root)).toBe('no');
});
