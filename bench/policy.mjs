/**
 * What the rules cost: `view` of 10,000 tools, and `decide` of a call at 10, 1,000 and 10,000 rules. Half of the rules
 * have a condition. Rules are found by server and tool, so the time of a decision is to depend on the rules that name
 * the tool, not on how many there are.
 *
 * Usage: node bench/policy.mjs [--rounds 9]
 */
import { parseArgs } from 'node:util';
import { compilePolicy, rawFrom } from 'bridle';
import { best, machine, median, table } from './measure.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const ROUNDS = Number(values.rounds);
const CALLS = 2_000;
const TOOLS = 10_000;
const WHO = { agent: 'bench', via: 'library' };
const KINDS = ['allow', 'ask', 'deny'];

function toolAt(index) {
  const server = { key: `s${index % 100}`, scope: 'project', fingerprint: 'f', trustAnnotations: false };
  const name = `tool_${index}`;
  const ref = { server, tool: name, name: `mcp__${server.key}__${name}`, fingerprint: `${index}` };
  return { ref, description: '', inputSchema: { type: 'object' }, raw: rawFrom({}), effect: 'write' };
}

/** One rule a tool, in turn of each kind; every second one with a condition, every tenth with a wildcard. */
function policyOf(rules) {
  const permissions = { allow: [], ask: [], deny: [] };
  for (let index = 0; index < rules; index += 1) {
    const { name } = toolAt(index).ref;
    const tool = index % 10 === 9 ? `${name}*` : name;
    const when = { 'args:/amount': { '<=': '5000.00' }, 'args:/currency': ['USD', 'EUR'] };
    permissions[KINDS[index % 3]].push(index % 2 === 0 ? tool : { tool, when });
  }
  const layer = { scope: 'user', file: 'bench', permissions, trusted: true };
  return compilePolicy([layer]).policy;
}

const micros = (from) => Number(process.hrtime.bigint() - from) / 1e3;
const call = { args: { amount: '12.50', currency: 'USD', note: 'x'.repeat(200) }, labels: new Set(), at: Date.now() };
/** Tools that a rule with a condition names, whatever the number of rules: the dearest kind of call. */
const asked = [1, 3, 5, 7].map(toolAt);

const rows = [];
const policies = [10, 1_000, 10_000].map((rules) => [rules, policyOf(rules)]);
const decideTimes = new Map(policies.map(([rules]) => [rules, []]));
const viewTimes = new Map(policies.map(([rules]) => [rules, []]));
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [rules, policy] of policies) {
    const each = [];
    for (let at = 0; at < CALLS; at += 1) {
      const tool = asked[at % asked.length];
      const start = process.hrtime.bigint();
      await policy.decide(WHO, tool, call);
      each.push(micros(start));
    }
    // New definitions, as after a listing: nothing of them is known yet.
    const tools = Array.from({ length: TOOLS }, (_, index) => toolAt(index));
    const start = process.hrtime.bigint();
    for (const tool of tools) policy.view(WHO, tool);
    const view = micros(start) / 1e3;
    // The first round only warms up.
    if (round === 0) continue;
    decideTimes.get(rules).push(median(each));
    viewTimes.get(rules).push(view);
  }
}
const first = median(decideTimes.get(10));
for (const [rules] of policies) {
  const [decide, view] = [decideTimes.get(rules), viewTimes.get(rules)];
  rows.push([
    String(rules),
    best(decide).toFixed(2),
    median(decide).toFixed(2),
    (median(decide) / first).toFixed(2),
    best(view).toFixed(1),
    median(view).toFixed(1),
  ]);
}
console.log(`${machine()}, ${CALLS} calls a round, ${ROUNDS} rounds`);
console.log(
  table(['rules', 'decide: best µs', 'median µs', '÷ at 10', `view of ${TOOLS} tools: best ms`, 'median ms'], rows),
);
