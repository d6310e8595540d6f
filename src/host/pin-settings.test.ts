import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBridleFile } from './bridle-json.ts';
import { PINS_KEYS } from './bridle-keys.ts';
import { parseConfig } from './config-file.ts';
import { loadProject } from './load-project.ts';
import { mergedPins } from './pin-settings.ts';

const read = (pins: string, owner: 'user' | 'project' = 'user') =>
  readBridleFile(parseConfig('/p/bridle.json', `{"pins": ${pins}}`), owner);

let home: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'bridle-pin-settings-')));
});
afterEach(() => rm(home, { recursive: true, force: true }));

test('pins are on first use unless the person says otherwise', () => {
  expect(mergedPins(undefined, undefined)).toEqual({ firstUse: true, locked: false });
  expect(mergedPins('off', undefined)).toEqual({ firstUse: false, locked: false });
  expect(mergedPins('locked', undefined)).toEqual({ firstUse: false, locked: 'all' });
});

test('a project adds its lock and takes nothing away', () => {
  expect(mergedPins(undefined, 'locked')).toEqual({ firstUse: true, locked: 'project' });
  expect(mergedPins('off', 'locked')).toEqual({ firstUse: false, locked: 'project' });
  expect(mergedPins('locked', 'first-use')).toEqual({ firstUse: false, locked: 'all' });
  const off = read('{"mode": "off"}', 'project');
  expect([off.pins, off.warnings.map(({ code }) => code)]).toEqual([undefined, ['pins_off_in_project']]);
  expect(read('{"mode": "off"}').pins).toBe('off');
});

test('what is odd is warned about and counts as not written', () => {
  for (const odd of ['true', '{"mode": 1}', '{"mode": "lockd"}', '{"modus": "off"}']) {
    expect([read(odd).pins, read(odd).warnings.length]).toEqual([undefined, 1]);
  }
  expect(PINS_KEYS).toEqual(['mode']);
});

test("an administrator's word goes before the person's", async () => {
  const write = async (file: string, mode: string) => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify({ pins: { mode } }));
  };
  const managedFile = join(home, 'managed', 'managed-mcp.json');
  const cwd = join(home, 'project');
  await mkdir(cwd);
  await write(join(home, 'config', 'bridle.json'), 'off');
  const options = { cwd, env: {}, managedFile, configDir: join(home, 'config'), stateDir: join(home, 'state') };
  expect((await loadProject(options)).pins).toEqual({ firstUse: false, locked: false });
  await write(join(home, 'managed', 'bridle.json'), 'first-use');
  expect((await loadProject(options)).pins).toEqual({ firstUse: true, locked: false });
  await write(join(cwd, 'bridle.json'), 'locked');
  expect((await loadProject(options)).pins).toEqual({ firstUse: true, locked: 'project' });
});
