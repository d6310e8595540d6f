import type { ServerRef, Source, ToolDefinition } from '../contracts/index.ts';
import { adoptTool, type RunnableLike } from './adopt-tool.ts';
import { BridleError } from './bridle-error.ts';
import type { Tool } from './define-tool.ts';
import { wireName } from './wire-name.ts';

function isTool(value: Tool | RunnableLike): value is Tool {
  return 'definition' in value && 'call' in value;
}

/** The same tool as one of `server`: its wire name carries the server's part, its fingerprint stays. */
function under(server: ServerRef, definition: ToolDefinition): ToolDefinition {
  const { tool, fingerprint } = definition.ref;
  return { ...definition, ref: { server, tool, name: wireName(server.key, tool), fingerprint } };
}

/**
 * A source of tools of this process. Its list never changes.
 *
 * @param tools of `defineTool`, or objects in the shapes that `adoptTool` takes
 * @param options `server`: names the tools as that server's; default null, their own names
 * @throws BridleError `tool_name_taken` when two tools have one name
 */
export function functionSource(
  tools: readonly (Tool | RunnableLike)[],
  options: { readonly server?: ServerRef | null } = {},
): Source {
  const server = options.server ?? null;
  const byName = new Map<string, Tool>();
  for (const given of tools) {
    const tool = isTool(given) ? given : adoptTool(given);
    const name = tool.definition.ref.tool;
    if (byName.has(name)) {
      throw new BridleError('tool_name_taken', `Two tools are called "${name}".`, { hint: 'Rename one of them.' });
    }
    byName.set(name, tool);
  }
  const definitions = [...byName.values()].map((t) => (server ? under(server, t.definition) : t.definition));
  return {
    server,
    list: async () => ({ tools: definitions, setAside: [] }),
    async call(name, args, ctx) {
      const tool = byName.get(name);
      if (tool) return tool.call(args, ctx);
      const message = `No tool named "${name}" is available.`;
      const failure = {
        category: 'validation',
        retryable: false,
        message,
        executed: 'not_executed',
        attempts: [],
      } as const;
      return { kind: 'failure', failure };
    },
    async preview(name, args, ctx) {
      const tool = byName.get(name);
      if (!tool?.preview) throw new BridleError('preview_missing', `Tool "${name}" has no preview.`);
      return tool.preview(args, ctx);
    },
    onChange: () => () => {},
  };
}
