import type { Effect, JsonObject, Source } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { defineTool, type Tool, type ToolContext } from './define-tool.ts';
import { functionSource } from './function-source.ts';

/** What runs a member of a toolset. */
export interface ToolsetMember {
  /** What it may do to the world. Default `write`; a screenshot, say, is a `read`. */
  readonly effect?: Effect;
  /**
   * @param input as the model wrote it: its schema is the provider's, and isn't checked here
   * @returns as a handler of `defineTool`
   */
  run(input: JsonObject, ctx: ToolContext): unknown;
}

export interface ToolsetOptions {
  /** The Messages API's entry, e.g. `{type: 'computer_toolset_20260801'}`; its `configs` and `cache_control` are kept. */
  readonly entry: { readonly type: string; readonly [field: string]: unknown };
  /** By name, such as `screenshot`. Those that aren't here, or that no rule lets the model see, aren't offered to it. */
  readonly members: Readonly<Record<string, ToolsetMember>>;
}

/** Members that both have. */
const COMMON = [
  ...['screenshot', 'zoom', 'left_click', 'right_click', 'middle_click', 'double_click', 'triple_click'],
  ...['left_click_drag', 'left_mouse_down', 'left_mouse_up', 'mouse_move', 'scroll', 'type', 'key', 'hold_key', 'wait'],
];

const BROWSER = [
  ...['navigate', 'list_tabs', 'new_tab', 'switch_tab', 'close_tab', 'read_page', 'get_page_text', 'read_console'],
  ...['read_network', 'find', 'form_input', 'file_upload', 'scroll_to', 'hover', 'javascript_exec'],
];

/** The whole member set of each version: the API refuses any other key in `configs`. */
const KNOWN: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['computer_toolset_20260801', new Set([...COMMON, 'cursor_position'])],
  ['browser_toolset_20260801', new Set([...COMMON, ...BROWSER])],
]);

/** What other tools may have, and the API refuses in a toolset. */
const NOT_OF_TOOLSETS = ['name', 'strict', 'input_examples', 'defer_loading'];

/**
 * A source of the members of a toolset that the provider defines and this program runs: computer use, browser use. One entry
 * stands for all of them in a request. Each member is a tool of its own to rules, hooks and records, under the name
 * `<toolset>__<member>`, such as `computer__left_click`.
 *
 * @throws BridleError `toolset_invalid` for an entry of another type or with a field that no toolset has, or a member that it doesn't have
 */
export function toolsetSource({ entry, members }: ToolsetOptions): Source {
  const known = KNOWN.get(entry.type);
  const name = /^(computer|browser)_toolset_\d{8}$/.exec(entry.type)?.[1];
  if (name === undefined) {
    throw new BridleError('toolset_invalid', `No toolset has the type ${JSON.stringify(entry.type)}.`, {
      hint: 'Give an entry such as {type: "computer_toolset_20260801"}.',
    });
  }
  const callers = Array.isArray(entry.allowed_callers) ? entry.allowed_callers : [];
  const field = NOT_OF_TOOLSETS.find((one) => entry[one] !== undefined);
  if (field !== undefined || callers.some((caller) => caller !== 'direct')) {
    const what = field ?? 'allowed_callers other than direct';
    throw new BridleError('toolset_invalid', `The entry of ${entry.type} has ${what}, which a toolset can't have.`, {
      hint: 'Leave it out.',
    });
  }
  const strange = Object.keys(members).find((member) => known !== undefined && !known.has(member));
  if (strange !== undefined) {
    throw new BridleError('toolset_invalid', `${entry.type} has no member ${JSON.stringify(strange)}.`, {
      hint: `It has: ${[...(known ?? [])].join(', ')}.`,
    });
  }
  const all = [...(known ?? Object.keys(members))];
  const written = JSON.parse(JSON.stringify(entry)) as JsonObject;
  return functionSource(
    Object.entries(members).map(([member, { effect = 'write', run }]): Tool => {
      const tool = defineTool(
        {
          name: `${name}__${member}`,
          description: `The action "${member}" of the toolset "${name}", as the provider of the model defines it.`,
          input: { type: 'object', additionalProperties: true },
          effect,
        },
        (input, ctx) => run(input as JsonObject, ctx),
      ) as unknown as Tool;
      const hints = { toolset: { name, member, entry: written, members: all } };
      return { ...tool, definition: { ...tool.definition, hints } };
    }),
  );
}
