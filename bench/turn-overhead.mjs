/**
 * What the loop itself costs a turn, at 10, 100 and 1,000 messages of history: a scripted model answers at once with
 * one call of an in-process tool. Growth is to be linear in the history at most.
 *
 * Usage: node bench/turn-overhead.mjs [--rounds 5]
 */
import { parseArgs } from 'node:util';
import { createAgent, defineTool } from 'bridle';
import { best, machine, median, table } from './measure.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const TURNS = 50;

const add = defineTool(
  {
    name: 'add',
    description: 'Adds two numbers.',
    input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    annotations: { readOnlyHint: true },
  },
  ({ a, b }) => String(a + b),
);

function history(messages) {
  const pair = (at) => [
    { role: 'user', content: `Question ${at}: ${'lorem ipsum '.repeat(20)}` },
    { role: 'assistant', content: [{ type: 'text', text: `Answer ${at}: ${'dolor sit amet '.repeat(20)}` }] },
  ];
  return Array.from({ length: messages / 2 }, (_, at) => pair(at)).flat();
}

/** Calls `add` for TURNS turns, then answers. It looks at nothing, so that only the loop's own work is measured. */
function scripted() {
  let turn = 0;
  return {
    id: 'scripted',
    async respond() {
      turn += 1;
      const last = turn > TURNS;
      const content = last
        ? [{ type: 'text', text: 'done' }]
        : [{ type: 'tool_use', id: `toolu_${turn}`, name: 'add', input: { a: turn, b: 1 } }];
      const stopReason = last ? 'end_turn' : 'tool_use';
      const usage = { input_tokens: 1, output_tokens: 1 };
      return { message: { role: 'assistant', content, stop_reason: stopReason, usage }, stopReason, usage };
    },
  };
}

async function turnMs(messages) {
  const agent = await createAgent({
    model: scripted(),
    tools: [add],
    permissions: { allow: ['add'] },
    limits: { turns: TURNS + 10, toolCalls: TURNS + 10 },
  });
  const past = history(messages);
  const start = process.hrtime.bigint();
  const result = await agent.run('Go.', { messages: past }).result;
  const ms = Number(process.hrtime.bigint() - start) / 1e6 / TURNS;
  if (result.end !== 'answered') throw new Error(`the run ended as ${result.end}: ${JSON.stringify(result.error)}`);
  await agent.close();
  return ms;
}

const sizes = [10, 100, 1000];
const samples = new Map(sizes.map((size) => [size, []]));
for (let round = -1; round < Number(values.rounds); round++) {
  for (const size of sizes) {
    const ms = await turnMs(size);
    if (round >= 0) samples.get(size).push(ms);
  }
}

const base = median(samples.get(10));
const rows = sizes.map((size) => [
  size,
  best(samples.get(size)).toFixed(3),
  median(samples.get(size)).toFixed(3),
  (median(samples.get(size)) / base).toFixed(2),
]);
process.stdout.write(`${machine()}, ${TURNS} turns a run, ${values.rounds} rounds\n\n`);
process.stdout.write(`${table(['messages before', 'best ms a turn', 'median ms a turn', '÷ at 10'], rows)}\n`);
