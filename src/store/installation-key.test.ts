import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installationKey } from './index.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-key-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('the key is made once, for its owner only, however many ask at once', async () => {
  const file = join(dir, 'state', 'installation.key');
  const keys = await Promise.all(Array.from({ length: 8 }, () => installationKey(file)));
  const texts = new Set(keys.map((key) => Buffer.from(key).toString('hex')));
  expect([texts.size, keys[0]?.length, statSync(file).mode & 0o777]).toEqual([1, 32, 0o600]);
  expect(readdirSync(join(dir, 'state'))).toEqual(['installation.key']);
});

test('a file that holds something else is named, and left alone', async () => {
  const file = join(dir, 'installation.key');
  writeFileSync(file, 'short');
  await expect(installationKey(file)).rejects.toMatchObject({
    code: 'key_unusable',
    message: expect.stringContaining(file),
  });
});
