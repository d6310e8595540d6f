/**
 * Cold start: whole processes, `node -e 0` beside `bridle --version`, `bridle --help` and `bridle run --help`,
 * interleaved so that the machine's drift hits all alike. Aim: within 1.5 × of bare Node, best of 20.
 *
 * Usage: node bench/cold-start.mjs [--runs 20] [--check]   (--check exits 1 when the aim is missed)
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { best, machine, median, table } from './measure.mjs';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '20' }, check: { type: 'boolean' } } });
const AIM = 1.5;
const bridle = fileURLToPath(new URL('../bin/bridle.js', import.meta.url));
const commands = [
  ['node -e 0', ['-e', '0']],
  ['bridle --version', [bridle, '--version']],
  ['bridle --help', [bridle, '--help']],
  ['bridle run --help', [bridle, 'run', '--help']],
].map(([name, args]) => ({ name, args, samples: [] }));

for (let run = -1; run < Number(values.runs); run++) {
  for (const command of commands) {
    const start = process.hrtime.bigint();
    const done = spawnSync(process.execPath, command.args, { stdio: 'ignore' });
    const ms = Number(process.hrtime.bigint() - start) / 1e6;
    if (done.status !== 0) throw new Error(`${command.name} ended with ${done.status}`);
    if (run >= 0) command.samples.push(ms); // The first round only warms the file cache.
  }
}

const bare = best(commands[0].samples);
const rows = commands.map(({ name, samples }) => [
  name,
  best(samples).toFixed(1),
  median(samples).toFixed(1),
  (best(samples) / bare).toFixed(2),
]);
process.stdout.write(`${machine()}, ${values.runs} runs each\n\n`);
process.stdout.write(`${table(['command', 'best ms', 'median ms', 'best ÷ bare Node'], rows)}\n`);
if (values.check && commands.some(({ samples }) => best(samples) / bare > AIM)) {
  process.stderr.write(`over the aim of ${AIM} × bare Node\n`);
  process.exitCode = 1;
}
