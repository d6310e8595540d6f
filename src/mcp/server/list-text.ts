import type { JsonObject, ToolDefinition } from '../../contracts/index.ts';
import { definitionToMcp, type Page } from '../../tools/index.ts';
import { META } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { KeptText } from './kept-text.ts';
import type { Peer } from './peer.ts';

type Era = Peer['era'];

/**
 * What a list may be kept for (MCP 2026-07-28, Caching): not at all without asking again, and by nobody for others, since
 * what is listed differs by caller and may change at any moment.
 */
const NOT_KEPT = '"ttlMs":0,"cacheScope":"private"';

/** Pages of which the text is kept in each era: of other callers, or further on. One can take megabytes. */
const MAX_PAGES = 8;

interface KnownPage {
  readonly page: Page<ToolDefinition>;
  readonly text: KeptText;
}

/**
 * Text of what is listed, made once for each item: definitions never change, they are replaced. That of a whole page is
 * kept too, and found by what is in it, as a host may make a new list each time or change its own.
 */
export class ListTexts {
  /** By era, the one that was asked for last at the front. */
  readonly #pages: { readonly [era in Era]: KnownPage[] } = { legacy: [], modern: [] };
  readonly #tools = { legacy: new WeakMap<ToolDefinition, string>(), modern: new WeakMap<ToolDefinition, string>() };
  readonly #tail: string;

  /** @param infoText JSON text of the server's own name */
  constructor(infoText: string) {
    this.#tail = `,"resultType":"complete",${NOT_KEPT},"_meta":{${JSON.stringify(META.serverInfo)}:${infoText}}}`;
  }

  tools(page: Page<ToolDefinition>, era: Era): KeptText {
    const pages = this.#pages[era];
    const at = pages.findIndex((known) => isSame(known.page, page));
    const known = pages[at] ?? { page: { ...page, items: [...page.items] }, text: this.#textOf(page, era) };
    if (at !== 0) {
      pages.splice(at === -1 ? MAX_PAGES - 1 : at, 1);
      pages.unshift(known);
    }
    return known.text;
  }

  #textOf({ items, nextCursor }: Page<ToolDefinition>, era: Era): KeptText {
    const texts = items.map((tool) => this.#tool(tool, era));
    return new KeptText(this.of('tools', texts, era, nextCursor));
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

function isSame(one: Page<ToolDefinition>, other: Page<ToolDefinition>): boolean {
  if (one.nextCursor !== other.nextCursor || one.items.length !== other.items.length) return false;
  return one.items.every((tool, at) => tool === other.items[at]);
}

/** The older revisions know only objects as structured content, and clients refuse a list with another schema. */
function forLegacy(definition: JsonObject): JsonObject {
  const { outputSchema, ...rest } = definition;
  return isObject(outputSchema) && outputSchema.type === 'object' ? definition : rest;
}
