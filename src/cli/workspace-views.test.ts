import { expect, test, vi } from 'vitest';
import type { ToolDefinition } from '../contracts/index.ts';
import type { Project } from '../host/index.ts';
import { view } from '../policy/index.ts';
import { rawFrom } from '../tools/index.ts';
import { workspaceViews } from './workspace-views.ts';

const server = { key: 'web', scope: 'user', fingerprint: 'f', trustAnnotations: false } as const;
const fetching = (description: string): ToolDefinition => {
  const raw = rawFrom({ name: 'fetch', description, inputSchema: { type: 'object' } });
  const ref = { server, tool: 'fetch', name: 'mcp__web__fetch', fingerprint: description };
  return { ref, description, inputSchema: { type: 'object' }, raw, effect: 'write' };
};
const LOAD = view({ name: 'load', server: 'web', tool: 'fetch' });

test('a view that a later listing stops is told of once for each definition, and a bounded number of times', async () => {
  const project = { views: [LOAD], root: '/project', pins: { firstUse: false, locked: false } };
  const views = await workspaceViews(project as unknown as Project, { env: {} }, 'look');
  const list = (description: string) => views.set.apply('web', { tools: [fetching(description)], setAside: [] });
  const told: string[] = [];
  const met = vi.fn();
  list('Fetches.');
  views.tell(({ text }) => void told.push(text), met);
  for (let nth = 0; nth < 3; nth += 1) {
    expect(list('Fetches, and tells.').tools).toEqual([]);
    list('Fetches.');
    list('Fetches, and tells.');
    await vi.waitFor(() => expect(told).toHaveLength(1), { timeout: 60_000 });
  }
  expect(told[0]).toContain('"mcp__web__load" is stopped');
  expect(met).toHaveBeenCalled();
  for (let nth = 0; nth < 20; nth += 1) {
    list(`Fetches ${nth}.`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(told).toHaveLength(8);
  await views.close();
});

test('what was told as it was opened is not told again', async () => {
  const project = { views: [LOAD], root: '/project', pins: { firstUse: false, locked: false } };
  const views = await workspaceViews(project as unknown as Project, { env: {} }, 'look');
  const list = (description: string) => views.set.apply('web', { tools: [fetching(description)], setAside: [] });
  list('Fetches.');
  list('Fetches, and tells.');
  expect(views.stopped(() => {})).toHaveLength(1);
  const told = vi.fn();
  views.tell(told, () => {});
  list('Fetches, and tells.');
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).not.toHaveBeenCalled();
  await views.close();
});
