/**
 * `npm run conformance:client`: runs the client half of the MCP conformance suite against Bridle's own client, for both
 * protocol revisions; see docs/conformance.md. Sign-in (`auth/*`) and extensions are left out. Arguments name the
 * scenarios to run. Exit status 1 when a check failed.
 */
import { join } from 'node:path';
import { checkSuite, conclude, judge, REVISIONS, report, root, runSuite, told } from './conformance-suite.mjs';

checkSuite();
const client = join(root, 'test', 'conformance', 'client.mjs');
const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(client)}`;
const wanted = process.argv.slice(2);
// `  - name [revisions]`, as the suite prints its scenarios.
const scenarios = [...told('list', '--client').matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)]
  .map(([, name, revisions]) => ({ name, revisions: revisions.split(',') }))
  .filter(({ name }) => !name.startsWith('auth/') && (wanted.length === 0 || wanted.includes(name)));

const count = { passed: 0, failed: 0 };
for (const { name, revisions } of scenarios) {
  for (const revision of REVISIONS.filter((each) => revisions.includes(each))) {
    const args = ['client', '--command', command, '--scenario', name, '--spec-version', revision];
    const { checks, said } = await runSuite(...args);
    const found = judge([...checks.values()].flat());
    count[found.isPassed ? 'passed' : 'failed'] += 1;
    report(`${name} (${revision})`, found, said);
  }
}
conclude(count);
