/** A catalog of content for the tests of this folder. */
import { type ContentCatalog, createContentCatalog } from '../../catalog/index.ts';
import { type ContentSourceOptions, contentSource, type OwnContent } from '../../content/index.ts';
import type { Identity } from '../../contracts/index.ts';

export const WHO: Identity = { agent: 'tester', via: 'library' };

export async function catalogOf(
  servers: Readonly<Record<string, ContentSourceOptions>>,
): Promise<{ readonly catalog: ContentCatalog; readonly sources: readonly OwnContent[] }> {
  const sources = Object.entries(servers).map(([key, options]) =>
    contentSource({
      ...options,
      server: { key, scope: 'project', fingerprint: key, trustAnnotations: false },
    }),
  );
  const catalog = createContentCatalog({ sources });
  await catalog.refresh();
  return { catalog, sources };
}
