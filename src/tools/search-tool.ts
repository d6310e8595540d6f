import type { Json, JsonObject, RawJson, ToolDefinition } from '../contracts/index.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { hostTool } from './host-tool.ts';
import { isJsonObject } from './json-object.ts';
import { rawFrom } from './raw-json.ts';
import { wireName } from './wire-name.ts';

/** What the definitions of such tools are written as: nothing from outside can be one of these objects. */
const written = new WeakSet<RawJson>();

const NAME = 'find_tools';

/** The same for every agent, whatever tools it has: what a model has cached of it stays cached. */
const DESCRIPTION =
  'Finds more tools by what they do, and makes them callable. Only a few of the tools that there are for you are shown ' +
  'from the start. When none of those you see does what is needed, search before you say that it can not be done. Give ' +
  'words for the deed and the thing, such as "send email" or "create calendar event"; one search for each deed.';

const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1, description: 'What the tool is to do, in a few words.' },
  },
  required: ['query'],
  additionalProperties: false,
};

/**
 * The tool with which a model searches for tools whose definitions it hasn't been shown.
 *
 * @param isTaken whether another tool has the name
 */
export function searchTool(isTaken: (name: string) => boolean): ToolDefinition {
  let name = NAME;
  for (let count = 2; isTaken(name); count += 1) name = `${NAME}_${count}`;
  const definition = { name, description: DESCRIPTION, inputSchema: INPUT_SCHEMA };
  const raw = rawFrom(definition);
  written.add(raw);
  return hostTool({
    ref: { server: null, tool: name, name: wireName(null, name), fingerprint: sha256(canonicalJson(definition)) },
    title: 'Find tools',
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    raw,
    effect: 'read',
  });
}

/** Whether the definition is one that `searchTool` made. */
export function isSearchTool({ raw }: Pick<ToolDefinition, 'raw'>): boolean {
  return written.has(raw);
}

/** Whether an entry of a request's `tools` is that of such a tool, as far as a model can tell. */
export function isSearchEntry(entry: Json | undefined): entry is JsonObject & { readonly name: string } {
  return isJsonObject(entry) && typeof entry.name === 'string' && entry.description === DESCRIPTION;
}
