import type { Json, JsonObject, ModelHints, ToolDefinition } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { checkName, effectOf, makeTool, type Tool } from './define-tool.ts';
import { ToolFailure } from './failure.ts';
import { fromMessagesContent } from './from-messages-content.ts';
import { isJsonObject, pointerSegment, toJson } from './json-object.ts';
import { rawFrom } from './raw-json.ts';
import { inspectSchema } from './schema-inspect.ts';
import { issuesText } from './schema-issues.ts';
import { ownInputSchema } from './schema-own.ts';
import { mapSchema } from './schema-walk.ts';
import { standardIssues } from './standard-issues.ts';
import { isStandardSchema, type StandardSchemaLike } from './standard-schema.ts';
import { wireName } from './wire-name.ts';

/** The Anthropic SDK's runnable tools (`betaTool`, `betaZodTool`, …): a Messages API definition with `run` and `parse`. */
export interface AnthropicRunnableLike {
  readonly name: string;
  readonly run: (args: never, context?: never) => unknown;
  readonly parse?: (content: unknown) => unknown;
  readonly description?: string | undefined;
  readonly input_schema?: unknown;
}

/** What the Agent SDK's `tool()` returns: `inputSchema` is a record of schemas, one a member. */
export interface AgentSdkToolLike {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly handler: (args: never, extra: never) => unknown;
  readonly annotations?: unknown;
}

export type RunnableLike = AnthropicRunnableLike | AgentSdkToolLike;

/**
 * Makes a tool of an object in the shape of the Anthropic SDK's runnable tools or of the Agent SDK's `tool()`.
 *
 * @throws BridleError `tool_invalid` when it is neither, or has no usable schema
 */
export function adoptTool(given: RunnableLike): Tool {
  if ('run' in given && typeof given.run === 'function') return fromRunnable(given);
  if ('handler' in given && typeof given.handler === 'function') return fromAgentSdk(given);
  const name: unknown = isJsonObject(given) ? given.name : undefined;
  throw new BridleError('tool_invalid', `${JSON.stringify(name) ?? 'A value'} is not a tool Bridle knows how to run.`, {
    hint: "Give a tool of defineTool(), one of the Anthropic SDK's runnable tools, or the Agent SDK's tool().",
  });
}

function definition(parts: {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly annotations?: Json;
  readonly hints?: ModelHints;
}): ToolDefinition {
  const { name, description, inputSchema, annotations, hints } = parts;
  checkName(name);
  const reason = inspectSchema(inputSchema);
  if (reason) throw new BridleError('tool_schema_unusable', `Tool "${name}" can't be used. ${reason.text}`);
  const raw: JsonObject = { name, description, inputSchema, ...(isJsonObject(annotations) && { annotations }) };
  return {
    ref: { server: null, tool: name, name: wireName(null, name), fingerprint: sha256(canonicalJson(raw)) },
    description,
    inputSchema,
    ...(isJsonObject(annotations) && { annotations }),
    raw: rawFrom(raw),
    effect: effectOf(annotations),
    ...(hints && { hints }),
  };
}

function fromRunnable(given: AnthropicRunnableLike): Tool {
  const { name, description = '', input_schema, run, parse } = given;
  if (!isJsonObject(input_schema)) {
    throw new BridleError('tool_invalid', `Tool ${JSON.stringify(name)} has no input_schema.`, {
      hint: 'Tools that the Messages API defines by a dated type are not run from here; define the tool with its schema.',
    });
  }
  const { $schema: _, ...inputSchema } = toJson(input_schema) as JsonObject;
  const fields = toJson(given) as JsonObject;
  const hints: ModelHints = {
    ...(typeof fields.strict === 'boolean' && { strict: fields.strict }),
    ...(Array.isArray(fields.input_examples) && { examples: fields.input_examples.filter(isJsonObject) }),
    ...(isJsonObject(fields.cache_control) && { cacheControl: fields.cache_control }),
    ...(typeof fields.defer_loading === 'boolean' && { deferLoading: fields.defer_loading }),
    ...(Array.isArray(fields.allowed_callers) && { allowedCallers: fields.allowed_callers.map(String) }),
    ...(typeof fields.eager_input_streaming === 'boolean' && { eagerInputStreaming: fields.eager_input_streaming }),
  };
  return makeTool<unknown>({
    definition: definition({
      name,
      description,
      inputSchema: { type: 'object', ...inputSchema },
      ...(Object.keys(hints).length > 0 && { hints }),
    }),
    preview: null,
    parse(args) {
      if (!parse) return args;
      try {
        return parse.call(given, args);
      } catch (error) {
        throw refused(error instanceof Error ? error.message : String(error));
      }
    },
    async handler(input, ctx) {
      const toolUse = { type: 'tool_use', id: ctx.callId, name, input };
      const context = { toolUse, toolUseBlock: toolUse, signal: ctx.signal };
      try {
        return fromMessagesContent(await run.call(given, input as never, context as never), false);
      } catch (error) {
        if (isToolError(error)) return fromMessagesContent(error.content, true);
        throw error;
      }
    },
  });
}

