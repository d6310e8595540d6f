import type { JsonObject, ToolDefinition } from '../../contracts/index.ts';
import { definitionToMcp, type Page } from '../../tools/index.ts';
import { META } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import type { Peer } from './peer.ts';

type Era = Peer['era'];

/**
 * What a list may be kept for (MCP 2026-07-28, Caching): not at all without asking again, and by nobody for others, since
 * what is listed differs by caller and may change at any moment.
 */
const NOT_KEPT = '"ttlMs":0,"cacheScope":"private"';

/** Text of what is listed, made once for each item: definitions never change, they are replaced. */
export class ListTexts {
  readonly #tools = { legacy: new WeakMap<ToolDefinition, string>(), modern: new WeakMap<ToolDefinition, string>() };
  readonly #tail: string;

  /** @param infoText JSON text of the server's own name */
  constructor(infoText: string) {
    this.#tail = `,"resultType":"complete",${NOT_KEPT},"_meta":{${JSON.stringify(META.serverInfo)}:${infoText}}}`;
  }

  tools({ items, nextCursor }: Page<ToolDefinition>, era: Era): string {
    return this.of(
      'tools',
      items.map((tool) => this.#tool(tool, era)),
      era,
      nextCursor,
    );
  }

  /** @param items JSON texts */
  of(member: string, items: readonly string[], era: Era, nextCursor?: string): string {
    const next = nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`;
    return `{${JSON.stringify(member)}:[${items.join(',')}]${next}${era === 'modern' ? this.#tail : '}'}`;
  }

  #tool(tool: ToolDefinition, era: Era): string {
    const known = this.#tools[era];
    let text = known.get(tool);
    if (text === undefined) {
      const definition = definitionToMcp(tool);
      text = JSON.stringify(era === 'modern' ? definition : forLegacy(definition));
      known.set(tool, text);
    }
    return text;
  }
}

/** The older revisions know only objects as structured content, and clients refuse a list with another schema. */
function forLegacy(definition: JsonObject): JsonObject {
  const { outputSchema, ...rest } = definition;
  return isObject(outputSchema) && outputSchema.type === 'object' ? definition : rest;
}
