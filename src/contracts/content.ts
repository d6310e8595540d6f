import type { CallContext, SourceResult } from './call.ts';
import type { Identity, ServerRef } from './identity.ts';
import type { RawJson } from './json.ts';
import type { Reason } from './tool.ts';

/** A resource of a server: something to read, under an address of the server's own making. */
export interface ResourceDefinition {
  readonly server: ServerRef | null;
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
  /** Fields we don't know survive here. */
  readonly raw: RawJson;
}

/** A family of resources: an address with places to fill in, RFC 6570. */
export interface ResourceTemplate {
  readonly server: ServerRef | null;
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly raw: RawJson;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
}

/** A prompt of a server: messages that a person asks for by name. */
export interface PromptDefinition {
  readonly server: ServerRef | null;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
  readonly raw: RawJson;
}

export interface ContentListing {
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly ResourceTemplate[];
  readonly prompts: readonly PromptDefinition[];
  /** One that can't be read costs the others nothing. `item` is its address or name as far as it is known. */
  readonly setAside: readonly {
    readonly kind: 'resource' | 'template' | 'prompt';
    readonly item: string;
    readonly reasons: readonly Reason[];
  }[];
}

/** What `completion/complete` is asked about. */
export type CompletionRef =
  | { readonly type: 'prompt'; readonly name: string }
  | { readonly type: 'resource'; readonly uriTemplate: string };

/** One thing that a source has: its address, template or name. */
export interface ContentItem {
  readonly kind: 'resource' | 'template' | 'prompt';
  readonly id: string;
}

export interface CompletionResult {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

/**
 * Anything that has resources and prompts: our own definitions, an MCP connection. The counterpart of `Source`, with the
 * same laws: one bad item is a Reason, a call never rejects, results are kept as they arrived.
 */
export interface ContentSource {
  readonly server: ServerRef | null;
  /** Rejects only when the source as a whole can't be listed. */
  list(signal: AbortSignal): Promise<ContentListing>;
  /** `raw` of the result is a `ReadResourceResult`. Never rejects. */
  read(uri: string, ctx: CallContext): Promise<SourceResult>;
  /** `raw` of the result is a `GetPromptResult`. Never rejects. */
  prompt(name: string, args: Readonly<Record<string, string>>, ctx: CallContext): Promise<SourceResult>;
  /** Never rejects: a server that can't complete has no values. */
  complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    /** The values of the other arguments, as far as they are known. */
    known: Readonly<Record<string, string>>,
    signal: AbortSignal,
    /** For whom, where it matters. */
    who?: Identity,
  ): Promise<CompletionResult>;
  /**
   * Whether this identity may see an item of the last list; absent: everybody sees all. Pure and quick, never throws.
   * What it hides, `read`, `prompt` and `complete` refuse as if it weren't there.
   */
  visible?(item: ContentItem, who: Identity): boolean;
  /** Tells of each change of this resource, over reconnects too, until the returned function is called. */
  subscribe(uri: string, listener: () => void): () => void;
  /** The lists changed. */
  onChange(listener: () => void): () => void;
}

/** Resources and prompts of many sources, as one identity sees them; what the serving side serves of them. */
export interface ContentHost {
  list(who: Identity): ContentListing;
  read(uri: string, ctx: CallContext): Promise<SourceResult>;
  prompt(name: string, args: Readonly<Record<string, string>>, ctx: CallContext): Promise<SourceResult>;
  complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    known: Readonly<Record<string, string>>,
    who: Identity,
    signal: AbortSignal,
  ): Promise<CompletionResult>;
  /** Whether this identity may read it, as far as that is known without asking its source. */
  has(uri: string, who: Identity): boolean;
  /** Of a resource that isn't there, or that `who` may not see, nothing is ever told. */
  subscribe(uri: string, who: Identity, listener: () => void): () => void;
  onChange(cb: () => void): () => void;
}
