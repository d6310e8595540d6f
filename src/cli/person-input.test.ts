import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { createContentCatalog } from '../catalog/index.ts';
import { contentSource, defineResource } from '../content/index.ts';
import { personInput } from './person-input.ts';
import type { Workspace } from './workspace.ts';

test('that a resource changed is said with the next words that are sent, not with those that fail', async () => {
  const server = { key: 'docs', scope: 'project', fingerprint: 'd', trustAnnotations: false } as const;
  const docs = contentSource({ server, resources: [defineResource({ uri: 'docs://a', name: 'a', read: () => 'A' })] });
  const catalog = createContentCatalog({ sources: [docs] });
  await catalog.refresh();
  const input = personInput({
    workspace: { content: catalog, project: { root: tmpdir() } } as unknown as Workspace,
    who: { agent: 'main', via: 'terminal' },
    input: undefined,
    recorder: {},
    conversation: () => 'c1',
    tool: () => undefined,
    prompter: undefined,
    note: () => {},
  });
  const { signal } = new AbortController();
  await input.compose('Read @docs:docs://a', signal);
  docs.updated('docs://a');
  await expect(input.compose('Read @docs:absent', signal)).rejects.toMatchObject({ code: 'resource_not_found' });
  expect(JSON.stringify((await input.compose('Go on.', signal)).content)).toContain('docs: docs://a changed');
  expect((await input.compose('And on.', signal)).content).toBe('And on.');
});
