import type {
  CallContext,
  Effect,
  Failure,
  Identity,
  Json,
  JsonObject,
  ModelHints,
  PreviewPlan,
  SourceResult,
  ToolDefinition,
  ToolExecution,
} from '../contracts/index.ts';
import { asking, noQuestions, type Questions } from './asking.ts';
import { BridleError } from './bridle-error.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { ToolFailure } from './failure.ts';
import type { FromSchema } from './from-schema.ts';
import { arePointers, IDEMPOTENCY_KEY, keyFromPointers } from './idempotency-key.ts';
import { HandlerContext } from './handler-context.ts';
import { isJsonObject, toJson } from './json-object.ts';
import { normalizeResult } from './normalize-result.ts';
import { paramHeaders } from './param-headers.ts';
import { rawFrom } from './raw-json.ts';
import type { BuiltResult, ContentBlock } from './result-builders.ts';
import { compileSchema } from './schema-check.ts';
import { issuesText } from './schema-issues.ts';
import { ownInputSchema, ownOutputSchema } from './schema-own.ts';
import { standardIssues } from './standard-issues.ts';
import { isStandardSchema, type StandardSchemaLike } from './standard-schema.ts';
import { wireName } from './wire-name.ts';

/** A Zod 4 schema, any Standard Schema that gives JSON Schema, or a JSON Schema (2020-12) written as an object. */
export type ToolSchema = StandardSchemaLike | { readonly [keyword: string]: unknown };

/** What a handler gets: the schema's output after validation, or the type read off a JSON Schema. */
export type InputOf<S> = S extends StandardSchemaLike<infer _In, infer Out> ? Out : FromSchema<S>;
/** What the model writes: the schema's input, before defaults and transformations. */
export type ArgumentsOf<S> = S extends StandardSchemaLike<infer In, infer _Out> ? In : FromSchema<S>;

/** What a handler may return. With an `output` schema: its value, or a result of the builders. */
export type HandlerReturn<O> = [O] extends [undefined]
  ? unknown
  : ArgumentsOf<O> | InputOf<O> | BuiltResult | ContentBlock | readonly ContentBlock[];

/** What a handler knows of its call, and whom it can ask in it. */
export interface ToolContext extends Questions {
  readonly callId: string;
  /** Who calls, from the host; never what the model says. */
  readonly who: Identity;
  /** Aborted when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  /** Reports progress, which also renews the idle limit. `total` in the same unit as `done`. */
  progress(done: number, total?: number, message?: string): void;
  /** A log line for the person who watches (MCP logging levels); never for the model. */
  log(data: unknown, level?: 'debug' | 'info' | 'notice' | 'warning' | 'error'): void;
  /**
   * Lets the caller go, as before a long wait of its own. One of revision 2025-11-25 over HTTP comes back for the rest of the
   * stream (MCP, Streamable HTTP, Resumability); a call that becomes a task by this (`execution.taskStart`) is one from here
   * on. Does nothing for any other caller.
   */
  disconnect(): void;
}

