import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { emptyTranscript } from '../src/agent/transcript.ts';
import type { Json } from '../src/contracts/index.ts';
import { messagesDouble } from '../src/testing/index.ts';
import { checkHistory, Tally } from './histories/check-history.ts';
import { history, settings, unrunnable } from './histories/generate.ts';
import { configOf, MODELS, playRun, type Seen } from './histories/play.ts';
import { Provider } from './histories/replies.ts';
import { propertySeed } from './helpers/property-seed.ts';

const RUNS = Number(process.env.BRIDLE_PROPERTY_RUNS ?? 2_000);
const SEED = propertySeed();

/** Long enough for any machine: how many histories are tried is what counts, not how fast. */
const TIMEOUT_MS = 3_600_000;

/** Of the histories whose requests go over HTTP as well. */
const OVER_HTTP = 25;

const double = messagesDouble({ turns: [], keep: 0 });
afterAll(() => double.stop());

test('whatever happens, each request is one that the API takes, and each call is answered exactly once', {
  timeout: TIMEOUT_MS,
}, () => {
  const tally = new Tally();
  fc.assert(
    fc.property(history, (each) => checkHistory(each, tally)),
    { numRuns: RUNS, seed: SEED },
  );
  const { runs, requests, calls, crashes, ends } = tally;
  const counts = [...ends].sort().map(([how, count]) => `${count} ${how}`);
  console.log(
    `${RUNS} histories (seed ${SEED}): ${runs} runs, ${requests} requests, ${calls} calls, ${crashes} crashes; ends: ${counts.join(', ')}`,
  );
  // Histories that end at once would show nothing.
  expect(requests).toBeGreaterThan(RUNS);
  expect(calls).toBeGreaterThan(RUNS / 4);
  expect(crashes).toBeGreaterThan(RUNS / 4);
  if (RUNS < 1_000) return;
  expect([...ends.keys()].sort()).toEqual(['aborted', 'answered', 'asked', 'failed', 'limit', 'refused', 'truncated']);
});

test('nothing of a reply that was cut, that contradicts itself or that stops for an unknown reason is ever run', {
  timeout: TIMEOUT_MS,
}, () => {
  fc.assert(
    fc.property(settings, unrunnable, (fixed, reply) => {
      const [model] = MODELS;
      const seen: Seen = { requests: [], given: [], ends: [], crashes: 0 };
      const stage = {
        config: configOf(fixed, model),
        transcript: emptyTranscript(),
        model,
        provider: new Provider(true),
      };
      playRun(stage, 'Do it.', [reply, reply], seen);
      expect(seen.given).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('the double takes the same requests over HTTP', { timeout: TIMEOUT_MS }, async () => {
  const bodies: Json[] = [];
  const tally = new Tally();
  for (const each of fc.sample(history, { numRuns: OVER_HTTP, seed: 5 })) {
    checkHistory(each, tally, (request) => {
      // The double has signed none of this thinking.
      if (!JSON.stringify(request).includes('"type":"thinking"')) bodies.push(request);
    });
  }
  const url = await double.start();
  const refused: string[] = [];
  for (const body of bodies) {
    // Counting tokens checks a body by the same rules and takes no reply from the script.
    const { max_tokens: _, betas = [], ...counted } = body as { max_tokens: number; betas?: string[] };
    const headers = {
      'content-type': 'application/json',
      'x-api-key': 'any',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': betas.join(','),
    };
    const answer = await fetch(`${url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers,
      body: JSON.stringify(counted),
    });
    if (!answer.ok) refused.push(await answer.text());
    else await answer.arrayBuffer();
  }
  expect(refused).toEqual([]);
  expect(bodies.length).toBeGreaterThan(OVER_HTTP);
});
