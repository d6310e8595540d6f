import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** In a process of its own: Node says once per process that its SQLite is experimental. */
test('opening a database prints nothing, and hides no other warning', () => {
  const program = `
    import { openDatabase } from 'bridle/store';
    const database = await openDatabase(':memory:');
    database.prepare('SELECT 1').get();
    database.close();
    process.emitWarning('one of our own', 'ExperimentalWarning');
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, '']);
  expect(stderr).not.toContain('SQLite');
  expect(stderr).toContain('ExperimentalWarning: one of our own');
});
