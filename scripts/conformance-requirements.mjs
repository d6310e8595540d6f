/** Runs the server half of the conformance suite against an address, by the requirements of both protocol revisions. */
import { judge, REVISIONS, report, runSuite, told } from './conformance-suite.mjs';

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

async function results(url, revision, names, wanted) {
  const asked = names.filter((name) => wanted.includes(name));
  if (wanted.length === 0) return [await runSuite('server', '--url', url, '--requirements', revision)];
  const all = [];
  for (const name of asked) {
    all.push(await runSuite('server', '--url', url, '--scenario', name, '--spec-version', revision, '--force'));
  }
  return all;
}

/**
 * @param {string} url
 * @param {readonly string[]} wanted scenarios to run; none: all
 * @param {string} label stands before what is said of each
 * @returns how many required scenarios passed and failed, and a line for each revision
 */
export async function conform(url, wanted, label = '') {
  const count = { passed: 0, failed: 0 };
  const lines = [];
  for (const revision of REVISIONS) {
    const scenarios = requirements(revision);
    const ran = await results(url, revision, [...scenarios.keys()], wanted);
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
      else
        report(`${label}${name} (${revision}${reason === 'required' ? '' : `, not scored: ${reason}`})`, found, said);
    }
    const told = ({ passed, failed }) => `${passed} of ${passed + failed}`;
    lines.push(`${label}${revision}: ${told(sum.required)} required, ${told(sum.others)} not scored`);
  }
  return { count, lines };
}
