import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createContentCatalog } from '../../catalog/index.ts';
import { contentSource, definePrompt, defineResource, defineResourceTemplate } from '../../content/index.ts';
import { completeContent } from './complete-content.ts';

const ids = ['plan.md', 'plan b', 'report.pdf'];
const completing = (value: string) => ids.filter((id) => id.startsWith(value));

test('Tab completes servers, addresses, names, files, prompts and their arguments', async () => {
  const root = await mkdtemp(join(tmpdir(), 'bridle-complete-'));
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'src', 'place.ts'), '');
  await writeFile(join(root, 'players.txt'), '');
  const docs = contentSource({
    server: { key: 'docs', scope: 'project', fingerprint: 'd', trustAnnotations: false },
    resources: [defineResource({ uri: 'docs://all', name: 'all', read: () => '' })],
    templates: [
      defineResourceTemplate({ uriTemplate: 'docs://d/{id}', name: 'd', complete: { id: completing }, read: () => '' }),
    ],
    prompts: [definePrompt({ name: 'format', arguments: [{ name: 'id', complete: completing }], messages: () => 'x' })],
  });
  const catalog = createContentCatalog({ sources: [docs] });
  await catalog.refresh();
  const where = { catalog, root, who: { agent: 'main', via: 'terminal' } as const };
  const found = async (line: string) => (await completeContent(line, where))?.[0];
  expect(await found('What is in @do')).toEqual(['@docs:']);
  expect(await found('@docs:')).toEqual([
    '@docs:docs://all',
    '@docs:docs://d/plan.md',
    '@docs:docs://d/plan%20b',
    '@docs:docs://d/report.pdf',
  ]);
  expect(await found('@docs:docs://d/r')).toEqual(['@docs:docs://d/report.pdf']);
  expect(await found('see @pla')).toEqual(['@plan.md', '@players.txt']);
  expect(await found('(@src/')).toEqual(['@src/place.ts']);
  expect(await found('/fo')).toEqual(['/format']);
  expect(await found('/docs:')).toEqual(['/docs:format']);
  expect(await found('/format pl')).toEqual(['plan.md']);
  expect(await found('/nothing pl')).toBeUndefined();
  expect(await found('ada@do')).toBeUndefined();
  await rm(root, { recursive: true });
});
