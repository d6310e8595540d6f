import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseView } from '../policy/index.ts';
import { writeUpstream } from './write-upstream.ts';

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
  expect(await writeUpstream(view, FINGERPRINT, dir, places)).toEqual({ file, changed: true });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ views: { define: { ...VIEW, upstream: FINGERPRINT } } });
  expect(statSync(file).mode & 0o777).toBe(0o644);
});
