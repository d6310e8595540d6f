/**
 * `npm test`: makes the clone ready, runs every test, and closes with `N passed, N failed`. Arguments go to Vitest, so
 * `npm test -- src/policy` runs one folder. The Node that runs this script runs the tests.
 *
 * Many tests drive real processes, and run beside others on whatever machine there is. A file with a failure is
 * therefore run once more with nothing beside it, and what it says then counts; which files needed that is printed, so
 * that they can be mended. What is really broken fails both times.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { checkNode, ensureBuilt, ensureInstalled, root, say } from './ensure.mjs';

/** With more failing files than this, the change is broken and not the machine busy. */
const MOST_AGAIN = 6;

checkNode();
ensureInstalled();
ensureBuilt();

const folder = join(root, 'node_modules', '.cache', 'bridle');
mkdirSync(folder, { recursive: true });

/** Runs Vitest. Returns each file with its counts, and whether the run as a whole went well; throws without a report. */
function runTests(name, args) {
  const report = join(folder, `vitest-${process.versions.node}${name}.json`);
  rmSync(report, { force: true });
  const vitest = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      '--reporter=dot',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ],
    { cwd: root, stdio: 'inherit' },
  );
  const { testResults, success } = JSON.parse(readFileSync(report, 'utf8'));
  const files = new Map(
    testResults.map(({ name: file, status, assertionResults }) => {
      const count = (wanted) => assertionResults.filter((test) => test.status === wanted).length;
      // A file that can't be loaded has no failed test of its own, yet it failed.
      const failed = Math.max(count('failed'), status === 'failed' ? 1 : 0);
      return [file, { passed: count('passed'), failed }];
    }),
  );
  return { files, isWell: vitest.status === 0 && success };
}

const failing = (files) => [...files].filter(([, { failed }]) => failed > 0).map(([file]) => file);
const total = (files, kind) => [...files.values()].reduce((sum, counts) => sum + counts[kind], 0);

try {
  const args = process.argv.slice(2);
  const first = runTests('', args);
  let { isWell } = first;
  const again = failing(first.files);
  // Somebody who gives options looks closely at one run.
  if (again.length > 0 && again.length <= MOST_AGAIN && !args.some((arg) => arg.startsWith('-'))) {
    const names = again.map((file) => relative(root, file));
    say(`failed, and run once more with nothing beside them: ${names.join(', ')}`);
    const second = runTests('-again', ['--no-file-parallelism', ...names]);
    for (const file of again) {
      const counts = second.files.get(file);
      if (counts) first.files.set(file, counts);
    }
    isWell = second.isWell;
    const passed = again.filter((file) => second.files.get(file)?.failed === 0).map((file) => relative(root, file));
    if (passed.length > 0) say(`failed at first and passed alone, so to be mended: ${passed.join(', ')}`);
  }
  const failed = Math.max(total(first.files, 'failed'), isWell ? 0 : 1);
  process.stdout.write(`${total(first.files, 'passed')} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  say(`the test report could not be read: ${error.message}`);
  process.stdout.write('0 passed, 1 failed\n');
  process.exitCode = 1;
}
