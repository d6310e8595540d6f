import type { Connection, JsonObject, RawJson, Reason } from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';
import { McpError } from './errors.ts';
import { isObject, rawElements, rawMember } from './message.ts';

const MAX_PAGES = 1000;
const MAX_ITEMS = 10_000;
/** Most characters in all: the limit of one message doesn't bound a list of many. */
const MAX_CHARS = 64_000_000;

/**
 * Reads a list of a server to its end (MCP, Pagination): follows `nextCursor` until there is none. A server that pages in
 * a circle or without end is cut short; what came until then is kept, with a reason.
 *
 * @param method such as `tools/list`
 * @param member the list's name in the result, such as `tools`
 * @returns each item as received, in the server's order
 * @throws McpError when a page can't be had or is no such list
 */
export async function listAll(
  connection: Connection,
  method: string,
  member: string,
  ctx: { readonly signal: AbortSignal; readonly idleMs: number; readonly hardMs: number },
): Promise<{ readonly items: readonly RawJson[]; readonly reasons: readonly Reason[] }> {
  const items: RawJson[] = [];
  const seen = new Set<string>();
  const until = Date.now() + ctx.hardMs;
  let chars = 0;
  let params: JsonObject = {};
  const cut = (text: string) => ({
    items: items.slice(0, MAX_ITEMS),
    reasons: [{ room: 'mcp/client', code: 'mcp_list_cut', text: `${connection.server.key}: ${text}` }],
  });

  for (let page = 1; ; page += 1) {
    const hardMs = Math.max(1, until - Date.now());
    const result = await connection.request(method, params, { ...ctx, hardMs });
    const list = rawMember(result, member);
    if (!list || !Array.isArray(list.parse())) {
      throw new McpError(
        'mcp_bad_list',
        `MCP server ${JSON.stringify(connection.server.key)} answered ${method} without a list of ${member}.`,
        { executed: 'executed', hint: 'This is a fault of the server: report it to its author.' },
      );
    }
    for (const item of rawElements(list)) items.push(item);
    chars += list.text.length;
    const value = result.parse();
    const cursor = isObject(value) ? value.nextCursor : undefined;
    if (typeof cursor !== 'string') return { items, reasons: [] };
    if (seen.has(cursor)) {
      return cut(
        `${method} came back to cursor ${JSON.stringify(printable(cursor, { maxLength: 60 }))} and was cut there.`,
      );
    }
    if (items.length >= MAX_ITEMS) return cut(`${method} has more than ${MAX_ITEMS} items; the rest was left out.`);
    if (chars > MAX_CHARS) return cut(`${method} is longer than ${MAX_CHARS / 1e6} MB; the rest was left out.`);
    if (page >= MAX_PAGES) return cut(`${method} has more than ${MAX_PAGES} pages; the rest was left out.`);
    seen.add(cursor);
    params = { cursor };
  }
}
