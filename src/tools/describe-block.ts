import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, ownMember, stringMember } from './json-object.ts';
import { cutAt } from './printable.ts';

/** Image types that the Messages API takes. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** Largest image and PDF that go to a model as such, in bytes; one that is larger would cost the whole request. */
const MAX_IMAGE = 5 * 1024 * 1024;
const MAX_PDF = 20 * 1024 * 1024;
const BASE64 = /^[A-Za-z0-9+/]+$/;
const NOT_SHOWN = "not shown, because a model can't take it in this form";

/** How the first bytes of each image type read in base64. The API refuses a type that the bytes belie. */
const BEGINNINGS: readonly (readonly [start: string, type: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

function text(value: string): JsonObject {
  return { type: 'text', text: value };
}

/** Standard base64 of what may be wrapped in lines, URL-safe or unpadded; null when it is no base64. */
function standardBase64(data: string): string | null {
  const joined = data.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  const end = joined.endsWith('==') ? -2 : joined.endsWith('=') ? -1 : joined.length;
  const body = joined.slice(0, end);
  if (body.length % 4 === 1 || !BASE64.test(body)) return null;
  return body.padEnd(Math.ceil(body.length / 4) * 4, '=');
}

/** Bytes of base64 text. */
function bytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/** An image block, or null when the API wouldn't take it. */
function imageBlock(data: string, declared: string): JsonObject | null {
  const base64 = standardBase64(data);
  if (base64 === null || bytes(base64) > MAX_IMAGE) return null;
  const seen = BEGINNINGS.find(([start]) => base64.startsWith(start))?.[1];
  const type = seen ?? (declared === 'image/jpg' ? 'image/jpeg' : declared);
  return IMAGES.has(type) ? { type: 'image', source: { type: 'base64', media_type: type, data: base64 } } : null;
}

function pdfBlock(data: string, title: string): JsonObject | null {
  const base64 = standardBase64(data);
  if (base64 === null || bytes(base64) > MAX_PDF) return null;
  const source = { type: 'base64', media_type: 'application/pdf', data: base64 };
  return { type: 'document', source, title: cutAt(title, 255) };
}

/** The MIME type without parameters, in lower case. */
function mime(object: JsonObject): string {
  const type = stringMember(object, 'mimeType') ?? 'application/octet-stream';
  return (type.split(';')[0] ?? type).trim().toLowerCase();
}

/** Foreign strings are JSON-encoded, so that they can't pass for words of ours. */
function fields(object: JsonObject, names: readonly string[]): string {
  const said = names.flatMap((name) => {
    const value = ownMember(object, name);
    return value === undefined || value === null ? [] : [`${name} ${JSON.stringify(value)}`];
  });
  return said.join(', ');
}

/** Says, before a description, that the server meant the block for the user alone. */
function audience(block: JsonObject): string {
  const annotations = ownMember(block, 'annotations');
  const who = isJsonObject(annotations) ? ownMember(annotations, 'audience') : undefined;
  return Array.isArray(who) && who.length === 1 && who[0] === 'user' ? '[meant for the user] ' : '';
}

function media(kind: string, data: string, block: JsonObject): JsonObject {
  const type = JSON.stringify(mime(block));
  return text(`${audience(block)}[${kind}, mimeType ${type}, ${bytes(data)} bytes: ${NOT_SHOWN}]`);
}

function resource(block: JsonObject, inner: JsonObject, textOnly: boolean): JsonObject {
  const header = `${audience(block)}[resource: ${fields(inner, ['uri', 'mimeType'])}`;
  const body = stringMember(inner, 'text');
  if (body !== undefined) return text(`${header}]\n${body}`);
  const blob = stringMember(inner, 'blob');
  if (blob === undefined) return text(JSON.stringify(block));
  return (textOnly ? null : mediaBlock(inner, blob)) ?? text(`${header}, ${bytes(blob)} bytes: ${NOT_SHOWN}]`);
}

/** A blob as the image or PDF that it is, or null when the API wouldn't take it. */
function mediaBlock(inner: JsonObject, blob: string): JsonObject | null {
  const type = mime(inner);
  if (type === 'application/pdf') return pdfBlock(blob, stringMember(inner, 'uri') ?? 'document');
  return type.startsWith('image/') ? imageBlock(blob, type) : null;
}

/**
 * One MCP content block as a Messages API block. What the API has no form for is described in text: its kind, MIME
 * type and size in bytes, and where it is. A block of an unknown or broken shape is given as its JSON.
 *
 * @param textOnly describes images and documents too: the API takes only text in a result with `is_error`
 */
export function describeBlock(block: Json, textOnly = false): JsonObject {
  if (!isJsonObject(block)) return text(typeof block === 'string' ? block : JSON.stringify(block));
  const data = stringMember(block, 'data');
  switch (block.type) {
    case 'text':
      return text(stringMember(block, 'text') ?? JSON.stringify(block));
    case 'image':
      if (data === undefined) return text(JSON.stringify(block));
      return (textOnly ? null : imageBlock(data, mime(block))) ?? media('image', data, block);
    case 'audio':
      return data === undefined ? text(JSON.stringify(block)) : media('audio', data, block);
    case 'resource_link': {
      const link = fields(block, ['uri', 'name', 'title', 'description', 'mimeType', 'size']);
      return text(`${audience(block)}[resource link: ${link}]`);
    }
    case 'resource': {
      const inner = ownMember(block, 'resource');
      return isJsonObject(inner) ? resource(block, inner, textOnly) : text(JSON.stringify(block));
    }
    default:
      return text(JSON.stringify(block));
  }
}
