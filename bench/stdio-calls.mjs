/**
 * Calls a second over stdio: Bridle's connection and its whole dispatch path (view, checks of the arguments, policy, shaping) beside
 * the official clients, v1 and v2, each in front of the same lean server, in interleaved rounds of one run.
 *
 * Usage: node bench/stdio-calls.mjs [--calls 2000] [--rounds 5] [--concurrency 1,16]
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { compilePolicy, createCatalog, createDispatcher, nullRecorder, rawFrom, refuseAsker } from 'bridle';
import { connectStdio, mcpSource } from 'bridle/mcp';
import { machine, median, table } from './measure.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '5' },
    concurrency: { type: 'string', default: '1,16' },
  },
});
const calls = Number(values.calls);
const lean = fileURLToPath(new URL('./lean-server.mjs', import.meta.url));
const at = { command: process.execPath, args: [lean] };
const text = 'x'.repeat(200);
const open = new AbortController().signal;
const limits = { signal: open, idleMs: 60_000, hardMs: 60_000 };

const info = { name: 'bench', version: '1.0.0' };
const v1 = new ClientV1(info);
await v1.connect(new TransportV1(at));
const v2 = new ClientV2(info);
await v2.connect(new TransportV2(at));
const connection = connectStdio({ key: 'lean', scope: 'code', ...at });
const through = connectStdio({ key: 'lean2', scope: 'code', ...at });
const layer = { scope: 'session', file: 'bench', permissions: { allow: ['mcp__lean2__*'] }, trusted: true };
const { policy } = compilePolicy([layer]);
const catalog = createCatalog({ sources: [mcpSource(through)], policy });
await catalog.refresh();
const recorder = nullRecorder();
const dispatcher = createDispatcher({ find: (name) => catalog.find(name), policy, asker: refuseAsker(), recorder });
const who = { agent: 'bench', via: 'library' };
let sequence = 0;
async function dispatched() {
  const callId = `call_${sequence++}`;
  const ctx = { callId, who, ...limits };
  const args = rawFrom({ text });
  const call = { name: 'mcp__lean2__echo', args, profile: 'agent', conversation: 'bench', ctx };
  const outcome = await dispatcher.call(call);
  if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
}

const subjects = [
  { name: 'official client v1.32.2', call: () => v1.callTool({ name: 'echo', arguments: { text } }) },
  { name: 'official client v2.4.0', call: () => v2.callTool({ name: 'echo', arguments: { text } }) },
  {
    name: 'Bridle connection',
    call: () => connection.request('tools/call', { name: 'echo', arguments: { text } }, limits),
  },
  { name: 'Bridle dispatch (policy, checks, shaping)', call: dispatched },
].map((subject) => ({ ...subject, samples: new Map() }));

async function measure(call, concurrency) {
  let left = calls;
  const start = process.hrtime.bigint();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left-- > 0) await call();
    }),
  );
  return calls / (Number(process.hrtime.bigint() - start) / 1e9);
}

const levels = values.concurrency.split(',').map(Number);
for (const concurrency of levels) {
  for (let round = -1; round < Number(values.rounds); round++) {
    for (const subject of subjects) {
      const rate = await measure(subject.call, concurrency);
      if (round >= 0) subject.samples.set(concurrency, [...(subject.samples.get(concurrency) ?? []), rate]);
    }
  }
}

process.stdout.write(`${machine()}, ${calls} calls a round, ${values.rounds} rounds, medians\n\n`);
const head = ['client', ...levels.flatMap((n) => [`calls/s, ${n} at once`, '÷ v1'])];
const rows = subjects.map(({ name, samples }) => [
  name,
  ...levels.flatMap((n) => {
    // The ratio is taken within each round, so that the machine's drift cancels.
    const ratios = samples.get(n).map((rate, round) => rate / subjects[0].samples.get(n)[round]);
    return [Math.round(median(samples.get(n))), median(ratios).toFixed(2)];
  }),
]);
process.stdout.write(`${table(head, rows)}\n`);
await Promise.all([v1.close(), v2.close(), connection.close(), through.close()]);
catalog.close();
