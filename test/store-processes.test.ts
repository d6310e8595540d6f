import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../src/store/index.ts';
import { compiled } from './helpers/compiled.ts';

const ROUNDS = 150;

/** Counts up in one key by compare-and-set, and writes a log of its own beside it. */
const PROGRAM = `
import { openStore } from './store/index.js';
const [file, writer, rounds] = process.argv.slice(2);
const store = await openStore({ file });
const table = store.table('counters');
const log = store.log('journal', 'shared');
for (let done = 0; done < Number(rounds); ) {
  const found = await table.get('n');
  const value = { v: 1, n: (found?.value.n ?? 0) + 1, by: writer };
  if (!(await table.put('n', value, found?.rev ?? null))) continue;
  done += 1;
  await log.append([{ v: 1, writer, n: value.n }], done % 10 === 0);
}
await store.close();
`;

let dist: string;
let dir: string;
beforeAll(async () => {
  dist = await compiled(['contracts', 'tools', 'store']);
  dir = await mkdtemp(join(tmpdir(), 'bridle-store-processes-'));
  await writeFile(join(dist, 'count.js'), PROGRAM);
});
afterAll(async () => {
  await rm(dirname(dist), { recursive: true, force: true });
  await rm(dir, { recursive: true, force: true });
});

function count(file: string, writer: string): Promise<readonly [number | null, string]> {
  const child = spawn(process.execPath, [join(dist, 'count.js'), file, writer, String(ROUNDS)], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once('close', (status) => resolve([status, stderr])));
}

test('processes that race for the same key lose no change, and share a log without a gap', async () => {
  const file = join(dir, 'new', 'state.db');
  const ends = await Promise.all(['one', 'two'].map((writer) => count(file, writer)));
  expect(ends).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const store = await openStore({ file });
  expect((await store.table<{ v: number; n: number }>('counters').get('n'))?.value.n).toBe(2 * ROUNDS);
  const numbers: number[] = [];
  const seqs: number[] = [];
  for await (const { seq, record } of store.log<{ v: number; n: number }>('journal', 'shared').read(1)) {
    seqs.push(seq);
    numbers.push(record.n);
  }
  const expected = Array.from({ length: 2 * ROUNDS }, (_, at) => at + 1);
  expect(seqs).toEqual(expected);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(expected);
  await store.close();
});
