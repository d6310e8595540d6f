import type { Identity, ServerRef } from './identity.ts';
import type { Json, JsonObject, RawJson } from './json.ts';

/** Pure: no table on disk, no order of arrival. At most 64 characters; lossy cases carry a hash tail. */
export type WireName = (serverKey: string | null, tool: string) => string;

/**
 * `tool` is the name as the server spells it; `name` its wire name; `fingerprint` the SHA-256 (hex) of the canonical
 * definition. Policy rules match the pair (server key, tool). `server` is null for tools defined in this process.
 */
export interface ToolRef {
  readonly server: ServerRef | null;
  readonly tool: string;
  readonly name: string;
  readonly fingerprint: string;
}

/** What a call may do to the world. `write` unless code, configuration or a trusted server says otherwise. */
export type Effect = 'read' | 'idempotent' | 'write';

/**
 * How the facts of a call are had before it is approved: from the author's own function, or from another, read-only
 * tool of the same server whose arguments are JSON Pointers (RFC 6901) into this call's arguments.
 */
export type PreviewPlan =
  | { readonly kind: 'author' }
  | {
      readonly kind: 'tool';
      readonly tool: string;
      readonly arguments: Readonly<Record<string, string>>;
      readonly by: 'server' | 'config';
    };

/** What an author sets beside the definition: fields of the Messages API's, passed to models that know them, and more. */
export interface ModelHints {
  readonly strict?: boolean;
  readonly examples?: readonly JsonObject[];
  readonly cacheControl?: Json;
  readonly deferLoading?: boolean;
  readonly allowedCallers?: readonly string[];
  readonly eagerInputStreaming?: boolean;
  /** For the loop: whether its calls may run beside others of a reply. Default: those of a tool that only reads. */
  readonly sideBySide?: boolean;
  /**
   * It is a member of a toolset that the provider defines: a request holds the toolset's `entry` and no definition, and a
   * call names the pair of `name` and `member`. `members`: all that the toolset has.
   */
  readonly toolset?: {
    readonly name: string;
    readonly member: string;
    readonly entry: JsonObject;
    readonly members: readonly string[];
  };
}

/** How calls of a tool may go on after they were answered (MCP, Tasks). */
export interface ToolExecution {
  /** `optional`: for a client that takes tasks; `required`: its calls are tasks, and a client that takes none can't call it. */
  readonly taskSupport: 'optional' | 'required';
  /**
   * When a call becomes a task, where the protocol leaves that to the server (2026-07-28). `call`: before the handler runs.
   * `disconnect`: when the handler lets its caller go; what it asks before that is asked as of any call, and a call that
   * ends before that is answered as any call. Default `call`.
   */
  readonly taskStart?: 'call' | 'disconnect';
  /** How long a task is kept, from its start, in milliseconds; what still runs then is cancelled. Default one hour. */
  readonly ttlMs?: number;
}

export interface ToolDefinition {
  readonly ref: ToolRef;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Json;
  readonly outputSchema?: Json;
  readonly annotations?: Json;
  /** The definition as received or written; fields we don't know survive here. */
  readonly raw: RawJson;
  readonly effect: Effect;
  readonly preview?: PreviewPlan;
  readonly hints?: ModelHints;
  /** Absent: its calls are never tasks. */
  readonly execution?: ToolExecution;
  /** Absent: this tool's calls are never deduplicated. Null: this one has no key, and isn't. */
  readonly idempotencyKey?: (args: Json) => string | null;
  /** Set when this is a view of another tool: what stands between the two, enforced by the dispatcher. */
  readonly narrows?: Narrowing;
  /** Set while a policy is asked about the tool behind a view, because the view is to be seen or called: the view. */
  readonly behindView?: ToolDefinition;
}

/**
 * What a view makes of the tool behind it. `ref.fingerprint` of the view covers both definitions, so that what is bound
 * to the one is bound to the other.
 */
export interface Narrowing {
  /** The tool behind it, as its server lists it. */
  readonly of: ToolDefinition;
  /** The view's own version, as its author wrote it. */
  readonly version?: string;
  /** What it takes away, one line each, for people. */
  readonly summary: readonly string[];
  /** Arguments that go on under the name, and as the value, that the caller gave. */
  readonly passed: ReadonlySet<string>;
  /** The arguments for the tool behind, or why there are none. Never rejects. */
  arguments(args: JsonObject, who: Identity): Promise<NarrowedArguments>;
  /** What the caller gets of a result; absent: all of it. */
  result?(raw: RawJson, isError: boolean): NarrowedResult;
}

export type NarrowedArguments =
  | { readonly args: JsonObject }
  | { readonly issues: readonly { readonly path: string; readonly message: string }[] };

export type NarrowedResult = { readonly raw: RawJson } | { readonly refused: string };

/** Why a tool is here, absent, renamed, deferred or refused. Every room adds its own; `explain` only prints them. */
export interface Reason {
  readonly room: string;
  readonly code: string;
  readonly text: string;
  readonly source?: { readonly file: string; readonly line?: number };
}
