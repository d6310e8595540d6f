/** However an agent is set up, each of its requests is one that the API takes: over the real client, held to the double. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEPT, writtenIn } from './rules-kept/table.ts';
import { type Setup, setup } from './setups/generate.ts';
import { playSetup } from './setups/play.ts';
import { propertySeed } from './helpers/property-seed.ts';

const RUNS = Math.ceil(Number(process.env.BRIDLE_PROPERTY_RUNS ?? 2_000) / 40);
const SEED = propertySeed();

/** The same each time: in these every rule that the test answers for has something to look at. */
const SAME = fc.sample(setup, { numRuns: 60, seed: 5 });

test('however an agent is set up, each of its requests is one that the API takes', { timeout: 3_600_000 }, async () => {
  const ends = new Map<string, number>();
  const unseen = new Map([...KEPT].flatMap(([id, kept]) => (kept.by === 'setups' ? [[id, kept.sees] as const] : [])));
  let requests = 0;
  const play = async (each: Setup): Promise<void> => {
    const { end, exchanges } = await playSetup(each);
    expect(exchanges.flatMap(({ refusals }) => refusals)).toEqual([]);
    requests += exchanges.length;
    ends.set(end, (ends.get(end) ?? 0) + 1);
    for (const { body, betas } of exchanges) {
      if (body === null) continue;
      const texts = [JSON.stringify({ ...body, betas })];
      if (Array.isArray(body.tools)) texts.push(...body.tools.map((tool) => JSON.stringify(tool)));
      for (const [id, sees] of unseen) if (texts.some((text) => sees.test(text))) unseen.delete(id);
      for (const [id, kept] of KEPT) {
        if (kept.by === 'never') expect([id, kept.what.flatMap((what) => writtenIn(body, what))]).toEqual([id, []]);
      }
    }
  };
  for (const each of SAME) await play(each);
  expect([...unseen.keys()]).toEqual([]);
  await fc.assert(fc.asyncProperty(setup, play), { numRuns: RUNS, seed: SEED });
  const counts = [...ends].sort().map(([how, count]) => `${count} ${how}`);
  console.log(`${SAME.length} + ${RUNS} agents (seed ${SEED}): ${requests} requests; ends: ${counts.join(', ')}`);
  // Agents that ask nothing would show nothing.
  expect(requests).toBeGreaterThan(RUNS);
});
