/**
 * Turns a second of whole loops: Bridle's, and those of the Anthropic SDK, the AI SDK and OpenAI's agents SDK, all with the
 * same task over HTTP against the same double of the Messages API: so many turns, each of three calls of read-only tools,
 * then a text. Each run of a loop is a process of its own; the double is another.
 *
 * Usage: node bench/turns.mjs [--turns 20] [--rounds 7] [--memory 1000]
 */
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installPeers } from './install-peers.mjs';
import { machine, median, table } from './measure.mjs';

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '7' },
    memory: { type: 'string', default: '1000' },
  },
});
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

installPeers('ai');

/** Name, file, and what the file is told. */
const LOOPS = [
  ['Bridle', 'bridle-loop.mjs', 'memory'],
  ['Bridle, durable journal', 'bridle-loop.mjs', 'durable'],
  ["Anthropic SDK's toolRunner", 'peers/tool-runner.mjs', 'streamed'],
  ["Anthropic SDK's toolRunner, not streamed", 'peers/tool-runner.mjs', 'whole'],
  ["AI SDK's streamText", 'peers/ai-sdk.mjs', 'streamed'],
  ["AI SDK's generateText", 'peers/ai-sdk.mjs', 'whole'],
  ['OpenAI agents SDK over the AI SDK', 'peers/openai-agents.mjs', 'streamed'],
];

const double = spawn(process.execPath, [here('turns-double.mjs')], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
const url = await new Promise((resolve) => double.once('message', resolve));

/** Runs one loop in a process of its own: `runs` tasks of so many turns, after as many that only warm up. */
function measure(file, mode, turns, runs) {
  const args = ['--expose-gc', here(file), url, mode, String(turns), String(runs)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ANTHROPIC_API_KEY: 'sim', OPENAI_AGENTS_DISABLE_TRACING: '1' },
  });
  if (status !== 0) throw new Error(`${file} ${mode} failed: ${stderr}${stdout}`);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

const turns = Number(values.turns);
const speed = new Map(LOOPS.map(([name]) => [name, []]));
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [name, file, mode] of LOOPS) speed.get(name).push(measure(file, mode, turns, 20));
}
const of = (name, what) => speed.get(name).map(what);
const perSecond = (name) => of(name, ({ ms }) => (turns + 1) / (ms / 1000));
const cpu = (name) => of(name, ({ cpuMs }) => cpuMs / (turns + 1));
const ratios = (mine, others) => median(mine.map((one, round) => one / others[round]));

const [first] = LOOPS[0];
console.log(`${machine()}, ${turns} turns with 3 calls each, ${values.rounds} rounds, medians\n`);
console.log(
  table(
    ['loop', 'turns/s', '÷ Bridle', 'processor ms a turn', '÷ Bridle'],
    LOOPS.map(([name]) => [
      name,
      median(perSecond(name)).toFixed(0),
      ratios(perSecond(name), perSecond(first)).toFixed(2),
      median(cpu(name)).toFixed(2),
      ratios(cpu(name), cpu(first)).toFixed(2),
    ]),
  ),
);

const long = Number(values.memory);
if (long > 0) {
  const rows = LOOPS.map(([name, file, mode]) => [name, measure(file, mode, long, 0)]);
  const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(1);
  console.log(
    `\nMemory of one run of ${long} turns: what lives when it has ended, and the most that the process took\n`,
  );
  console.log(
    table(
      ['loop', 'heap after the run, MB', 'of it the run’s, MB', 'most resident, MB'],
      rows.map(([name, { heap, heapBefore, peak }]) => [
        name,
        megabytes(heap),
        megabytes(heap - heapBefore),
        megabytes(peak),
      ]),
    ),
  );
}
double.kill();
