import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject as isObject } from './json-object.ts';

/** A parameter that goes into a header as well: the header's name, and where the value stands in the arguments. */
export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

const ANNOTATION = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRIMITIVES: ReadonlySet<Json> = new Set(['string', 'integer', 'boolean']);
/** Members of a schema that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', 'example']);
/** Members whose own members are schemas, under names that mean nothing here. */
const NAMED: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
]);
/** Deeper schemas are refused as a whole elsewhere. */
const MAX_DEPTH = 100;

class Invalid extends Error {}

/**
 * The parameters that a tool's schema wants to see in headers (MCP 2026-07-28, Streamable HTTP, "Custom Headers from
 * Tool Parameters").
 *
 * @returns the headers, or why the definition must not be used
 */
export function paramHeaders(schema: Json | undefined): readonly ParamHeader[] | { readonly invalid: string } {
  const found: ParamHeader[] = [];
  try {
    walk(schema, [], 0, found);
    return found;
  } catch (error) {
    if (error instanceof Invalid) return { invalid: error.message };
    throw error;
  }
}

function walk(schema: Json | undefined, path: readonly string[] | null, depth: number, found: ParamHeader[]): void {
  if (depth > MAX_DEPTH || typeof schema !== 'object' || schema === null) return;
  if (Array.isArray(schema)) {
    for (const item of schema) walk(item, null, depth + 1, found);
    return;
  }
  if (Object.hasOwn(schema, ANNOTATION)) annotated(schema, path, found);
  for (const [name, value] of Object.entries(schema)) {
    if (name === ANNOTATION || VALUES.has(name)) continue;
    if (name === 'properties' && isObject(value)) {
      for (const [property, child] of Object.entries(value)) walk(child, path && [...path, property], depth + 1, found);
    } else if (NAMED.has(name) && isObject(value)) {
      for (const child of Object.values(value)) walk(child, null, depth + 1, found);
    } else walk(value, null, depth + 1, found);
  }
}

function annotated(schema: JsonObject, path: readonly string[] | null, found: ParamHeader[]): void {
  const name = schema[ANNOTATION];
  if (!path || path.length === 0) throw new Invalid(`${ANNOTATION} stands where no property is always reached`);
  const at = `property ${path.join('.')}`;
  if (typeof name !== 'string' || !TOKEN.test(name)) throw new Invalid(`${ANNOTATION} of ${at} is no header name`);
  if (typeof schema.type !== 'string' || !PRIMITIVES.has(schema.type)) {
    throw new Invalid(`${ANNOTATION} of ${at} needs the type string, integer or boolean`);
  }
  const header = `mcp-param-${name.toLowerCase()}`;
  if (found.some((other) => other.header === header)) throw new Invalid(`${ANNOTATION} ${name} stands twice`);
  found.push({ header, path });
}

/** The headers of one call. A value that isn't there, or null, has none. */
export function headersFor(params: readonly ParamHeader[], args: Json | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of params) {
    let value: Json | undefined = args;
    for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    if (typeof value === 'string' || typeof value === 'boolean') headers[header] = headerValue(String(value));
    if (typeof value === 'number')
      headers[header] = Number.isInteger(value) ? BigInt(value).toString() : headerValue(String(value));
  }
  return headers;
}

/** A value as a header carries it: as it is, or in Base64 between markers (same page, "Value Encoding"). */
export function headerValue(value: string): string {
  const plain = /^[\x20-\x7e\t]*$/.test(value) && value.trim() === value;
  const marked = value.startsWith('=?base64?') && value.endsWith('?=');
  return plain && !marked ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}