/** MCP `ToolAnnotations`. `readOnlyHint` and `idempotentHint` of an own tool set its effect. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ToolOptions<S extends ToolSchema, O = undefined> {
  /** `^[a-zA-Z0-9_-]{1,64}$`, not starting with `mcp__`, which marks the tools of servers. */
  readonly name: string;
  readonly title?: string;
  /** For the model: what it does, when to use it and when not, what it returns. */
  readonly description: string;
  readonly input: S;
  readonly output?: O;
  readonly annotations?: ToolAnnotations;
  /** Pictures for people, as MCP has them: `[{ src, mimeType?, sizes?, theme? }]`. */
  readonly icons?: readonly { readonly src: string; readonly [field: string]: unknown }[];
  /** MCP `_meta`. */
  readonly _meta?: { readonly [key: string]: unknown };
  /** Whole argument objects that fit `input`; checked by `checkTool`. */
  readonly examples?: readonly NoInfer<ArgumentsOf<S>>[];
  readonly strict?: boolean;
  /** Messages API `cache_control`, e.g. `{type: 'ephemeral'}`. */
  readonly cacheControl?: { readonly [key: string]: unknown };
  readonly deferLoading?: boolean;
  readonly allowedCallers?: readonly string[];
  readonly eagerInputStreaming?: boolean;
  /**
   * Whether an agent may run calls of it beside others of the same reply; false: each runs alone. Default: for a tool that
   * only reads.
   */
  readonly sideBySide?: boolean;
  /**
   * What the call would do, as facts for the person who approves it: a function, or a read-only tool of the same
   * server with its arguments as JSON Pointers (RFC 6901) into this call's arguments.
   */
  readonly preview?:
    | ((input: NoInfer<InputOf<S>>, ctx: ToolContext) => unknown)
    | { readonly tool: string; readonly arguments: Readonly<Record<string, string>> };
  /**
   * Two calls with the same key are one act. The arguments that make the key, as JSON Pointers (RFC 6901): these are told
   * over MCP too, in `_meta["bridle/idempotencyKey"]`, and a call that lacks one of them has no key. Or a function of the
   * arguments as the model wrote them, which only this process knows; null: this call has no key.
   */
  readonly idempotencyKey?: readonly string[] | ((args: NoInfer<ArgumentsOf<S>>) => string | null);
  /** Default: from the annotations, else `write`. */
  readonly effect?: Effect;
  /** Whether a call may go on as a task, whose result its client fetches later. Default: never. */
  readonly execution?: ToolExecution;
}

/** A tool of this process: the definition that a model reads, and what runs. */
export interface Tool<I = unknown> {
  readonly definition: ToolDefinition;
  /** The author's function, as given. Prefer `call`, which checks the arguments first. */
  handler(input: I, ctx: ToolContext): unknown;
  /** Checks the arguments, runs the handler and shapes what it returns. Never rejects. */
  call(args: Json, ctx: CallContext): Promise<SourceResult>;
  /** Only with `preview: {kind: 'author'}`. Rejects when the author's function does. */
  preview?(args: Json, ctx: CallContext): Promise<Json>;
}

const NAME = /^(?!mcp__)[a-zA-Z0-9_-]{1,64}$/;

/** @throws BridleError `tool_invalid` for a name that no host takes */
export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new BridleError('tool_invalid', `A tool can't be called ${JSON.stringify(name)}.`, {
    hint: 'Use 1 to 64 of the characters a-z, A-Z, 0-9, "_" and "-", and no "mcp__" at the beginning.',
  });
}

/** The effect that an own tool's annotations state. */
export function effectOf(annotations: Json | undefined): Effect {
  if (!isJsonObject(annotations)) return 'write';
  if (annotations.readOnlyHint === true) return 'read';
  return annotations.idempotentHint === true ? 'idempotent' : 'write';
}

/** The annotations that say over MCP what `effect` says here. */
function annotationsFor(effect: Effect, given: JsonObject | undefined): JsonObject | undefined {
  if (effect === 'read') return { ...given, readOnlyHint: true };
  if (effect === 'idempotent') return { ...given, idempotentHint: true };
  return given;
}

const NOT_IN_PREVIEW = noQuestions('A preview only looks; it can ask nobody.');

