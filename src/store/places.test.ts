import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configDir, dataDir, makePrivateDir, stateDir } from './index.ts';

describe('the places', () => {
  test('are those that the XDG variables name', () => {
    expect(configDir({ XDG_CONFIG_HOME: '/x/c' })).toBe('/x/c/bridle');
    expect(stateDir({ XDG_STATE_HOME: '/x/s' })).toBe('/x/s/bridle');
    expect(dataDir({ XDG_DATA_HOME: '/x/d' })).toBe('/x/d/bridle');
  });

  test('are under the home folder when no variable names them', () => {
    const env = { HOME: '/home/ada' };
    expect([configDir(env), stateDir(env), dataDir(env)]).toEqual([
      '/home/ada/.config/bridle',
      '/home/ada/.local/state/bridle',
      '/home/ada/.local/share/bridle',
    ]);
    expect(stateDir({})).toBe(join(homedir(), '.local/state/bridle'));
  });

  test('ignore a value that is empty or relative, as the specification says', () => {
    expect(configDir({ XDG_CONFIG_HOME: '', HOME: '/h' })).toBe('/h/.config/bridle');
    expect(configDir({ XDG_CONFIG_HOME: 'here', HOME: '/h' })).toBe('/h/.config/bridle');
  });

  test('are made for their owner only, and not changed when they are there', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'bridle-places-'));
    const made = await makePrivateDir(join(dir, 'a', 'b'));
    expect(statSync(made).mode & 0o777).toBe(0o700);
    await expect(makePrivateDir(made)).resolves.toBe(made);
    rmSync(dir, { recursive: true });
  });
});
