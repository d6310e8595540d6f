import type {
  CallContext,
  Connection,
  Json,
  JsonObject,
  PreviewPlan,
  RawJson,
  Reason,
  Source,
  SourceResult,
  ToolListing,
} from '../../contracts/index.ts';
import { definitionFromMcp } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { McpError } from './errors.ts';
import { listAll } from './list-all.ts';
import { onListChanges } from './list-changes.ts';
import { isObject } from './message.ts';
import type { CallLimits } from './server.ts';
import { failureOf, resultOf } from './source-results.ts';
import { secondLeg, urlRequired } from './url-required.ts';

export interface McpSourceOptions {
  /** Previews that the host's configuration maps to tools, by tool name; they stand above the server's own. */
  readonly previews?: ReadonlyMap<string, PreviewPlan>;
}

const LIST_IDLE_MS = 60_000;
const LIST_HARD_MS = 120_000;
const CHANGES: ReadonlySet<string> = new Set(['notifications/tools/list_changed']);

/** A server of prompts or resources alone is in good order. */
function hasNoTools(error: unknown): boolean {
  return error instanceof McpError && error.rpc?.code === CODES.unknownMethod;
}

function configured(plan: PreviewPlan): PreviewPlan {
  return plan.kind === 'tool' ? { ...plan, by: 'config' } : plan;
}

/**
 * The tools of an MCP server as a Source. Definitions and results are passed on as received; a tool that can't be used is
 * set aside alone.
 */
export function mcpSource(
  connection: Connection & {
    readonly limits?: CallLimits;
    /** Why a definition can't be used over the connection's transport. */
    refuseTool?(definition: RawJson): Reason | null;
  },
  options: McpSourceOptions = {},
): Source {
  const { server, limits } = connection;
  const previews = options.previews ?? new Map<string, PreviewPlan>();
  let changeDue = false;

  return {
    server,
    ...(limits && { limits }),
    async list(signal): Promise<ToolListing> {
      changeDue = false;
      const { items, reasons } = await listAll(connection, 'tools/list', 'tools', {
        signal,
        idleMs: limits?.idleMs ?? LIST_IDLE_MS,
        hardMs: limits?.hardMs ?? LIST_HARD_MS,
      }).catch((error: unknown) => {
        if (!hasNoTools(error)) throw error;
        const text = `${server.key}: it offers no tools (it doesn't know tools/list).`;
        return { items: [], reasons: [{ room: 'mcp/client', code: 'mcp_no_tools', text }] };
      });
      const tools = [];
      const setAside: { tool: string; reasons: ToolListing['setAside'][number]['reasons'] }[] = [];
      for (const raw of items) {
        const read = definitionFromMcp(server, raw, { trustAnnotations: server.trustAnnotations });
        if ('setAside' in read) {
          setAside.push({ tool: read.name, reasons: read.setAside });
          continue;
        }
        const refused = connection.refuseTool?.(raw);
        if (refused) {
          setAside.push({ tool: read.tool.ref.tool, reasons: [refused] });
          continue;
        }
        const preview = previews.get(read.tool.ref.tool);
        tools.push(preview ? { ...read.tool, preview: configured(preview) } : read.tool);
      }
      if (reasons.length > 0) setAside.push({ tool: '*', reasons });
      return { tools, setAside };
    },
    async call(tool: string, args: Json, ctx: CallContext): Promise<SourceResult> {
      if (!isObject(args)) {
        return {
          kind: 'failure',
          failure: {
            category: 'validation',
            retryable: false,
            message: `The arguments of ${tool} must be a JSON object.`,
            executed: 'not_executed',
            attempts: [],
          },
        };
      }
      const leg = secondLeg(ctx.answers);
      if ('failure' in leg) return { kind: 'failure', failure: leg.failure };
      const params: JsonObject = { name: tool, arguments: args, ...leg.params, ...withTrace(ctx.trace) };
      try {
        return resultOf(tool, await connection.request('tools/call', params, ctx));
      } catch (error) {
        return urlRequired(error) ?? { kind: 'failure', failure: failureOf(error, tool) };
      }
    },
    onChange: (listener) =>
      onListChanges(connection, CHANGES, listener, () => {
        changeDue = true;
      }),
    changeDue: () => changeDue,
  };
}

/** The parent of whatever the server does, under the names that MCP keeps for it in `_meta`. */
function withTrace(trace: CallContext['trace']): { readonly _meta?: JsonObject } {
  return trace ? { _meta: { ...trace } } : {};
}
