import { noSuchPrompt, noSuchResource } from '../content/index.ts';
import type { ContentHost, ContentItem, ContentListing, Identity, PromptDefinition } from '../contracts/index.ts';
import { wireName } from '../tools/index.ts';
import type { ContentCatalog } from './content-catalog.ts';
import type { FoundPrompt, FoundResource } from './find-content.ts';

export interface ContentHostOptions {
  /** What beyond the sources' own view an identity sees; `server` is null for this process. Default: everything. */
  readonly visible?: (item: ContentItem & { readonly server: string | null }, who: Identity) => boolean;
}

/**
 * The content of a catalog, to be served. Resources keep their addresses: where two servers have one, the first has it.
 * Prompts of servers are called `mcp__server__prompt`, as their tools are; those of this process keep their names.
 */
export function contentHost(catalog: ContentCatalog, options: ContentHostOptions = {}): ContentHost {
  const sees = (kind: ContentItem['kind'], id: string, server: { readonly key: string } | null, who: Identity) =>
    options.visible === undefined || options.visible({ kind, id, server: server?.key ?? null }, who);

  /** One listing that holds each address and name once, with the server of each. */
  const view = (who: Identity) => {
    const { resources, templates, prompts, setAside } = catalog.list(who);
    const prompted = prompts.filter(({ name, server }) => sees('prompt', name, server, who));
    return {
      resources: firsts(
        resources.filter(({ uri, server }) => sees('resource', uri, server, who)),
        ({ uri }) => uri,
      ),
      templates: firsts(
        templates.filter(({ uriTemplate, server }) => sees('template', uriTemplate, server, who)),
        ({ uriTemplate }) => uriTemplate,
      ),
      prompts: firsts(prompted, servedName),
      setAside,
    };
  };

  const resource = (uri: string, who: Identity): FoundResource | undefined => {
    const { resources, templates } = view(who);
    const listed = resources.get(uri);
    if (listed) return catalog.resource(listed.server?.key ?? null, uri, who);
    const keys = new Set([...templates.values()].map(({ server }) => server?.key ?? null));
    for (const key of keys) {
      const found = catalog.resource(key, uri, who);
      if (found?.template && templates.get(found.template.uriTemplate)?.server === found.template.server) return found;
    }
    return undefined;
  };
  const prompt = (name: string, who: Identity): FoundPrompt | undefined => {
    const listed = view(who).prompts.get(name);
    return listed && catalog.prompt(listed.server?.key ?? null, listed.name, who);
  };

  return {
    list(who): ContentListing {
      const { resources, templates, prompts, setAside } = view(who);
      return {
        resources: [...resources.values()],
        templates: [...templates.values()],
        prompts: [...prompts].map(([name, definition]) => ({ ...definition, name })),
        setAside,
      };
    },
    async read(uri, ctx) {
      const found = resource(uri, ctx.who);
      return found ? found.source.read(uri, ctx) : noSuchResource(uri);
    },
    async prompt(name, args, ctx) {
      const found = prompt(name, ctx.who);
      return found ? found.source.prompt(found.prompt.name, args, ctx) : noSuchPrompt(name);
    },
    async complete(ref, argument, known, who, signal) {
      if (ref.type === 'prompt') {
        const found = prompt(ref.name, who);
        if (!found) return { values: [] };
        const own = { type: 'prompt', name: found.prompt.name } as const;
        return found.source.complete(own, argument, known, signal, who);
      }
      const template = view(who).templates.get(ref.uriTemplate);
      const source = template && catalog.templateSource(template, who);
      return source ? source.complete(ref, argument, known, signal, who) : { values: [] };
    },
    has: (uri, who) => resource(uri, who) !== undefined,
    subscribe(uri, who, listener) {
      const found = resource(uri, who);
      if (!found) return () => {};
      return found.source.subscribe(uri, () => {
        // Who sees it may have changed since.
        if (resource(uri, who)) listener();
      });
    },
    onChange: catalog.onChange,
  };
}

function servedName({ server, name }: PromptDefinition): string {
  return server === null ? name : wireName(server.key, name);
}

function firsts<T>(items: readonly T[], idOf: (item: T) => string): ReadonlyMap<string, T> {
  const byId = new Map<string, T>();
  for (const item of items) if (!byId.has(idOf(item))) byId.set(idOf(item), item);
  return byId;
}
