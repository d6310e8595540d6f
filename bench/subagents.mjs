/**
 * Agents that one reply starts, side by side against one after another: three of them, four turns each, of a model that
 * takes some time for each reply.
 *
 * Usage: node bench/subagents.mjs [--rounds 7] [--reply-ms 50]
 */
import { parseArgs } from 'node:util';
import { createAgent, defineTool } from 'bridle';
import { machine, median, table } from './measure.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, 'reply-ms': { type: 'string', default: '50' } },
});
const REPLY_MS = Number(values['reply-ms']);
const TURNS = 3;
const TASKS = ['one', 'two', 'three'];

const look = defineTool(
  { name: 'look', description: 'Looks.', input: { type: 'object' }, annotations: { readOnlyHint: true } },
  () => 'Nothing yet.',
);

/** Replies after its time: calls as long as `callsAt` gives some for the replies so far, then a text. */
function model(callsAt) {
  return {
    id: 'scripted',
    async respond({ messages }) {
      await new Promise((resolve) => setTimeout(resolve, REPLY_MS));
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      const calls = callsAt(turn).map((call, at) => ({ type: 'tool_use', id: `toolu_${turn}_${at}`, ...call }));
      const content = calls.length > 0 ? calls : [{ type: 'text', text: 'Done.' }];
      const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn';
      const usage = { input_tokens: 1, output_tokens: 1 };
      return { message: { role: 'assistant', content, stop_reason: stopReason, usage }, stopReason, usage };
    },
  };
}

async function runMs(parallel) {
  const starts = TASKS.map((task) => ({ name: 'start_worker', input: { task } }));
  const agent = await createAgent({
    model: model((turn) => (turn === 0 ? starts : [])),
    tools: [look],
    permissions: { allow: ['look'] },
    parallel,
    subagents: [
      {
        name: 'worker',
        description: 'Looks three times.',
        instructions: 'Look.',
        tools: ['look'],
        model: model((turn) => (turn < TURNS ? [{ name: 'look', input: {} }] : [])),
      },
    ],
  });
  const start = process.hrtime.bigint();
  const result = await agent.run('Go.').result;
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (result.text !== 'Done.' || result.calls !== TASKS.length) throw new Error(`The run ended as ${result.end}.`);
  await agent.close();
  return ms;
}

/** The waiting for the model alone, when everything else takes no time. */
const least = (side) => REPLY_MS * (2 + (TURNS + 1) * (side ? 1 : TASKS.length));
const samples = { side: [], after: [] };
for (let round = -1; round < Number(values.rounds); round++) {
  const [side, after] = [await runMs(8), await runMs(1)];
  if (round >= 0) {
    samples.side.push(side);
    samples.after.push(after);
  }
}
console.log(`${machine()}, ${TASKS.length} agents, ${REPLY_MS} ms a reply, ${values.rounds} rounds, medians\n`);
console.log(
  table(
    ['agents', 'ms', '÷ one after another', '÷ the waiting alone'],
    [
      ['one after another', samples.after, false],
      ['side by side', samples.side, true],
    ].map(([name, ms, side]) => [
      name,
      median(ms).toFixed(0),
      median(ms.map((one, at) => one / samples.after[at])).toFixed(2),
      median(ms.map((one) => one / least(side))).toFixed(2),
    ]),
  ),
);
