import type { JsonObject, ServerRef, ToolDefinition } from '../../contracts/index.ts';
import { definitionFromMcp, rawFrom } from '../../tools/index.ts';

export const SHOP: ServerRef = { key: 'shop', scope: 'user', fingerprint: 'f'.repeat(64), trustAnnotations: false };
export const OTHER: ServerRef = { ...SHOP, key: 'other', fingerprint: 'e'.repeat(64) };

/** The tool that a server's entry of `tools/list` makes. */
export function toolOf(entry: JsonObject, server = SHOP): ToolDefinition {
  const read = definitionFromMcp(server, rawFrom(entry));
  if ('tool' in read) return read.tool;
  throw new Error(`The definition was set aside: ${JSON.stringify(read.setAside)}`);
}
