import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseView } from '../policy/index.ts';
import { writeUpstreams } from './write-upstream.ts';

const VIEW = { server: 'words', tool: 'look_up' };
const FINGERPRINT = 'a'.repeat(64);

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-upstream-')));
});
afterEach(() => rmSync(dir, { recursive: true }));

test.each(['managed', 'user'])('a file that everybody may read stays so: %s', async (whose) => {
  const file = join(dir, 'bridle.json');
  writeFileSync(file, JSON.stringify({ views: { define: VIEW } }));
  chmodSync(file, 0o644);
  const places = { managedFile: join(dir, whose === 'managed' ? '' : 'other', 'mcp.json') };
  const view = parseView('define', VIEW, { source: { file } });
  const written = await writeUpstreams([{ view, fingerprint: FINGERPRINT }], dir, places);
  expect([...written]).toEqual([[view, { file, changed: true }]]);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ views: { define: { ...VIEW, upstream: FINGERPRINT } } });
  expect(statSync(file).mode & 0o777).toBe(0o644);
});

test('of several views none is written where one of them is not as it was', async () => {
  const files = ['bridle.json', 'other.json'].map((name) => join(dir, name));
  const [file = '', other = ''] = files;
  const read = (name: string, source: string) => ({
    view: parseView(name, VIEW, { source: { file: source } }),
    fingerprint: FINGERPRINT,
  });
  const before = JSON.stringify({ views: { one: VIEW, two: VIEW } });
  for (const each of files) writeFileSync(each, before);
  for (const gone of [file, other]) {
    const reviewed = [read('one', file), read('two', file), read('gone', gone)];
    await expect(writeUpstreams(reviewed, dir)).rejects.toMatchObject({ code: 'config_not_written' });
    expect(files.map((each) => readFileSync(each, 'utf8'))).toEqual([before, before]);
  }
  await writeUpstreams([read('one', file), read('two', file)], dir);
  const made = { ...VIEW, upstream: FINGERPRINT };
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ views: { one: made, two: made } });
});
