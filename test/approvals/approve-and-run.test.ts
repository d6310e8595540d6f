import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approvals } from '../../src/policy/approvals/index.ts';
import { openStore } from '../../src/store/index.ts';
import { compiled } from '../helpers/compiled.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const program = fileURLToPath(new URL('approve-and-run.mjs', import.meta.url));
/** A process starts late on a busy machine. */
const LONG = 300_000;

let dist: string;
let home: string;

beforeAll(async () => {
  const rooms = ['contracts', 'tools', 'store', 'dispatch', 'policy'];
  const below = rooms.flatMap((room) =>
    readdirSync(join(src, room), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${room}/${name}`),
  );
  dist = await compiled([...rooms, ...below]);
  home = await mkdtemp(join(tmpdir(), 'bridle-approve-'));
}, LONG);
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  await rm(dirname(dist), { recursive: true, force: true });
});

/** One step in a process of its own. `died` is true when it killed itself at the point. */
function step(dir: string, what: 'call' | 'approve' | 'always', point = '-', order = 'O-1') {
  const child = spawn(process.execPath, [program, dist, dir, what, point, order], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise<{ readonly died: boolean; readonly said: { kind?: string; approval?: string; state?: string } }>(
    (resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => {
        if (signal === 'SIGKILL') resolve({ died: true, said: {} });
        else if (code === 0) resolve({ died: false, said: JSON.parse(stdout) });
        else reject(new Error(`${what} ended with ${code}: ${stderr}`));
      });
    },
  );
}

function linesOf(dir: string, name: string): readonly string[] {
  const file = join(dir, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** The records, as another process finds them. */
async function recordsIn(dir: string) {
  const store = await openStore({ file: join(dir, 'state.db') });
  try {
    return await approvals({ store, key: 'a key for tests, of enough bytes' }).list();
  } finally {
    await store.close();
  }
}

function fresh(): string {
  const dir = join(home, String(readdirSync(home).length));
  mkdirSync(dir);
  return dir;
}

describe('a process that is killed while it asks or decides', () => {
  test.each([
    ['before the question', 0],
    ['before approvals waiting', 0],
    ['after approvals waiting', 1],
    ['after the answer', 1],
  ])(
    '%s: nothing ran, and the question waits once',
    async (point, waiting) => {
      const dir = fresh();
      expect((await step(dir, 'call', point)).died).toBe(true);
      expect(await recordsIn(dir)).toHaveLength(waiting);
      expect((await step(dir, 'call')).said.kind).toBe('parked');
      expect(await recordsIn(dir)).toMatchObject([{ state: 'waiting' }]);
      expect(linesOf(dir, 'effects')).toEqual([]);
    },
    LONG,
  );

  test.each([
    ['before approvals approved', 'waiting', 'parked', 0],
    ['after approvals approved', 'approved', 'ok', 1],
  ] as const)(
    '%s: what was decided counts, and nothing else',
    async (point, state, kind, ran) => {
      const dir = fresh();
      await step(dir, 'call');
      expect((await step(dir, 'approve', point)).died).toBe(true);
      expect(await recordsIn(dir)).toMatchObject([{ state }]);
      expect((await step(dir, 'call')).said.kind).toBe(kind);
      expect(linesOf(dir, 'effects')).toHaveLength(ran);
    },
    LONG,
  );

  test.each([
    ['before approvals-always standing', 'parked'],
    ['after approvals-always standing', 'ok'],
  ])(
    '%s of an always: the call itself is approved, its sibling as far as it was written',
    async (point, sibling) => {
      const dir = fresh();
      await step(dir, 'call', '-', 'O-1');
      const first = (await recordsIn(dir))[0]?.id;
      await step(dir, 'call', '-', 'O-2');
      expect((await step(dir, 'always', point)).died).toBe(true);
      const decided = (await recordsIn(dir)).find(({ state }) => state === 'approved');
      expect(decided?.id).toBe(first);
      expect((await step(dir, 'call', '-', 'O-1')).said.kind).toBe('ok');
      expect((await step(dir, 'call', '-', 'O-2')).said.kind).toBe(sibling);
    },
    LONG,
  );
});

describe('a process that is killed on the way from a yes to the end of the call', () => {
  test.each([
    ['before the question'],
    ['after the answer'],
    ['before the intent'],
    ['after the intent'],
    ['before approvals used'],
  ])(
    '%s: nothing ran, the yes is still there, and the next call uses it',
    async (point) => {
      const dir = fresh();
      await step(dir, 'call');
      await step(dir, 'approve');
      expect((await step(dir, 'call', point)).died).toBe(true);
      expect(linesOf(dir, 'effects')).toEqual([]);
      expect(await recordsIn(dir)).toMatchObject([{ state: 'approved' }]);
      expect((await step(dir, 'call')).said.kind).toBe('ok');
      expect(linesOf(dir, 'effects')).toEqual(['O-1']);
      expect(await recordsIn(dir)).toMatchObject([{ state: 'used', used: { outcome: { kind: 'ok' } } }]);
    },
    LONG,
  );

  test.each([
    ['after approvals used', 0, false],
    ['before the effect', 0, false],
    ['after the effect', 1, false],
    ['before approvals used with outcome', 1, false],
    ['after approvals used with outcome', 1, true],
  ])(
    '%s: the yes is used up, nothing runs twice, and what is not known says so',
    async (point, ran, isKnown) => {
      const dir = fresh();
      await step(dir, 'call');
      await step(dir, 'approve');
      expect((await step(dir, 'call', point)).died).toBe(true);
      expect(linesOf(dir, 'effects')).toHaveLength(ran);
      expect(linesOf(dir, 'intents')).toEqual(['O-1']);
      const [record] = await recordsIn(dir);
      expect(record?.state).toBe('used');
      expect(record?.used?.outcome !== undefined).toBe(isKnown);
      expect((await step(dir, 'call')).said.kind).toBe('parked');
      expect(linesOf(dir, 'effects')).toHaveLength(ran);
    },
    LONG,
  );
});

test(
  'of several processes that make the approved call at once exactly one runs it',
  async () => {
    const dir = fresh();
    await step(dir, 'call');
    await step(dir, 'approve');
    const ends = await Promise.all([1, 2, 3].map(() => step(dir, 'call')));
    expect(ends.filter(({ said }) => said.kind === 'ok')).toHaveLength(1);
    expect(linesOf(dir, 'effects')).toEqual(['O-1']);
  },
  LONG,
);
