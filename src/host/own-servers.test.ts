import { chmodSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownServers } from './own-servers.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-own-')));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('a secret that goes into a file that others can read is added with a warning, and the file keeps its mode', async () => {
  const own = await ownServers({ cwd: dir, env: {}, configDir: dir, stateDir: dir });
  const file = own.places.user;
  const entry = (TOKEN: string) => ({ command: 'srv', env: { TOKEN } });
  const warned = async (token: string) =>
    (await own.add('a', entry(token), 'user', { force: true })).warnings.map(({ code }) => code);
  expect(await warned('hunter2hunter2')).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, '{}');
  chmodSync(file, 0o644);
  expect(await warned('hunter2hunter2')).toEqual(['secret_readable']);
  expect(await warned(`\${TOKEN}`)).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o644);
});
