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

test('Tab completes an argument by its name, knowing the others', async () => {
  const asked: unknown[] = [];
  const styles = (value: string, { known }: { readonly known: Readonly<Record<string, string>> }) => {
    asked.push({ ...known });
    return ['markdown', 'plain'].filter((style) => style.startsWith(value));
  };
  const prompt = definePrompt({
    name: 'format',
    arguments: [
      { name: 'id', complete: completing },
      { name: 'style', complete: styles },
    ],
    messages: () => 'x',
  });
  const server = { key: 'docs', scope: 'project', fingerprint: 'd', trustAnnotations: false } as const;
  const catalog = createContentCatalog({ sources: [contentSource({ server, prompts: [prompt] })] });
  await catalog.refresh();
  const where = { catalog, root: tmpdir(), who: { agent: 'main', via: 'terminal' } as const };
  const found = async (line: string) => (await completeContent(line, where))?.[0];
  expect(await found('/format id=re')).toEqual(['id=report.pdf']);
  expect(await found('/format sty')).toEqual(['style=']);
  expect(await found('/format style=')).toEqual(['style=markdown', 'style=plain']);
  expect(await found('/format style=plain pl')).toEqual(['plan.md']);
  expect(await found('/format "my plan" m')).toEqual(['markdown']);
  expect(await found('/format id=plan.md style=m')).toEqual(['style=markdown']);
  expect(await found('/format plan.md plain more')).toBeUndefined();
  expect(asked).toEqual([{}, { id: 'my plan' }, { id: 'plan.md' }]);
});
