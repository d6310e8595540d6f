import type { CallContext, ContentListing, ContentSource, Json, Source, SourceResult } from '../../contracts/index.ts';
import { defineTool, functionSource, hostTool, rawFrom } from '../../tools/index.ts';
import { isObject } from './read-resource.ts';

/** Resources that one call lists. */
const PAGE = 100;

const LIST = 'list_resources';
const READ = 'read_resource';

/**
 * Two tools by which a model lists and reads the resources of a server, named and ruled as the server's own:
 * `mcp__KEY__list_resources`, `mcp__KEY__read_resource`. There are none while the server has no resources.
 */
export function resourceTools(content: ContentSource): Source {
  const key = content.server?.key ?? 'this process';
  const nothing = () => {
    throw new Error('The source answers.');
  };
  const tools = [
    defineTool(
      {
        name: LIST,
        title: `Resources of ${key}`,
        description: `Lists the resources of the server "${key}": what ${READ} can read, with address, name and type, and the templates of addresses that can be filled in. 100 at a time.`,
        input: {
          type: 'object',
          properties: { offset: { type: 'integer', minimum: 0, description: 'Where to go on; 0 unless given.' } },
        },
        annotations: { readOnlyHint: true },
      },
      nothing,
    ),
    defineTool(
      {
        name: READ,
        title: `Read a resource of ${key}`,
        description: `Reads a resource of the server "${key}" by its address, as ${LIST} gives it or as one of its templates makes it.`,
        input: {
          type: 'object',
          properties: { uri: { type: 'string', minLength: 1, description: 'Address of the resource.' } },
          required: ['uri'],
        },
        annotations: { readOnlyHint: true },
      },
      nothing,
    ),
  ];
  for (const { definition } of tools) hostTool(definition);
  const definitions = functionSource(tools, { server: content.server });
  return {
    server: content.server,
    async list(signal) {
      // Why a server can't be listed is said by the source of its own tools.
      const listing = await content.list(signal).catch(() => undefined);
      const hasAny = listing !== undefined && listing.resources.length + listing.templates.length > 0;
      return hasAny ? definitions.list(signal) : { tools: [], setAside: [] };
    },
    async call(tool, args, ctx) {
      const given = isObject(args) ? args : {};
      if (tool === READ && typeof given.uri === 'string') return read(given.uri, content, ctx);
      if (tool === LIST) return list(given.offset, content, ctx);
      return failed(`No tool named "${tool}" is available with these arguments.`);
    },
    onChange: (listener) => content.onChange(listener),
  };
}

async function list(offset: Json | undefined, content: ContentSource, { signal }: CallContext): Promise<SourceResult> {
  try {
    const from = typeof offset === 'number' ? offset : 0;
    const { resources, templates } = await content.list(signal);
    const page = resources.slice(from, from + PAGE);
    const rest = resources.length - from - page.length;
    const found = {
      resources: page.map(told),
      ...(rest > 0 && { next_offset: from + page.length }),
      ...(from === 0 && templates.length > 0 && { templates: templates.slice(0, PAGE).map(told) }),
    };
    return result([{ type: 'text', text: JSON.stringify(found) }]);
  } catch (error) {
    return failed(`The resources can't be listed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

type Listed = ContentListing['resources'][number] | ContentListing['templates'][number];

function told(one: Listed) {
  const { name, title, description, mimeType } = one;
  return {
    ...('uri' in one ? { uri: one.uri } : { uri_template: one.uriTemplate }),
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mime_type: mimeType }),
  };
}

async function read(uri: string, content: ContentSource, ctx: CallContext): Promise<SourceResult> {
  const answer = await content.read(uri, ctx);
  if (answer.kind !== 'result') return answer;
  try {
    const given = answer.raw.parse();
    const contents = isObject(given) && Array.isArray(given.contents) ? given.contents : [];
    return result(contents.map((resource) => ({ type: 'resource', resource })));
  } catch {
    return failed(`The answer for ${uri} is no JSON.`);
  }
}

function result(content: Json[]): SourceResult {
  return { kind: 'result', raw: rawFrom({ content }), isError: false };
}

function failed(message: string): SourceResult {
  const failure = { category: 'business', retryable: false, message, executed: 'not_executed', attempts: [] } as const;
  return { kind: 'failure', failure };
}