/** Waits for the end, and gives it back as it was: a value, or what was thrown. */
async function endOf<T>(work: () => Promise<T>): Promise<() => T> {
  try {
    const value = await work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** What a thrown value means for the caller; a stack never leaves the process. */
function failureFrom(error: unknown, signal: AbortSignal): Failure {
  if (ToolFailure.is(error)) return error.failure;
  const message = error instanceof Error ? error.message || error.name : String(error);
  const cancelled = signal.aborted;
  return {
    category: cancelled ? 'transient' : 'business',
    retryable: false,
    message: cancelled ? `The call was cancelled while it ran (${message}).` : message,
    executed: 'unknown',
    attempts: [],
  };
}

class InvalidArguments extends ToolFailure {
  constructor(issues: Parameters<typeof issuesText>[0]) {
    super(issuesText(issues), { category: 'validation', retryable: true, executed: 'not_executed' });
  }
}

/**
 * Defines a tool: from one object come the definition that the model reads and the check that runs before the handler.
 *
 * @param options what the model reads, and hints for it; the input schema is closed (`additionalProperties: false`)
 *   unless it says otherwise, and carries no `$schema`
 * @param handler gets the checked (and, with a Standard Schema, transformed) input; returns a string, a JSON value,
 *   blocks of the builders or an MCP `CallToolResult`; throws `ToolFailure`, or anything else, which counts as a
 *   business failure that may have run
 * @throws BridleError `tool_invalid` or `tool_schema_unusable` when no such tool can be
 */
export function defineTool<const S extends ToolSchema, const O extends ToolSchema | undefined = undefined>(
  options: ToolOptions<S, O>,
  handler: (input: InputOf<S>, ctx: ToolContext) => HandlerReturn<O> | Promise<HandlerReturn<O>>,
): Tool<InputOf<S>> {
  const validate = isStandardSchema(options.input) ? options.input['~standard'].validate : null;
  return makeTool<InputOf<S>>({
    definition: ownDefinition(options),
    handler,
    preview: typeof options.preview === 'function' ? options.preview : null,
    async parse(args) {
      if (!validate) return args as InputOf<S>;
      const result = await validate(args);
      if (result.issues) throw new InvalidArguments(standardIssues(result.issues));
      return result.value as InputOf<S>;
    },
  });
}

interface ToolParts<I> {
  readonly definition: ToolDefinition;
  readonly handler: (input: I, ctx: ToolContext) => unknown;
  readonly preview: ((input: I, ctx: ToolContext) => unknown) | null;
  /** From arguments that fit the JSON Schema to the handler's input; throws `ToolFailure` for what doesn't fit. */
  readonly parse: (args: Json) => I | Promise<I>;
}

/** Joins a definition with what runs; `defineTool` and `adoptTool` meet here. */
export function makeTool<I>({ definition, handler, preview, parse }: ToolParts<I>): Tool<I> {
  const checked = async (args: Json): Promise<I> => {
    const { check } = await compileSchema(definition.inputSchema, { origin: 'own' });
    const issues = check(args);
    if (issues.length > 0) throw new InvalidArguments(issues);
    return parse(args);
  };
  return {
    definition,
    handler,
    async call(args, ctx) {
      try {
        const input = await checked(args);
        const { tool: name, name: wire, fingerprint } = definition.ref;
        const { questions, pending } = asking(
          { name, identity: [wire, fingerprint], onlyReads: definition.effect === 'read' },
          args,
          ctx,
        );
        const result = await endOf(async () => shaped(await handler(input, new HandlerContext(ctx, questions)), name));
        // A question that stands comes before whatever the handler made of having no answer.
        return pending() ?? result();
      } catch (error) {
        return { kind: 'failure', failure: failureFrom(error, ctx.signal) };
      }
    },
    ...(preview && {
      async preview(args: Json, ctx: CallContext) {
        return toJson(await preview(await checked(args), new HandlerContext(ctx, NOT_IN_PREVIEW)));
      },
    }),
  };
}

/** What the handler returned, as a source's answer; it has run, so a value without a JSON form is a failure after the fact. */
function shaped(returned: unknown, tool: string): SourceResult {
  let result: JsonObject;
  try {
    result = normalizeResult(returned);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolFailure(`Tool "${tool}" ran, but what it returned can't be written as JSON: ${why}`, {
      executed: 'executed',
      cause: error,
    });
  }
  return { kind: 'result', raw: rawFrom(result), isError: result.isError === true };
}

function ownDefinition<S extends ToolSchema, O>(options: ToolOptions<S, O>): ToolDefinition {
  const { name, title, description, preview } = options;
  checkName(name);
  if (typeof description !== 'string' || description.trim() === '') {
    throw new BridleError('tool_invalid', `Tool "${name}" has no description.`, {
      hint: 'Say what it does, when to use it, and what it returns: the model chooses by it.',
    });
  }
  const given = options.annotations === undefined ? undefined : (toJson(options.annotations) as JsonObject);
  const effect = options.effect ?? effectOf(given);
  if (effect !== 'read' && given?.readOnlyHint === true) {
    throw new BridleError('tool_invalid', `Tool "${name}" has effect "${effect}" but says readOnlyHint.`, {
      hint: 'Leave one of the two out.',
    });
  }
  const annotations = annotationsFor(effect, given);
  const inputSchema = ownInputSchema(options.input, name);
  const headers = paramHeaders(inputSchema);
  if ('invalid' in headers) {
    throw new BridleError('tool_invalid', `No client would take tool "${name}": ${headers.invalid}.`, {
      hint: 'Mark properties that hold a string, an integer or a boolean, each with a header name of its own.',
    });
  }
  const outputSchema = options.output === undefined ? undefined : ownOutputSchema(options.output, name);
  const plan: PreviewPlan | undefined =
    typeof preview === 'function' ? { kind: 'author' } : preview && { kind: 'tool', by: 'server', ...preview };
  const hints = hintsOf(options);
  const key = options.idempotencyKey;
  const pointers = typeof key === 'function' ? undefined : checkedPointers(key, name);
  const execution = checkedExecution(options.execution, name);
  const icons = options.icons === undefined ? undefined : toJson(options.icons);
  const meta: JsonObject = {
    ...(options._meta && (toJson(options._meta) as JsonObject)),
    ...(plan?.kind === 'tool' && { 'bridle/preview': { tool: plan.tool, arguments: { ...plan.arguments } } }),
    ...(pointers && { [IDEMPOTENCY_KEY]: [...pointers] }),
  };
  const raw: JsonObject = {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: { ...dialectOf(options.input), ...inputSchema },
    ...(outputSchema && { outputSchema: { ...dialectOf(options.output), ...outputSchema } }),
    ...(annotations && { annotations }),
    ...(execution && { execution: { taskSupport: execution.taskSupport } }),
    ...(icons !== undefined && { icons }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
  return {
    ref: { server: null, tool: name, name: wireName(null, name), fingerprint: sha256(canonicalJson(raw)) },
    ...(title !== undefined && { title }),
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    raw: rawFrom(raw),
    effect,
    ...(plan && { preview: plan }),
    ...(hints && { hints }),
    ...(execution && { execution }),
    ...(typeof key === 'function' && { idempotencyKey: (args: Json) => key(args as ArgumentsOf<S>) }),
    ...(pointers && { idempotencyKey: keyFromPointers(pointers) }),
  };
}

/** The dialect that an author named. A generator names one always, and means nothing by it. */
function dialectOf(schema: unknown): JsonObject {
  if (isStandardSchema(schema) || !isJsonObject(schema)) return {};
  return typeof schema.$schema === 'string' ? { $schema: schema.$schema } : {};
}

function checkedPointers(given: readonly string[] | undefined, name: string): readonly string[] | undefined {
  if (given === undefined || arePointers(given)) return given;
  throw new BridleError('tool_invalid', `The idempotencyKey of tool "${name}" is no list of JSON Pointers.`, {
    hint: "Name at least one argument, such as ['/order_id'].",
  });
}

/** The longest that a timer takes, and a task is kept, in milliseconds. */
const MAX_TTL_MS = 2 ** 31 - 1;

function checkedExecution(given: ToolExecution | undefined, name: string): ToolExecution | undefined {
  if (given === undefined) return undefined;
  const { taskSupport, taskStart = 'call', ttlMs = 1 } = given;
  const isKnown = ['optional', 'required'].includes(taskSupport) && ['call', 'disconnect'].includes(taskStart);
  if (isKnown && Number.isSafeInteger(ttlMs) && ttlMs >= 1 && ttlMs <= MAX_TTL_MS) return { ...given };
  throw new BridleError('tool_invalid', `The execution of tool "${name}" is none that a tool can have.`, {
    hint: `Give taskSupport 'optional' or 'required', taskStart 'call' or 'disconnect', and ttlMs up to ${MAX_TTL_MS}.`,
  });
}

function hintsOf<S extends ToolSchema, O>(options: ToolOptions<S, O>): ModelHints | undefined {
  const hints: ModelHints = {
    ...(options.strict !== undefined && { strict: options.strict }),
    ...(options.examples && { examples: toJson(options.examples) as JsonObject[] }),
    ...(options.cacheControl && { cacheControl: toJson(options.cacheControl) }),
    ...(options.deferLoading !== undefined && { deferLoading: options.deferLoading }),
    ...(options.allowedCallers && { allowedCallers: options.allowedCallers }),
    ...(options.eagerInputStreaming !== undefined && { eagerInputStreaming: options.eagerInputStreaming }),
    ...(options.sideBySide !== undefined && { sideBySide: options.sideBySide }),
  };
  return Object.keys(hints).length > 0 ? hints : undefined;
}
