import { Buffer } from 'node:buffer';
import type { Json, JsonObject } from '../contracts/index.ts';
import { toJson } from './json-object.ts';

const BUILT = Symbol.for('bridle.built');

/** A content block made by one of the builders below; told from data by an invisible mark. */
export type ContentBlock = JsonObject & { readonly [BUILT]: 'block' };
/** A whole MCP `CallToolResult` made by `structured()`. */
export type BuiltResult = JsonObject & { readonly [BUILT]: 'result' };

function mark<Kind extends 'block' | 'result'>(
  object: JsonObject,
  kind: Kind,
): JsonObject & { readonly [BUILT]: Kind } {
  return Object.defineProperty(object, BUILT, { value: kind, enumerable: false }) as JsonObject & {
    readonly [BUILT]: Kind;
  };
}

/** What a builder made the value into, or null for data. */
export function builtKind(value: unknown): 'block' | 'result' | null {
  if (typeof value !== 'object' || value === null || !(BUILT in value)) return null;
  return value[BUILT] === 'block' || value[BUILT] === 'result' ? value[BUILT] : null;
}

/** MCP `Annotations` (audience, priority 0 to 1, lastModified as ISO 8601) and `_meta`, allowed on every block. */
export interface BlockOptions {
  readonly annotations?: {
    readonly audience?: readonly ('user' | 'assistant')[];
    readonly priority?: number;
    readonly lastModified?: string;
  };
  readonly _meta?: JsonObject;
}

function extras(options: BlockOptions): JsonObject {
  return {
    ...(options.annotations && { annotations: toJson(options.annotations) }),
    ...(options._meta && { _meta: options._meta }),
  };
}

function base64(data: string | Uint8Array): string {
  return typeof data === 'string' ? data : Buffer.from(data).toString('base64');
}

/** A text block. */
export function text(value: string, options: BlockOptions = {}): ContentBlock {
  return mark({ type: 'text', text: value, ...extras(options) }, 'block');
}

/**
 * An image block.
 *
 * @param data bytes, or text that is base64 already
 * @param mimeType e.g. `image/png`; a model sees png, jpeg, gif and webp, others are described to it
 */
export function image(data: string | Uint8Array, mimeType: string, options: BlockOptions = {}): ContentBlock {
  return mark({ type: 'image', data: base64(data), mimeType, ...extras(options) }, 'block');
}

/** An audio block; models that can't hear get a description. `data` as in `image`. */
export function audio(data: string | Uint8Array, mimeType: string, options: BlockOptions = {}): ContentBlock {
  return mark({ type: 'audio', data: base64(data), mimeType, ...extras(options) }, 'block');
}

/** A link to a resource that the reader may fetch. `size` is in bytes. */
export function resourceLink(
  link: {
    readonly uri: string;
    readonly name: string;
    readonly title?: string;
    readonly description?: string;
    readonly mimeType?: string;
    readonly size?: number;
  },
  options: BlockOptions = {},
): ContentBlock {
  return mark({ type: 'resource_link', ...(toJson(link) as JsonObject), ...extras(options) }, 'block');
}

/** A resource carried whole, as text or as bytes. */
export function embeddedResource(
  resource: { readonly uri: string; readonly mimeType?: string } & (
    | { readonly text: string }
    | { readonly blob: string | Uint8Array }
  ),
  options: BlockOptions = {},
): ContentBlock {
  const { uri, mimeType } = resource;
  const body = 'text' in resource ? { text: resource.text } : { blob: base64(resource.blob) };
  return mark(
    { type: 'resource', resource: { uri, ...(mimeType && { mimeType }), ...body }, ...extras(options) },
    'block',
  );
}

/**
 * A structured result, with further blocks beside it. The JSON goes as `structuredContent` and, for readers without
 * it, once as text; a model gets it once.
 *
 * @throws TypeError when `value` has no JSON form
 */
export function structured(value: unknown, ...blocks: readonly ContentBlock[]): BuiltResult {
  const json: Json = toJson(value);
  return mark({ content: [text(JSON.stringify(json)), ...blocks], structuredContent: json }, 'result');
}
