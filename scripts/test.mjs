/**
 * `npm test`: makes the clone ready, runs every test, and closes with `N passed, N failed`. Arguments go to Vitest, so
 * `npm test -- src/policy` runs one folder. The Node that runs this script runs the tests.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkNode, ensureBuilt, ensureInstalled, root, say } from './ensure.mjs';

checkNode();
ensureInstalled();
ensureBuilt();

const folder = join(root, 'node_modules', '.cache', 'bridle');
const report = join(folder, `vitest-${process.versions.node}.json`);
mkdirSync(folder, { recursive: true });
rmSync(report, { force: true });

const vitest = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);

try {
  const { numPassedTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(readFileSync(report, 'utf8'));
  // A file that can't be loaded has no failed test of its own, yet it failed.
  const failed = Math.max(numFailedTests, success ? 0 : 1, numFailedTestSuites > 0 && numFailedTests === 0 ? 1 : 0);
  process.stdout.write(`${numPassedTests} passed, ${failed} failed\n`);
  process.exitCode = vitest.status === 0 && failed === 0 ? 0 : 1;
} catch (error) {
  say(`the test report could not be read: ${error.message}`);
  process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
