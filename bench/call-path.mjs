/**
 * What one call costs inside Bridle, from `ToolHost.call` to its outcome: no transport, no disk, an `echo` of this process
 * that answers at once. Beside it, as the limit, `await handler(args)` with the arguments read and the result written as
 * JSON, as any server has to. Processor time of the whole process, garbage collection included.
 *
 * Usage: node bench/call-path.mjs [--calls 20000] [--rounds 7] [--only 'relay, allowAll'] [--lanes 1]
 */
import { parseArgs } from 'node:util';
import { allowAll, compilePolicy, defineTool, memoryRecorder, nullRecorder, rawJson, toolHost } from 'bridle';
import { best, machine, median, table } from './measure.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '7' },
    lanes: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const calls = Number(values.calls);
const rounds = Number(values.rounds);
const lanes = Number(values.lanes);
const RULES = 1_000;

const text = JSON.stringify({ text: 'x'.repeat(200), times: 1 });
const who = { agent: 'bench', via: 'http' };
const handler = async ({ text: said }) => said;
const input = {
  type: 'object',
  properties: { text: { type: 'string' }, times: { type: 'integer' } },
  required: ['text'],
};
const echo = defineTool(
  { name: 'echo', description: 'Says it again.', input, annotations: { readOnlyHint: true } },
  handler,
);

/** Rules over many tools, one of them with a condition on this call's own arguments. */
function manyRules() {
  const allow = Array.from({ length: RULES - 1 }, (_, nth) => `mcp__server${nth % 100}__tool_${nth}`);
  allow.push({ tool: 'echo', when: { 'args:/times': { '<=': 10 } } });
  return compilePolicy([{ scope: 'user', file: 'bench', permissions: { allow }, trusted: true }]).policy;
}

/** A recorder that keeps no more than the last call, as one that writes does. */
function lastRecorder() {
  let recorder = memoryRecorder();
  return {
    intent: (record) => recorder.intent(record),
    outcome(record) {
      if (recorder.outcomes.length > 100) recorder = memoryRecorder();
      recorder.outcome(record);
    },
  };
}

async function overHost(profile, policy, recorder) {
  const host = await toolHost({ tools: [echo], policy, recorder });
  return async (nth, signal) => {
    const ctx = { callId: `${nth}`, who, signal, idleMs: 60_000, hardMs: 60_000 };
    const outcome = await host.call({ name: 'echo', args: rawJson(text), profile, conversation: 'bench', ctx });
    if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
    return outcome.raw.text;
  };
}

/** Calls come with signals that a front door made for purposes of its own; few, so that they cost nothing here. */
const signals = Array.from({ length: 64 }, () => new AbortController().signal);

async function bare() {
  return JSON.stringify({ content: [{ type: 'text', text: await handler(JSON.parse(text)) }] });
}

const LIMIT = 'the handler alone';
const variants = new Map([
  [LIMIT, async () => bare],
  ['relay, allowAll, nothing recorded', () => overHost('relay', allowAll(), nullRecorder())],
  ['relay, allowAll, recorded', () => overHost('relay', allowAll(), lastRecorder())],
  ['relay, 1,000 rules, recorded', () => overHost('relay', manyRules(), lastRecorder())],
  ['agent, allowAll, nothing recorded', () => overHost('agent', allowAll(), nullRecorder())],
  ['agent, 1,000 rules, recorded', () => overHost('agent', manyRules(), lastRecorder())],
]);

/** Processor microseconds a call. */
async function measured(call) {
  let next = 0;
  const lane = async () => {
    while (next < calls) {
      next += 1;
      await call(next, signals[next % signals.length]);
    }
  };
  const from = process.cpuUsage();
  await Promise.all(Array.from({ length: lanes }, lane));
  const { user, system } = process.cpuUsage(from);
  return (user + system) / calls;
}

const chosen = [...variants].filter(([name]) => !values.only || name === LIMIT || name.includes(values.only));
const ready = await Promise.all(chosen.map(async ([name, make]) => ({ name, call: await make(), samples: [] })));
for (let round = -1; round < rounds; round += 1) {
  for (const { call, samples } of ready) {
    const micros = await measured(call);
    // The first round only warms up.
    if (round >= 0) samples.push(micros);
  }
}
const [limit] = ready;
const rows = ready.map(({ name, samples }) => {
  const ratios = samples.map((sample, round) => sample / limit.samples[round]);
  return [name, best(samples).toFixed(2), median(samples).toFixed(2), median(ratios).toFixed(1)];
});
console.log(`${machine()}, ${calls} calls a round, ${rounds} rounds, ${lanes} at once\n`);
console.log(table(['call', 'best µs', 'median µs', '÷ the handler'], rows));
