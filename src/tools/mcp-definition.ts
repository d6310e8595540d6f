import type { Json, JsonObject, PreviewPlan, RawJson, Reason, ServerRef, ToolDefinition } from '../contracts/index.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { effectOf } from './define-tool.ts';
import { IDEMPOTENCY_KEY, keyFromPointers, pointersFromMeta } from './idempotency-key.ts';
import { nestsDeeper } from './json-depth.ts';
import { isJsonObject, ownMember, stringMember } from './json-object.ts';
import { cutAt, printable } from './printable.ts';
import { inspectAnySchema, inspectSchema } from './schema-inspect.ts';
import { wireName } from './wire-name.ts';

/** Longest description and title that go to a model, in UTF-16 units. */
const MAX_DESCRIPTION = 16 * 1024;
const MAX_TITLE = 256;
const MAX_NAME = 1_024;
/** Far more than any definition needs, and far less than what those who compare and record them by recursion can take. */
const MAX_DEPTH = 500;
const PREVIEW = 'bridle/preview';

export type McpDefinition =
  | { readonly tool: ToolDefinition; readonly notes: readonly Reason[] }
  | { readonly setAside: readonly Reason[]; readonly name: string };

function reason(code: string, text: string): Reason {
  return { room: 'tools', code, text };
}

/**
 * Reads one entry of a server's `tools/list`. Whatever is wrong with it costs this tool alone, never the others.
 *
 * @param server where it comes from; decides its wire name
 * @param raw one MCP `Tool` object
 * @param options `trustAnnotations`: let its hints set the effect, and its `_meta` say which calls are one act; default:
 *   what the server's reference says
 * @returns the definition with notes on what was left out of it, or why it is set aside
 */
export function definitionFromMcp(
  server: ServerRef,
  raw: RawJson,
  options: { readonly trustAnnotations?: boolean } = {},
): McpDefinition {
  let entry: Json;
  try {
    entry = raw.parse();
  } catch {
    return { name: '', setAside: [reason('tool_not_json', 'Its definition is not JSON.')] };
  }
  if (!isJsonObject(entry))
    return { name: '', setAside: [reason('tool_not_object', 'Its definition is not an object.')] };
  const tool = stringMember(entry, 'name') ?? '';
  const name = printable(tool, { maxLength: 128 });
  if (tool.trim() === '') return { name, setAside: [reason('tool_unnamed', 'Its definition has no name.')] };
  if (tool.length > MAX_NAME) {
    return {
      name,
      setAside: [reason('tool_name_too_long', `Its name has ${tool.length} characters; at most ${MAX_NAME}.`)],
    };
  }
  // Many servers leave the schema of a tool without arguments out.
  const inputSchema = ownMember(entry, 'inputSchema') ?? { type: 'object' };
  const bad = inspectSchema(inputSchema);
  if (bad) return { name, setAside: [bad] };
  const trust = options.trustAnnotations ?? server.trustAnnotations;
  if (nestsDeeper(entry, MAX_DEPTH)) {
    const text = `Its definition is nested more than ${MAX_DEPTH} levels deep.`;
    return { name, setAside: [reason('tool_too_deep', text)] };
  }
  return understood(server, raw, entry, { tool, inputSchema, trust });
}

function understood(
  server: ServerRef,
  raw: RawJson,
  entry: JsonObject,
  { tool, inputSchema, trust }: { readonly tool: string; readonly inputSchema: Json; readonly trust: boolean },
): McpDefinition {
  const notes: Reason[] = [];
  const annotations = ownMember(entry, 'annotations');
  const outputSchema = ownMember(entry, 'outputSchema') ?? undefined;
  const badOutput = outputSchema === undefined ? null : inspectAnySchema(outputSchema);
  if (badOutput) notes.push(reason('output_schema_ignored', `Its output schema is not used. ${badOutput.text}`));
  const preview = previewFrom(entry, notes);
  const pointers = trust ? pointersFromMeta(entry) : undefined;
  if (pointers === 'unreadable') {
    const text = `Its "_meta.${IDEMPOTENCY_KEY}" is no list of JSON Pointers, so its calls are never taken for one act.`;
    notes.push(reason('idempotency_key_ignored', text));
  }
  const title =
    stringMember(entry, 'title') ?? (isJsonObject(annotations) ? stringMember(annotations, 'title') : undefined);
  const definition: ToolDefinition = {
    ref: { server, tool, name: wireName(server.key, tool), fingerprint: sha256(canonicalJson(entry)) },
    ...(title !== undefined && { title: printable(title, { maxLength: MAX_TITLE }) }),
    description: describe(stringMember(entry, 'description') ?? '', notes),
    inputSchema,
    ...(outputSchema !== undefined && !badOutput && { outputSchema }),
    ...(isJsonObject(annotations) && { annotations }),
    raw,
    effect: trust ? effectOf(annotations) : 'write',
    ...(preview && { preview }),
    ...(Array.isArray(pointers) && { idempotencyKey: keyFromPointers(pointers) }),
  };
  return { tool: definition, notes };
}