/** The Anthropic SDK's `ToolError`: thrown content that goes to the model as an error. */
function isToolError(error: unknown): error is { readonly content: unknown } {
  return (
    error instanceof Error && 'content' in error && (typeof error.content === 'string' || Array.isArray(error.content))
  );
}

function refused(text: string): ToolFailure {
  return new ToolFailure(text, { category: 'validation', retryable: true, executed: 'not_executed' });
}

function fromAgentSdk(given: AgentSdkToolLike): Tool {
  const { name, description, inputSchema, handler, annotations } = given;
  const whole = isStandardSchema(inputSchema) ? inputSchema : null;
  const members = whole ? null : shapeMembers(inputSchema, name);
  const schema = whole ? ownInputSchema(whole, name) : shapeSchema(members ?? [], name);
  return makeTool<unknown>({
    definition: definition({ name, description, inputSchema: schema, annotations: toJson(annotations ?? null) }),
    preview: null,
    async parse(args) {
      if (whole) return validated(await whole['~standard'].validate(args), '');
      const object = isJsonObject(args) ? args : {};
      const entries: [string, unknown][] = [];
      for (const [key, member] of members ?? []) {
        const value = validated(
          await member['~standard'].validate(Object.hasOwn(object, key) ? object[key] : undefined),
          key,
        );
        if (value !== undefined) entries.push([key, value]);
      }
      return Object.fromEntries(entries);
    },
    handler: (input, ctx) =>
      handler.call(given, input as never, { signal: ctx.signal, requestId: ctx.callId, _meta: {} } as never),
  });
}

function validated(result: Awaited<ReturnType<StandardSchemaLike['~standard']['validate']>>, key: string): unknown {
  if (!result.issues) return result.value;
  const issues = result.issues.map((issue) => ({
    ...issue,
    path: [...(key === '' ? [] : [key]), ...(issue.path ?? [])],
  }));
  throw refused(issuesText(standardIssues(issues)));
}

function shapeMembers(shape: unknown, tool: string): readonly (readonly [string, StandardSchemaLike])[] {
  if (typeof shape !== 'object' || shape === null) {
    throw new BridleError('tool_invalid', `Tool "${tool}" has no input schema.`);
  }
  return Object.entries(shape).map(([key, member]) => {
    if (isStandardSchema(member)) return [key, member] as const;
    throw new BridleError('tool_invalid', `The input "${key}" of tool "${tool}" is not a schema.`, {
      hint: 'Each member of inputSchema is a Zod schema, or a Standard Schema with JSON Schema support.',
    });
  });
}

/** A closed object schema of the members; a member that takes `undefined` is optional. */
function shapeSchema(members: readonly (readonly [string, StandardSchemaLike])[], tool: string): JsonObject {
  const properties: [string, Json][] = [];
  const required: string[] = [];
  for (const [key, member] of members) {
    const whole = ownInputSchema(wrapMember(member, key), tool);
    properties.push([key, isJsonObject(whole.properties) ? (whole.properties[key] ?? {}) : {}]);
    const probe = member['~standard'].validate(undefined);
    // A member that answers later can't be asked here: it counts as required.
    if (probe instanceof Promise) probe.catch(() => {});
    if (probe instanceof Promise || probe.issues) required.push(key);
  }
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** An object schema with this one member, so that it is generated and closed like every other. */
function wrapMember(member: StandardSchemaLike, key: string): JsonObject | StandardSchemaLike {
  const { jsonSchema, ...standard } = member['~standard'];
  if (!jsonSchema) return member;
  const wrap = (side: 'input' | 'output') => () => {
    const { $schema: _, ...schema } = toJson(jsonSchema[side]({ target: 'draft-2020-12' })) as JsonObject;
    // What the member calls its root is a property of ours.
    const moved = mapSchema(schema, (part) =>
      typeof part.$ref === 'string' && /^#(\/|$)/.test(part.$ref)
        ? { ...part, $ref: `#/properties/${encodeURIComponent(pointerSegment(key))}${part.$ref.slice(1)}` }
        : part,
    );
    return { type: 'object', properties: Object.fromEntries([[key, moved]]) };
  };
  return { '~standard': { ...standard, jsonSchema: { input: wrap('input'), output: wrap('output') } } };
}
