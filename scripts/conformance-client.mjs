/**
 * `npm run conformance:client`: runs the client half of the MCP conformance suite against Bridle's own client, for both
 * protocol revisions; see docs/conformance.md. Sign-in (`auth/*`) and extensions are left out. Arguments name the
 * scenarios to run. Exit status 1 when a check failed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const suite = join(root, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
const client = join(root, 'test', 'conformance', 'client.mjs');
const REVISIONS = ['2025-11-25', '2026-07-28'];

if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error(`The suite needs Node 22 or later; this is ${process.versions.node}.`);
  process.exit(2);
}
if (!existsSync(join(root, 'dist', 'index.js'))) {
  console.error('There is no build: run npm run build first.');
  process.exit(2);
}

/** `  - name [revisions]`, as the suite prints its scenarios. */
function scenarios() {
  const { stdout } = spawnSync(process.execPath, [suite, 'list', '--client'], { encoding: 'utf8' });
  return [...stdout.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)]
    .map(([, name, revisions]) => ({ name, revisions: revisions.split(',') }))
    .filter(({ name }) => !name.startsWith('auth/'));
}

function run(name, revision) {
  const out = mkdtempSync(join(tmpdir(), 'bridle-conformance-'));
  const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(client)}`;
  const args = [suite, 'client', '--command', command, '--scenario', name, '--spec-version', revision, '-o', out];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: root });
  const [folder] = readdirSync(out);
  const file = folder === undefined ? undefined : join(out, folder, 'checks.json');
  const checks = file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  rmSync(out, { recursive: true, force: true });
  return { checks, said: `${stdout}\n${stderr}` };
}

const wanted = process.argv.slice(2);
const count = { passed: 0, failed: 0 };
for (const { name, revisions } of scenarios()) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  for (const revision of REVISIONS.filter((each) => revisions.includes(each))) {
    const { checks, said } = run(name, revision);
    const judged = checks.filter(({ status }) => status === 'SUCCESS' || status === 'FAILURE' || status === 'WARNING');
    const bad = judged.filter(({ status }) => status !== 'SUCCESS');
    const isPassed = judged.length > 0 && bad.length === 0;
    count[isPassed ? 'passed' : 'failed'] += 1;
    console.log(`${isPassed ? 'passed' : 'FAILED'}  ${name} (${revision}), ${judged.length} checks`);
    for (const { id, status, errorMessage } of bad) console.log(`  ${status} ${id}: ${errorMessage ?? ''}`);
    if (judged.length === 0) console.log(said.trim().split('\n').slice(-15).join('\n'));
  }
}
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;