function describe(description: string, notes: Reason[]): string {
  const clean = printable(description, { newlines: true });
  if (clean.length <= MAX_DESCRIPTION) return clean;
  notes.push(
    reason('description_cut', `Its description has ${clean.length} characters and was cut at ${MAX_DESCRIPTION}.`),
  );
  return `${cutAt(clean, MAX_DESCRIPTION)}…`;
}

/** The preview that the definition names, when it is well-formed. */
function previewFrom(entry: JsonObject, notes: Reason[]): PreviewPlan | undefined {
  const meta = ownMember(entry, '_meta');
  const plan = isJsonObject(meta) ? ownMember(meta, PREVIEW) : undefined;
  if (plan === undefined) return undefined;
  const tool = isJsonObject(plan) ? stringMember(plan, 'tool') : undefined;
  const given = isJsonObject(plan) ? ownMember(plan, 'arguments') : undefined;
  const entries = isJsonObject(given) ? Object.entries(given) : [];
  const pointers = entries.flatMap(([key, p]): [string, string][] =>
    typeof p === 'string' && /^(\/|$)/.test(p) ? [[key, p]] : [],
  );
  if (tool && isJsonObject(given) && pointers.length === entries.length) {
    return { kind: 'tool', tool, arguments: Object.fromEntries(pointers), by: 'server' };
  }
  notes.push(reason('preview_ignored', `Its "_meta.${PREVIEW}" is not {tool, arguments: {name: JSON Pointer}}.`));
  return undefined;
}

/** The schema, with the dialect that its definition named: models are told none, and clients read by it (JSON Schema 2020-12). */
function inDialect(said: Json, member: 'inputSchema' | 'outputSchema', schema: Json): Json {
  const written = isJsonObject(said) ? ownMember(said, member) : undefined;
  const dialect = written !== undefined && isJsonObject(written) ? ownMember(written, '$schema') : undefined;
  if (dialect === undefined || !isJsonObject(schema) || Object.hasOwn(schema, '$schema')) return schema;
  return { $schema: dialect, ...schema };
}

/**
 * The MCP `Tool` object under which this tool is served: its wire name, its checked fields, and whatever else the
 * definition said when it was received.
 */
export function definitionToMcp(definition: ToolDefinition): JsonObject {
  const { ref, title, description, inputSchema, outputSchema, annotations, preview, execution } = definition;
  const said = definition.raw.parse();
  const { outputSchema: _, title: __, annotations: ___, execution: ____, ...rest } = isJsonObject(said) ? said : {};
  const meta = isJsonObject(rest._meta) ? rest._meta : {};
  const plan = preview?.kind === 'tool' ? preview : undefined;
  return {
    ...rest,
    name: ref.name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: inDialect(said, 'inputSchema', inputSchema),
    ...(outputSchema !== undefined && { outputSchema: inDialect(said, 'outputSchema', outputSchema) }),
    ...(annotations !== undefined && { annotations }),
    // What a server behind us says of tasks doesn't hold here: it is we who are asked for them.
    ...(execution && { execution: { taskSupport: execution.taskSupport } }),
    ...(plan && {
      _meta: {
        ...meta,
        [PREVIEW]: { tool: wireName(ref.server?.key ?? null, plan.tool), arguments: { ...plan.arguments } },
      },
    }),
  };
}
