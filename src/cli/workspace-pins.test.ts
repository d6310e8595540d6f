import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Policy, ToolDefinition } from '../contracts/index.ts';
import type { Project } from '../host/index.ts';
import { allowAll } from '../policy/index.ts';
import { BridleError, rawFrom } from '../tools/index.ts';
import { workspacePins } from './workspace-pins.ts';

const failure = vi.hoisted(() => ({ code: 'no_database' }));
vi.mock('../store/index.ts', async (original) => ({
  ...(await original<typeof import('../store/index.ts')>()),
  openStore: async () => {
    throw new BridleError(failure.code, 'Node 20 has no built-in SQLite.', { hint: 'Use Node 22.13 or later.' });
  },
}));

const server = { key: 'shop', scope: 'user', fingerprint: 'f', trustAnnotations: false } as const;
const tool: ToolDefinition = {
  ref: { server, tool: 'pay', name: 'mcp__shop__pay', fingerprint: 'f' },
  description: 'Pays.',
  inputSchema: { type: 'object' },
  raw: rawFrom({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } }),
  effect: 'write',
};
const seen = (policy: Policy) => policy.view({ agent: 'main', via: 'terminal' }, tool).effect;

async function opened(settings: Project['pins']) {
  const root = await mkdtemp(join(tmpdir(), 'bridle-workspace-pins-'));
  try {
    const project = { pins: settings, root, listed: [] } as unknown as Project;
    return await workspacePins(project, { env: { XDG_STATE_HOME: root, HOME: root } }, 'record');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

test('without a database nothing is pinned, a warning says so, and a lock holds all the same', async () => {
  const open = await opened({ firstUse: true, locked: false });
  expect(open.problems).toMatchObject([{ code: 'pins_not_kept', text: expect.stringContaining('Node 22.13') }]);
  expect(seen(open.wrap(allowAll()))).toBe('allow');
  const locked = await opened({ firstUse: true, locked: 'all' });
  expect(locked.problems.map(({ code }) => code)).toEqual(['pin_lock_missing', 'pins_not_kept']);
  expect(seen(locked.wrap(allowAll()))).toBe('deny');
});

test('a store that is there and can not be read is no reason to go on without', async () => {
  failure.code = 'store_corrupt';
  await expect(opened({ firstUse: true, locked: false })).rejects.toMatchObject({ code: 'store_corrupt' });
});
