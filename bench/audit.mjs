/**
 * What the audit costs a call: reads, writes one after another, and writes 16 at a time, with it and without. The tool is
 * a function of this process that answers at once, so the ratio is the worst there is; beside it what the disk's own sync
 * takes, for which every write waits.
 *
 * Usage: node bench/audit.mjs [--calls 400] [--rounds 5]
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  allowAll,
  auditRecorder,
  auditWriter,
  createCatalog,
  createDispatcher,
  defineTool,
  functionSource,
  nullRecorder,
  rawFrom,
  refuseAsker,
} from 'bridle';
import { openLogFolder } from 'bridle/store';
import { machine, median, table } from './measure.mjs';

const { values } = parseArgs({
  options: { calls: { type: 'string', default: '400' }, rounds: { type: 'string', default: '5' } },
});
const calls = Number(values.calls);
const rounds = Number(values.rounds);

const input = { type: 'object', properties: { n: { type: 'number' } } };
const tool = (name, readOnlyHint) =>
  defineTool({ name, description: `${name} at once.`, input, annotations: { readOnlyHint } }, () => 'done');
const catalog = await createCatalog({ sources: [functionSource([tool('look', true), tool('change', false)])] });
await catalog.refresh(new AbortController().signal);
const dir = await mkdtemp(join(tmpdir(), 'bridle-bench-audit-'));

async function rate(recorder, name, atOnce) {
  const { policy } = { policy: allowAll() };
  const dispatcher = createDispatcher({ find: (wire) => catalog.find(wire), policy, asker: refuseAsker(), recorder });
  const signal = new AbortController().signal;
  let next = 0;
  const lane = async () => {
    while (next < calls) {
      const n = next;
      next += 1;
      const ctx = {
        callId: String(n),
        who: { agent: 'bench', via: 'library' },
        signal,
        idleMs: 60_000,
        hardMs: 60_000,
      };
      const outcome = await dispatcher.call({ name, args: rawFrom({ n }), profile: 'relay', conversation: 'c', ctx });
      if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: atOnce }, lane));
  return calls / ((performance.now() - start) / 1000);
}

async function syncRate() {
  const file = await open(join(dir, 'sync'), 'w');
  const start = performance.now();
  for (let n = 0; n < calls; n += 1) {
    await file.write('x'.repeat(1_000));
    await file.datasync();
  }
  await file.close();
  return calls / ((performance.now() - start) / 1000);
}

const kinds = [
  ['reads, 1 at once', 'look', 1],
  ['writes, 1 at once', 'change', 1],
  ['writes, 16 at once', 'change', 16],
];
// Once for nothing: the first calls also load and compile what the path needs.
await rate(nullRecorder(), 'look', 1);
const rows = [];
for (const [label, name, atOnce] of kinds) {
  const without = [];
  const withAudit = [];
  for (let round = 0; round < rounds; round += 1) {
    without.push(await rate(nullRecorder(), name, atOnce));
    const logs = openLogFolder({ dir });
    const writer = auditWriter();
    const audit = auditRecorder({
      log: logs.log(writer),
      writer,
      key: Buffer.alloc(32),
      by: 'bench',
      host: 'bench',
      pid: 1,
    });
    withAudit.push(await rate(audit, name, atOnce));
    await audit.close();
    await logs.close();
  }
  const ratios = withAudit.map((value, at) => value / without[at]);
  rows.push([label, median(without).toFixed(0), median(withAudit).toFixed(0), median(ratios).toFixed(2)]);
}
const sync = await syncRate();
await rm(dir, { recursive: true });
process.stdout.write(
  `${machine()}, ${calls} calls a round, ${rounds} rounds, medians; ${sync.toFixed(0)} syncs/s of the disk\n\n`,
);
process.stdout.write(`${table(['calls', 'calls/s without', 'calls/s with audit', 'ratio'], rows)}\n`);
