/**
 * Configurations in the styles that people have, odd and broken ones among them. Each is loaded as a project's
 * `.mcp.json`, and imported as another host's file; nothing crashes, and what is said of it stands in
 * `fixtures/configs/expected.json`.
 */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../src/contracts/index.ts';
import { importServers, type LoadProjectOptions, loadProject } from '../src/host/index.ts';
import { isBridleError } from '../src/tools/index.ts';

interface Loaded {
  readonly ready: readonly string[];
  /** Reached over the network. */
  readonly network: readonly string[];
  /** Why the others aren't started. */
  readonly refused: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}
interface Imported {
  readonly taken: readonly string[];
  /** By server; `*` for what is none. */
  readonly left: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}
interface Row {
  readonly load: Loaded | { readonly error: string };
  readonly import: Imported | { readonly error: string };
}

const folder = fileURLToPath(new URL('fixtures/configs/', import.meta.url));
const table = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Readonly<Record<string, Row>>;
const files = readdirSync(folder).filter((name) => name !== 'expected.json');

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-config-')));
});
afterEach(() => rmSync(root, { recursive: true }));

const options = () =>
  ({
    cwd: join(root),
    env: { HOME: '/home/ada' },
    configDir: join(root, 'own'),
    stateDir: join(root, 'state'),
    managedFile: join(root, 'managed.json'),
  }) satisfies LoadProjectOptions;

const sorted = (codes: readonly string[]) => [...new Set(codes)].sort();

async function errorOr<T>(work: Promise<T>): Promise<T | { readonly error: string }> {
  return work.catch((error: unknown) => {
    if (!isBridleError(error)) throw error;
    return { error: error.code };
  });
}

async function load(): Promise<Loaded> {
  const { listed, warnings } = await loadProject({ ...options(), trustProject: true });
  // Whether one of these can be connected to is another test's; here it counts that it is told from a command.
  const isNetwork = (raw: Json) =>
    typeof raw === 'object' &&
    raw !== null &&
    !Object.hasOwn(raw, 'command') &&
    ['type', 'url', 'httpUrl', 'serverUrl'].some((name) => Object.hasOwn(raw, name));
  const network = listed.filter(({ raw }) => isNetwork(raw));
  const stdio = listed.filter((one) => !network.includes(one));
  return {
    ready: stdio.filter(({ state }) => state === 'ready').map(({ key }) => key),
    network: network.map(({ key }) => key),
    refused: Object.fromEntries(
      stdio.filter(({ state }) => state !== 'ready').map(({ key, reasons }) => [key, reasons[0]?.code ?? '']),
    ),
    warnings: sorted([...warnings, ...listed.flatMap(({ advice }) => advice)].map(({ code }) => code)),
  };
}

async function importFrom(name: string): Promise<Imported> {
  const { taken, left } = await importServers({ ...options(), from: [join(folder, name)], scope: 'project' });
  return {
    taken: taken.map(({ key }) => key),
    left: Object.fromEntries(left.map(({ key, reason }) => [key ?? '*', reason.code])),
    notes: sorted(taken.flatMap(({ notes }) => notes.map(({ code }) => code))),
  };
}

test('there are many, and the table names each of them and no other', () => {
  expect(files.length).toBeGreaterThanOrEqual(60);
  expect(Object.keys(table).sort()).toEqual([...files].sort());
});

describe.each(files)('%s', (name) => {
  test('is loaded as a .mcp.json', async () => {
    copyFileSync(join(folder, name), join(root, '.mcp.json'));
    expect(await errorOr(load())).toEqual(table[name]?.load);
  });

  test('is imported, and what was taken can be loaded', async () => {
    const imported = await errorOr(importFrom(name));
    expect(imported).toEqual(table[name]?.import);
    if ('error' in imported) return;
    const loaded = await load();
    const unusable = Object.entries(loaded.refused).filter(([, code]) => code !== 'disabled' && code !== 'cwd_missing');
    expect(unusable).toEqual([]);
    const all = [...loaded.ready, ...loaded.network, ...Object.keys(loaded.refused)];
    expect(all.sort()).toEqual([...imported.taken].sort());
    expect(loaded.warnings).not.toContain('unknown_key');
    expect((await importFrom(name)).taken).toEqual([]);
  });
});
