import type { Json, JsonObject, RawJson, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';

/** Members of a JSON Schema that hold values, in which nothing is a keyword. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Members that map names of any kind to schemas. */
const MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
/** Lists whose order means nothing. */
const SETS: ReadonlySet<string> = new Set(['enum', 'required', 'type']);
const SCHEMAS = ['inputSchema', 'outputSchema'] as const;

/**
 * A tool's definition as its server gave it, so that equal definitions are equal values: in its schemas `required`,
 * `enum` and `type` are sets. The order of keys and white space go with RFC 8785, which the fingerprint is made by.
 * Everything else counts, annotations and members that nobody knows included.
 *
 * @returns the name alone where what came isn't a JSON object
 */
export function pinnedDefinition(tool: ToolDefinition): JsonObject {
  const entry = rawObject(tool);
  if (entry === undefined) return { name: tool.ref.tool };
  const out: [string, Json][] = Object.entries(entry);
  return Object.fromEntries(
    out.map(([key, value]) => [key, SCHEMAS.some((name) => name === key) ? setsSorted(value) : value]),
  );
}

/** SHA-256 (hex) over the canonical form. */
export function definitionFingerprint(definition: Json): string {
  return sha256(canonicalJson(definition));
}

/** What a tool of this process does to the world, and what else its model reads, stands beside what a server would list. */
function rawObject({ raw, ref, description, inputSchema, effect, hints }: ToolDefinition): JsonObject | undefined {
  const listed = parsedObject(raw);
  if (ref.server !== null) return listed;
  return { ...listed, name: ref.tool, description, inputSchema, effect, ...(hints && { hints: hints as JsonObject }) };
}

function parsedObject(raw: RawJson): JsonObject | undefined {
  try {
    const value = raw.parse();
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function setsSorted(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(setsSorted);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]): [string, Json] => {
      if (SETS.has(key) && Array.isArray(value)) return [key, sorted(value)];
      if (VALUES.has(key)) return [key, value];
      if (!MAPS.has(key) || !isObject(value)) return [key, setsSorted(value)];
      return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, setsSorted(each)]))];
    }),
  );
}

function sorted(values: readonly Json[]): Json[] {
  const byText = new Map(values.map((value) => [canonicalJson(value), value]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
