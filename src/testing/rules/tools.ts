import type { Json, JsonObject } from '../../contracts/index.ts';
import { blocksIn, isObject, isString, type Placed, placed } from './shape.ts';

/** Tools that come with a schema of their own, by their dated type: the name each must have, and who runs it. */
const PROVIDED: ReadonlyMap<string, readonly [name: string, runs: 'client' | 'server']> = new Map([
  ['bash_20241022', ['bash', 'client']],
  ['bash_20250124', ['bash', 'client']],
  ['text_editor_20241022', ['str_replace_editor', 'client']],
  ['text_editor_20250124', ['str_replace_editor', 'client']],
  ['text_editor_20250429', ['str_replace_based_edit_tool', 'client']],
  ['text_editor_20250728', ['str_replace_based_edit_tool', 'client']],
  ['memory_20250818', ['memory', 'client']],
  ['computer_20241022', ['computer', 'client']],
  ['computer_20250124', ['computer', 'client']],
  ['computer_20251124', ['computer', 'client']],
  ['code_execution_20250522', ['code_execution', 'server']],
  ['code_execution_20250825', ['code_execution', 'server']],
  ['code_execution_20260120', ['code_execution', 'server']],
  ['code_execution_20260521', ['code_execution', 'server']],
  ['web_search_20250305', ['web_search', 'server']],
  ['web_search_20260209', ['web_search', 'server']],
  ['web_search_20260318', ['web_search', 'server']],
  ['web_fetch_20250910', ['web_fetch', 'server']],
  ['web_fetch_20260209', ['web_fetch', 'server']],
  ['web_fetch_20260309', ['web_fetch', 'server']],
  ['web_fetch_20260318', ['web_fetch', 'server']],
  ['advisor_20260301', ['advisor', 'server']],
  ['tool_search_tool_regex', ['tool_search_tool_regex', 'server']],
  ['tool_search_tool_regex_20251119', ['tool_search_tool_regex', 'server']],
  ['tool_search_tool_bm25', ['tool_search_tool_bm25', 'server']],
  ['tool_search_tool_bm25_20251119', ['tool_search_tool_bm25', 'server']],
]);

const TOOLSETS: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'computer_toolset_20260801',
    (
      'key hold_key type cursor_position mouse_move left_mouse_down left_mouse_up left_click left_click_drag ' +
      'right_click middle_click double_click triple_click scroll wait screenshot zoom'
    ).split(' '),
  ],
  [
    'browser_toolset_20260801',
    (
      'navigate list_tabs new_tab switch_tab close_tab read_page get_page_text read_console read_network find ' +
      'form_input file_upload scroll_to screenshot zoom left_click right_click middle_click double_click ' +
      'triple_click hover left_click_drag left_mouse_down left_mouse_up mouse_move scroll type key hold_key wait ' +
      'javascript_exec'
    ).split(' '),
  ],
]);

/** A tool whose definition is the caller's own. */
export function isCustom({ type }: JsonObject): boolean {
  return type === undefined || type === null || type === 'custom';
}

/** Tools that the caller defines, with where they stand. */
export function customTools(body: JsonObject): readonly Placed[] {
  return placed('tools', body.tools).filter(({ block }) => isCustom(block));
}

export function isToolset(type: Json | undefined): boolean {
  return isString(type) && TOOLSETS.has(type);
}

export function membersOf(type: string): readonly string[] {
  return TOOLSETS.get(type) ?? [];
}

export function isKnownType(type: Json | undefined): boolean {
  return isString(type) && (PROVIDED.has(type) || TOOLSETS.has(type) || type === 'mcp_toolset');
}

/** The name that a provided tool must have. */
export function fixedName(type: Json | undefined): string | undefined {
  return isString(type) ? PROVIDED.get(type)?.[0] : undefined;
}

/** Entries without a name: toolsets, and what an MCP server brings. */
export function isNameless({ type }: JsonObject): boolean {
  return isToolset(type) || type === 'mcp_toolset';
}

export function isToolSearch({ type }: JsonObject): boolean {
  return isString(type) && /^tool_search_tool_/.test(type);
}

/** The date in a tool's type, e.g. 20260209; 0 without one. */
export function dateOf(type: Json | undefined): number {
  return isString(type) ? Number(/_(\d{8})$/.exec(type)?.[1] ?? 0) : 0;
}

/** Who may call a tool, where it says so itself. */
export function callersOf(tool: JsonObject): readonly Json[] | undefined {
  return Array.isArray(tool.allowed_callers) ? tool.allowed_callers : undefined;
}

/** The names of all tools of a request, with those that messages add. */
export function toolNames(body: JsonObject): ReadonlySet<string> {
  const inTools = placed('tools', body.tools).map(({ block }) => block.name);
  const added = blocksIn(body, 'tool_addition').map(({ block }) => definedIn(block)?.name);
  return new Set([...inTools, ...added].filter(isString));
}

/** The definition that a `tool_addition` brings by value. */
export function definedIn(block: JsonObject): JsonObject | undefined {
  const { tool } = block;
  return block.type === 'tool_addition' &&
    isObject(tool) &&
    tool.type === 'tool_definition' &&
    isObject(tool.definition)
    ? tool.definition
    : undefined;
}
