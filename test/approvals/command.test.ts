import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApprovalRecord } from '../../src/policy/approvals/index.ts';
import { bridle, type Terminal } from '../helpers/terminal.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const FS = join(root, 'node_modules', '@modelcontextprotocol', 'server-filesystem', 'dist', 'index.js');
const TASK = 'Read the file notes.txt';
/** A server is started by each run. */
const LONG = 300_000;

let home: string;
let project: string;
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'bridle-approvals-')));
  project = join(home, 'project');
  await mkdir(project);
  await writeFile(join(project, 'notes.txt'), 'The key is under the mat.');
  await writeFile(
    join(project, '.mcp.json'),
    JSON.stringify({ mcpServers: { fs: { command: 'node', args: [FS, project] } } }),
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** A person with a state of their own. */
function person(name: string, more: Partial<Terminal> = {}): Terminal {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_STATE_HOME: join(home, name),
    XDG_CONFIG_HOME: join(home, 'c'),
  };
  return { cwd: project, env, ...more };
}

const run = (at: Terminal, ...options: string[]) => bridle(['run', TASK, '--trust-project', ...options], at);

async function listed(at: Terminal, ...options: string[]): Promise<readonly ApprovalRecord[]> {
  const { stdout } = await bridle(['approvals', 'list', '--json', ...options], at);
  return JSON.parse(stdout).approvals;
}

test(
  'a parked call waits, is approved, and runs when the same task is given again, once',
  async () => {
    const at = person('parks');
    const first = await run(at, '--park', '--json');
    expect(first.status).toBe(9);
    const [waiting] = await listed(at);
    const id = waiting?.id ?? '';
    expect(JSON.parse(first.stdout)).toMatchObject({ end: 'answered', parked: [{ approval: id }] });
    expect(first.stderr).toContain(id);
    expect((await run(at, '--park')).status).toBe(9);
    expect(await listed(at)).toHaveLength(1);

    const shown = await bridle(['approvals', 'show', id.slice(-8)], at);
    expect(shown.stdout).toContain('notes.txt');
    expect(shown.stdout).toContain('waits for an answer');
    expect((await bridle(['approvals', 'approve', id], at)).stdout).toContain('Approved');

    const second = await run(at, '--park');
    expect(second.stdout).toContain('The key is under the mat.');
    expect(second.status).toBe(0);
    expect(await listed(at, '--all')).toMatchObject([{ id, state: 'used', used: { outcome: { kind: 'ok' } } }]);
    expect((await run(at, '--park')).status).toBe(9);
  },
  LONG,
);

test(
  'what is denied is told to the agent with its reason, and nothing is parked again',
  async () => {
    const at = person('denies');
    await run(at, '--park');
    const [waiting] = await listed(at);
    await bridle(['approvals', 'deny', waiting?.id ?? '', '--reason', 'Ask Bo instead.'], at);
    const again = await run(at, '--park');
    expect(again.status).toBe(0);
    expect(again.stderr).toContain('Ask Bo instead.');
    expect(await listed(at)).toEqual([]);
  },
  LONG,
);

test(
  'an always allows the next run without a question, until it is revoked',
  async () => {
    const at = person('always');
    await run(at, '--park');
    const [waiting] = await listed(at);
    const approve = ['approvals', 'approve', waiting?.id ?? '', '--always', '--when', '/path=*notes.txt'];
    expect((await bridle(approve, at)).status).toBe(0);
    expect((await run(at)).stdout).toContain('The key is under the mat.');
    expect((await run(at)).stdout).toContain('The key is under the mat.');
    const { always } = JSON.parse((await bridle(['approvals', 'list', '--json'], at)).stdout);
    expect(always).toHaveLength(1);
    await bridle(['approvals', 'revoke', always[0].id], at);
    expect((await run(at, '--park')).status).toBe(9);
  },
  LONG,
);

test(
  'a run that waits for its answer goes on when it comes',
  async () => {
    const at = person('waits');
    const running = run(at, '--park-seconds', '600');
    let waiting: ApprovalRecord | undefined;
    for (const until = Date.now() + LONG / 2; waiting === undefined && Date.now() < until; ) {
      [waiting] = await listed(at);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await bridle(['approvals', 'approve', waiting?.id ?? ''], at);
    expect(await running).toMatchObject({ status: 0, stdout: expect.stringContaining('The key is under the mat.') });
  },
  LONG,
);

test(
  'a person at the terminal is asked, and one who asked before is answered from the store',
  async () => {
    const at = person('sits');
    const asked = await run({ ...at, types: ['y'] });
    expect(asked.stderr).toContain('Run it?');
    await run(at, '--park');
    await bridle(['approvals', 'approve', (await listed(at))[0]?.id ?? ''], at);
    const answered = await run({ ...at, types: [] });
    expect(answered.stderr).not.toContain('Run it?');
    expect(answered.stdout).toContain('The key is under the mat.');
  },
  LONG,
);

test(
  'a project that is trusted may say that its questions are parked',
  async () => {
    const at = person('configured');
    const file = join(project, 'bridle.json');
    await writeFile(file, '{"approvals": {"park": true}}');
    try {
      expect((await run(at)).status).toBe(9);
    } finally {
      await rm(file);
    }
    expect((await run(at)).status).toBe(0);
  },
  LONG,
);

test.each([
  [['approvals', 'nix'], 'usage'],
  [['approvals', 'show', 'nothing'], 'approval_not_found'],
  [['approvals', 'approve', 'nothing'], 'approval_not_found'],
  [['approvals', 'approve', 'x', '--when', '/a=b'], 'usage'],
  [['approvals', 'approve', 'x', '--always', '--when', 'a'], 'usage'],
  // The second would stand in for the first, and allow more than both.
  [['approvals', 'approve', 'x', '--always', '--when', '/a=b/*', '--when', '/a=*.md'], 'usage'],
  [['approvals', 'approve', 'x', '--args', '{'], 'usage'],
  [['approvals', 'approve', 'x', '--args', '{}', '--always'], 'usage'],
  [['approvals', 'revoke', 'x'], 'approval_not_found'],
])('%j ends with an error that says %s', async (args, code) => {
  const { status, stderr } = await bridle(args, person('errs'));
  expect(status).toBeGreaterThan(0);
  expect(stderr).toContain(`error (${code})`);
});
