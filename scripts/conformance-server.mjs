/**
 * `npm run conformance`: runs the server half of the MCP conformance suite against a server written with Bridle
 * (`test/conformance/server.mjs`), by the requirements of both protocol revisions; see docs/conformance.md. Arguments name
 * the scenarios to run. Exit status 1 when one failed that a revision requires; what it doesn't require is told apart.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { checkSuite, conclude, judge, REVISIONS, report, root, runSuite, told } from './conformance-suite.mjs';

checkSuite();
const wanted = process.argv.slice(2);
const server = spawn(process.execPath, [join(root, 'test', 'conformance', 'server.mjs')], {
  cwd: root,
  stdio: ['pipe', 'pipe', 'inherit'],
});
/** The server says its address first; it ends with its stdin. */
const url = await new Promise((resolve, reject) => {
  createInterface({ input: server.stdout }).once('line', resolve);
  server.once('error', reject).once('exit', () => reject(new Error('The server ended before it said its address.')));
});

/** What a revision asks of servers: what it requires, and what is run all the same, with the reason that it isn't. */
function requirements(revision) {
  const [required = '', others = ''] = told('list', '--requirements', revision).split('Run and reported');
  const listed = required.split('Client scenarios')[0] ?? '';
  const found = [...listed.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => [name, 'required']);
  let reason = '';
  for (const line of others.split('\n')) {
    reason = /^ {2}([\w-]+) \(\d+\):$/.exec(line)?.[1] ?? reason;
    const name = /^ {4}- (\S+) \[server\]$/.exec(line)?.[1];
    if (name !== undefined) found.push([name, reason]);
  }
  return new Map(found);
}

/** The suite writes to `server-NAME-TIME`, and names hold dashes and digits too. */
const isOf = (name) => (folder) =>
  folder.startsWith(`server-${name}-`) && /^\d{4}-\d\d-\d\dT/.test(folder.slice(`server-${name}-`.length));

/** One line is enough for what nobody has to have. */
function missing(name, revision, { count: all, bad }) {
  const why = bad[0] ? `${bad.length} of ${all} checks, the first: ${bad[0].errorMessage ?? bad[0].id}` : 'not judged';
  console.log(`without ${name} (${revision}, not scored: extension): ${why}`);
}

async function results(revision, names) {
  const asked = names.filter((name) => wanted.includes(name));
  if (wanted.length === 0) return [await runSuite('server', '--url', url, '--requirements', revision)];
  const all = [];
  for (const name of asked) {
    all.push(await runSuite('server', '--url', url, '--scenario', name, '--spec-version', revision, '--force'));
  }
  return all;
}

const count = { passed: 0, failed: 0 };
const lines = [];
try {
  for (const revision of REVISIONS) {
    const scenarios = requirements(revision);
    const ran = await results(revision, [...scenarios.keys()]);
    const checks = ran.flatMap((each) => [...each.checks]);
    const said = ran.map((each) => each.said).join('\n');
    const sum = { required: { passed: 0, failed: 0 }, others: { passed: 0, failed: 0 } };
    for (const [name, reason] of scenarios) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const found = judge(checks.filter(([folder]) => isOf(name)(folder)).flatMap(([, each]) => each));
      const end = found.isPassed ? 'passed' : 'failed';
      sum[reason === 'required' ? 'required' : 'others'][end] += 1;
      if (reason === 'required') count[end] += 1;
      if (reason === 'extension' && !found.isPassed) missing(name, revision, found);
      else report(`${name} (${revision}${reason === 'required' ? '' : `, not scored: ${reason}`})`, found, said);
    }
    const told = ({ passed, failed }) => `${passed} of ${passed + failed}`;
    lines.push(`${revision}: ${told(sum.required)} required, ${told(sum.others)} not scored`);
  }
} finally {
  server.stdin.end();
}
for (const line of lines) console.log(line);
conclude(count);
