/** What each measured loop shares: its task, its tool, and how its time and memory are taken. */

export const MODEL = 'claude-haiku-4-5';
export const TOOL = {
  name: 'get_weather',
  description: 'Tells the weather of a city on a day.',
  input: {
    type: 'object',
    properties: { city: { type: 'string' }, day: { type: 'number' } },
    required: ['city', 'day'],
    additionalProperties: false,
  },
};
export const weather = ({ city, day }) => `${city}, day ${day}: ${'light rain, wind from the west, '.repeat(6)}`;

const [url, mode, turns, runs] = process.argv.slice(2);

/**
 * Runs a loop as often as the command line says and prints what it took, as JSON.
 *
 * @param prepare given the double's address, how the loop is to run, and its cap; returns a function that runs one task
 *   and gives the final text
 */
export async function measureLoop(prepare) {
  const cap = Number(turns) + 5;
  const run = await prepare({ url, mode, cap });
  const task = async (count) => {
    const text = await run(`Look at the weather for ${count} turns, then tell me.`);
    if (text !== 'All of them are known.') throw new Error(`The loop ended with ${JSON.stringify(text)}.`);
  };
  await task(3);
  const result = Number(runs) > 0 ? await timed(task) : await weighed(task);
  console.log(JSON.stringify(result));
  process.exit(0);
}

async function timed(task) {
  // Until the engine has compiled what it will: its compiling counts as processor time too, on cores beside.
  for (let run = 0; run < 20; run++) await task(turns);
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  for (let run = 0; run < Number(runs); run++) await task(turns);
  const ms = Number(process.hrtime.bigint() - start) / 1e6 / Number(runs);
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1000 / Number(runs) };
}

/** Everything that the run made and nobody holds is collected first: what counts is what a long run has to keep. */
async function weighed(task) {
  globalThis.gc();
  const heapBefore = process.memoryUsage().heapUsed;
  let heapAtEnd = 0;
  const timer = setInterval(() => {
    globalThis.gc();
    heapAtEnd = process.memoryUsage().heapUsed;
  }, 500);
  await task(turns);
  clearInterval(timer);
  return { heapBefore, heap: heapAtEnd, peak: process.resourceUsage().maxRSS * 1024 };
}
