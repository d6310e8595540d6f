import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TrustRecord, trustStore } from './trust-store.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-trust-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const record = (path: string): TrustRecord => ({
  path,
  at: '2026-01-01T00:00:00.000Z',
  files: new Map([['.mcp.json', 'f']]),
  items: new Map([['server __proto__', 'i']]),
});

describe('trustStore', () => {
  test('remembers a record in a file that only its owner can read', async () => {
    const state = join(dir, 'new', 'state');
    await trustStore(state).put(record('/a'));
    expect(await trustStore(state).get('/a')).toEqual(record('/a'));
    expect(await trustStore(state).get('/b')).toBeUndefined();
    expect(statSync(join(state, 'trust.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(state)).toEqual(['trust.json']);
  });

  test('many writers at once lose nothing of each other', async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `/p${index}`);
    await Promise.all(paths.map((path) => trustStore(dir).put(record(path))));
    for (const path of paths) expect(await trustStore(dir).get(path)).toBeDefined();
  });

  test('a damaged file approves nothing, and is kept aside when a new approval is saved', async () => {
    writeFileSync(join(dir, 'trust.json'), '{"projects": [');
    expect(await trustStore(dir).get('/a')).toBeUndefined();
    await trustStore(dir).put(record('/a'));
    expect(await trustStore(dir).get('/a')).toEqual(record('/a'));
    expect(readdirSync(dir).filter((name) => name.includes('.damaged-'))).toHaveLength(1);
  });

  test.each([
    'null',
    '[]',
    '{"projects": {}}',
    '{"projects": [null, 7, {"path": 1}, {"path": "/a", "files": {"x": 1}}]}',
  ])('odd content never throws and covers nothing: %s', async (text) => {
    writeFileSync(join(dir, 'trust.json'), text);
    expect((await trustStore(dir).get('/a'))?.files.size ?? 0).toBe(0);
  });

  test('a lock that a killed process left behind is taken over', async () => {
    const lock = join(dir, 'trust.json.lock');
    writeFileSync(lock, '');
    utimesSync(lock, new Date(0), new Date(0));
    await trustStore(dir).put(record('/a'));
    expect(await trustStore(dir).get('/a')).toBeDefined();
  });

  test('a place that cannot be written is an error that says what to do', async () => {
    writeFileSync(join(dir, 'file'), '');
    const saving = trustStore(join(dir, 'file', 'state')).put(record('/a'));
    await expect(saving).rejects.toMatchObject({
      code: 'trust_not_saved',
      hint: expect.stringContaining('--trust-project'),
    });
  });
});
