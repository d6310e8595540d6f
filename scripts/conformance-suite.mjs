/** What both halves of the conformance suite need: where it is, whether it can run here, and how its findings read. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const REVISIONS = ['2025-11-25', '2026-07-28'];
const suite = join(root, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

/** Ends this process where the suite can't run. */
export function checkSuite() {
  if (Number(process.versions.node.split('.')[0]) < 22) {
    console.error(`The suite needs Node 22 or later; this is ${process.versions.node}.`);
    process.exit(2);
  }
  if (!existsSync(join(root, 'dist', 'index.js'))) {
    console.error('There is no build: run npm run build first.');
    process.exit(2);
  }
}

/** What the suite prints about itself. */
export function told(...args) {
  return spawnSync(process.execPath, [suite, ...args], { encoding: 'utf8', cwd: root }).stdout;
}

/**
 * Runs the suite.
 *
 * @returns `checks` of each scenario, by the name of the folder that the suite writes them to, and all that it `said`
 */
export async function runSuite(...args) {
  const out = mkdtempSync(join(tmpdir(), 'bridle-conformance-'));
  try {
    const child = spawn(process.execPath, [suite, ...args, '-o', out], { cwd: root });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
    }
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    const checks = new Map();
    for (const folder of readdirSync(out)) {
      const file = join(out, folder, 'checks.json');
      if (existsSync(file)) checks.set(folder, JSON.parse(readFileSync(file, 'utf8')));
    }
    return { checks, said };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** What became of a scenario; a warning is a SHOULD that isn't kept, and no conforming client or server of ours has any. */
export function judge(checks) {
  const judged = checks.filter(({ status }) => ['SUCCESS', 'FAILURE', 'WARNING'].includes(status));
  const bad = judged.filter(({ status }) => status !== 'SUCCESS');
  return { count: judged.length, bad, isPassed: judged.length > 0 && bad.length === 0 };
}

/** A line for the scenario, and one for each check that it didn't pass. */
export function report(title, { count, bad, isPassed }, said) {
  console.log(`${isPassed ? 'passed' : 'FAILED'}  ${title}, ${count} checks`);
  for (const { id, status, errorMessage } of bad) console.log(`  ${status} ${id}: ${errorMessage ?? ''}`);
  if (count === 0) console.log(said.trim().split('\n').slice(-15).join('\n'));
}

/** The last line, and the exit status: 1 when something failed, or nothing was run. */
export function conclude({ passed, failed }) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
