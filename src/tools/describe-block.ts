import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject, ownMember, stringMember } from './json-object.ts';

/** Image types that the Messages API takes. */
const IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function text(value: string): JsonObject {
  return { type: 'text', text: value };
}

/** Bytes of base64 text. */
function bytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

function isBase64(data: string): boolean {
  return data !== '' && data.length % 4 === 0 && BASE64.test(data);
}

function mime(object: JsonObject): string {
  return (stringMember(object, 'mimeType') ?? 'application/octet-stream').toLowerCase();
}

/** Foreign strings are JSON-encoded, so that they can't pass for words of ours. */
function fields(object: JsonObject, names: readonly string[]): string {
  const said = names.flatMap((name) => {
    const value = ownMember(object, name);
    return value === undefined || value === null ? [] : [`${name} ${JSON.stringify(value)}`];
  });
  return said.join(', ');
}

/** Whom the server meant a block for, when it wasn't the model. */
function audience(block: JsonObject): string {
  const annotations = ownMember(block, 'annotations');
  if (!isJsonObject(annotations)) return '';
  const who = ownMember(annotations, 'audience');
  return Array.isArray(who) && who.length === 1 && who[0] === 'user' ? '[meant for the user] ' : '';
}

function media(kind: string, data: string, type: string, note: string): JsonObject {
  return text(`${note}[${kind}, ${type}, ${bytes(data)} bytes: not shown, because this reader takes no such content]`);
}

function resource(block: JsonObject, inner: JsonObject, note: string): JsonObject {
  const header = fields(inner, ['uri', 'mimeType']);
  const body = stringMember(inner, 'text');
  if (body !== undefined) return text(`${note}[resource: ${header}]\n${body}`);
  const blob = stringMember(inner, 'blob');
  if (blob === undefined) return text(`${note}${JSON.stringify(block)}`);
  const type = mime(inner).split(';')[0]?.trim() ?? '';
  if (isBase64(blob)) {
    if (type === 'application/pdf') {
      return {
        type: 'document',
        source: { type: 'base64', media_type: type, data: blob },
        title: stringMember(inner, 'uri') ?? 'document',
      };
    }
    if (IMAGES.has(type)) return { type: 'image', source: { type: 'base64', media_type: type, data: blob } };
  }
  return text(
    `${note}[resource: ${header}, ${bytes(blob)} bytes: not shown, because this reader takes no such content]`,
  );
}

/**
 * One MCP content block as a Messages API block. What the API has no form for is described in text; a block of an
 * unknown or broken shape is given as its JSON.
 */
export function describeBlock(block: Json): JsonObject {
  if (!isJsonObject(block)) return text(typeof block === 'string' ? block : JSON.stringify(block));
  const note = audience(block);
  const data = stringMember(block, 'data');
  switch (block.type) {
    case 'text': {
      const value = stringMember(block, 'text');
      return value === undefined ? text(JSON.stringify(block)) : text(note + value);
    }
    case 'image': {
      if (data === undefined) return text(JSON.stringify(block));
      const type = mime(block) === 'image/jpg' ? 'image/jpeg' : mime(block);
      if (!IMAGES.has(type) || !isBase64(data)) return media('image', data, type, note);
      return { type: 'image', source: { type: 'base64', media_type: type, data } };
    }
    case 'audio':
      return data === undefined ? text(JSON.stringify(block)) : media('audio', data, mime(block), note);
    case 'resource_link':
      return text(
        `${note}[resource link: ${fields(block, ['uri', 'name', 'title', 'description', 'mimeType', 'size'])}]`,
      );
    case 'resource': {
      const inner = ownMember(block, 'resource');
      return isJsonObject(inner) ? resource(block, inner, note) : text(JSON.stringify(block));
    }
    default:
      return text(JSON.stringify(block));
  }
}
