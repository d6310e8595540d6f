import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAgent, type UnsureAnswer } from '../src/agent/index.ts';
import { createTrace, openTrace } from '../src/dispatch/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { defineTool } from '../src/tools/index.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bridle-test-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const TIMEOUT_MS = 120_000;
const place = () => ({ dir, run: 'payment' });

function payer(paid: string[], answers: readonly string[]) {
  const pay = defineTool({ name: 'pay', description: 'Pays.', input: { type: 'object', properties: {} } }, () => {
    paid.push('pay');
    return 'Paid.';
  });
  const model = scriptedModel([{ calls: [{ name: 'pay' }] }, 'Done.'].slice(2 - answers.length));
  return createAgent({ model, tools: [pay], permissions: { allow: ['pay'] } });
}

/** The journal of a run that broke off after its payment was decided on. */
async function brokenOff(): Promise<void> {
  const trace = await createTrace({ ...place(), agent: 'agent', model: 'scripted', task: 'Pay.' });
  const agent = await payer([], ['call', 'Done.']);
  await agent.run('Pay.', { trace }).result;
  await agent.close();
  await trace.close();
  const file = join(dir, 'payment.jsonl');
  const lines = (await readFile(file, 'utf8')).split('\n');
  const decided = lines.findIndex((line) => line.includes('"type":"decided"'));
  await writeFile(file, `${lines.slice(0, decided + 1).join('\n')}\n`);
}

test('one run is gone on with once, however often that is asked for at the same time', {
  timeout: TIMEOUT_MS,
}, async () => {
  await brokenOff();
  const paid: string[] = [];
  const trace = await openTrace(place());
  const [one, two] = [await payer(paid, ['Done.']), await payer(paid, ['Done.'])];
  const unsure = async (): Promise<UnsureAnswer> => 'run_again';
  const both = await Promise.all([one.resume(trace, { unsure }).result, two.resume(trace, { unsure }).result]);
  expect(both.map(({ end }) => end)).toEqual(['answered', 'failed']);
  expect(both[1]?.error?.code).toBe('trace_busy');
  expect(paid).toEqual(['pay']);
  expect((await two.resume(trace).result).error?.code).toBe('run_ended');
  await trace.close();
});

test('a run that is stopped waits for nobody who is asked what became of a call', { timeout: TIMEOUT_MS }, async () => {
  await brokenOff();
  const paid: string[] = [];
  const trace = await openTrace(place());
  const agent = await payer(paid, ['Done.']);
  const run = agent.resume(trace, {
    unsure: () => {
      // Nobody will ever answer.
      queueMicrotask(() => void agent.close());
      return new Promise(() => {});
    },
  });
  const { end, messages } = await run.result;
  expect(end).toBe('aborted');
  expect(JSON.stringify(messages)).toContain('find out before you repeat it');
  expect(paid).toEqual([]);
  await trace.close();
});
