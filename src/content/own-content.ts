import type {
  CallContext,
  CompletionResult,
  Identity,
  JsonObject,
  PromptArgument,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplate,
} from '../contracts/index.ts';
import { BridleError, type Questions, rawFrom, toJson } from '../tools/index.ts';
import { type NotRead, promptFromMcp, resourceFromMcp, templateFromMcp } from './content-definition.ts';

/**
 * What an author's function knows of the request that it answers, and whom it can ask in it. `who` comes from the host,
 * never from the model.
 */
export interface ContentContext extends Pick<CallContext, 'callId' | 'who' | 'signal'>, Questions {}

/** Text, bytes, or both kinds with a type of their own; `uri` is the resource's own unless it is given. */
export interface ResourceBody {
  readonly uri?: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly bytes?: Uint8Array;
}
export type ReadReturn = string | Uint8Array | ResourceBody | readonly ResourceBody[];

/** One turn of a prompt: text, or an MCP content block such as `image()` and `embeddedResource()` make. */
export interface PromptTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string | JsonObject;
}
export type PromptReturn = string | readonly PromptTurn[];

/**
 * Values for what a person has begun to write, best first; only the first 100 are sent.
 *
 * @param value what is there of it
 * @param known the other arguments, as far as they are known
 */
export type Completer = (
  value: string,
  context: {
    readonly known: Readonly<Record<string, string>>;
    readonly who?: Identity;
    readonly signal: AbortSignal;
  },
) => readonly string[] | CompletionResult | Promise<readonly string[] | CompletionResult>;

interface Described {
  readonly title?: string;
  readonly description?: string;
  /** Who may see it; to all others it doesn't exist. Default: everyone. Pure and quick: asked on each list. */
  readonly visible?: (who: Identity) => boolean;
  /** Pictures for people, as MCP has them: `[{ src, mimeType?, sizes?, theme? }]`. */
  readonly icons?: readonly { readonly src: string; readonly [field: string]: unknown }[];
  /** MCP `Annotations` of a resource or a template: `audience`, `priority`, `lastModified`. */
  readonly annotations?: { readonly [field: string]: unknown };
  /** MCP `_meta`. */
  readonly _meta?: JsonObject;
}

export interface ResourceOptions extends Described {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  /** In bytes, before any encoding. */
  readonly size?: number;
  /** Throws `ToolFailure` to say why it can't be read. */
  read(ctx: ContentContext): ReadReturn | Promise<ReadReturn>;
}

export interface ResourceTemplateOptions extends Described {
  /** RFC 6570, e.g. `docs://documents/{id}`. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly mimeType?: string;
  /** By variable name. */
  readonly complete?: Readonly<Record<string, Completer>>;
  /**
   * @param values what the URI holds for each variable, decoded; a repeated one (`*`) as a list joined with commas
   * @returns null when there is no such resource
   */
  read(
    values: Readonly<Record<string, string>>,
    uri: string,
    ctx: ContentContext,
  ): ReadReturn | null | Promise<ReadReturn | null>;
}

export interface PromptOptions extends Described {
  readonly name: string;
  readonly arguments?: readonly (Omit<PromptArgument, 'required'> & {
    /** Default false. */
    readonly required?: boolean;
    readonly complete?: Completer;
  })[];
  /** Gets the arguments that were given, each of them declared, and all that are required. */
  messages(args: Readonly<Record<string, string>>, ctx: ContentContext): PromptReturn | Promise<PromptReturn>;
}

export interface OwnResource {
  readonly definition: ResourceDefinition;
  readonly options: ResourceOptions;
}
export interface OwnTemplate {
  readonly definition: ResourceTemplate;
  readonly options: ResourceTemplateOptions;
}
export interface OwnPrompt {
  readonly definition: PromptDefinition;
  readonly options: PromptOptions;
}

function usable<T extends object>(what: string, read: T | NotRead): T {
  if (!('setAside' in read)) return read;
  const why = read.setAside.map(({ text }) => text).join(' ');
  throw new BridleError('content_invalid', `${what} ${JSON.stringify(read.item)} can't be: ${why}`, {
    hint: 'Correct its definition.',
  });
}

function described({ title, description, icons, annotations, _meta }: Described): JsonObject {
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons && { icons: toJson(icons) }),
    ...(annotations && { annotations: toJson(annotations) }),
    ...(_meta && { _meta: toJson(_meta) }),
  };
}

/**
 * Defines a resource of this process: something to read, under an address of its own.
 *
 * @throws BridleError `content_invalid` when no such resource can be
 */
export function defineResource(options: ResourceOptions): OwnResource {
  const { uri, name, mimeType, size } = options;
  const raw: JsonObject = {
    uri,
    name,
    ...described(options),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  };
  return { definition: usable('A resource', resourceFromMcp(null, rawFrom(raw))), options };
}

/**
 * Defines a family of resources of this process by a URI template (RFC 6570).
 *
 * @throws BridleError `content_invalid` when no such template can be
 */
export function defineResourceTemplate(options: ResourceTemplateOptions): OwnTemplate {
  const { uriTemplate, name, mimeType } = options;
  const raw: JsonObject = {
    uriTemplate,
    name,
    ...described(options),
    ...(mimeType !== undefined && { mimeType }),
  };
  return { definition: usable('A resource template', templateFromMcp(null, rawFrom(raw))), options };
}

/**
 * Defines a prompt of this process: messages that a person asks for by name.
 *
 * @throws BridleError `content_invalid` when no such prompt can be
 */
export function definePrompt(options: PromptOptions): OwnPrompt {
  const raw: JsonObject = {
    name: options.name,
    ...described(options),
    ...(options.arguments && {
      arguments: options.arguments.map(({ name, required, ...rest }) => ({
        name,
        ...described({
          ...(rest.title !== undefined && { title: rest.title }),
          ...(rest.description !== undefined && { description: rest.description }),
        }),
        required: required ?? false,
      })),
    }),
  };
  return { definition: usable('A prompt', promptFromMcp(null, rawFrom(raw))), options };
}
