import type {
  CallContext,
  Connection,
  Failure,
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
import { McpError, messageOf } from './errors.ts';
import { listAll } from './list-all.ts';
import { isObject, rawMember } from './message.ts';
import { CODES } from './protocol.ts';
import type { CallLimits } from './server.ts';
import { secondLeg, urlRequired } from './url-required.ts';

export interface McpSourceOptions {
  /** Previews that the host's configuration maps to tools, by tool name; they stand above the server's own. */
  readonly previews?: ReadonlyMap<string, PreviewPlan>;
}

const LIST_IDLE_MS = 60_000;
const LIST_HARD_MS = 120_000;
/** How soon a change is told, and the longest it may take when changes don't stop. */
const COALESCE_MS = 100;
const MAX_COALESCE_MS = 10_000;

/** Codes that say that the request itself was wrong: another try with the same arguments gives the same answer. */
const REFUSED: ReadonlySet<number> = new Set([CODES.invalidParams, CODES.invalidRequest, CODES.unknownMethod]);

/** Codes that say that the server doesn't let us in. */
const NO_ENTRY: ReadonlySet<string> = new Set(['mcp_unauthorized', 'mcp_forbidden']);

function failureOf(error: unknown, tool: string): Failure {
  if (!(error instanceof McpError)) {
    return {
      category: 'transient',
      retryable: false,
      message: `The call of ${tool} failed: ${messageOf(error)}`,
      executed: 'unknown',
      attempts: [],
    };
  }
  const message = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  const validation = error.rpc !== undefined && REFUSED.has(error.rpc.code);
  return {
    category: validation ? 'validation' : NO_ENTRY.has(error.code) ? 'permission' : 'transient',
    retryable: error.passing,
    message,
    executed: error.executed,
    attempts: [],
    ...(error.rpc?.data && { partial: error.rpc.data }),
  };
}

/** A server of prompts or resources alone is in good order. */
function hasNoTools(error: unknown): boolean {
  return error instanceof McpError && error.rpc?.code === CODES.unknownMethod;
}

function readResult(tool: string, raw: RawJson): SourceResult {
  const result = raw.parse();
  const type = isObject(result) ? (result.resultType ?? 'complete') : undefined;
  if (!isObject(result) || (type !== 'complete' && type !== 'input_required')) {
    return {
      kind: 'failure',
      failure: {
        category: 'transient',
        retryable: false,
        message: `The server's answer to ${tool} is no tool result: ${type === undefined ? 'not an object' : `resultType ${JSON.stringify(type)}`}.`,
        executed: 'executed',
        attempts: [],
        partial: raw,
      },
    };
  }
  if (type === 'input_required') {
    const requests = rawMember(raw, 'inputRequests') ?? { text: '{}', parse: () => ({}) };
    return {
      kind: 'input_required',
      requests,
      ...(typeof result.requestState === 'string' && { state: result.requestState }),
    };
  }
  return { kind: 'result', raw, isError: result.isError === true };
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
      const params: JsonObject = { name: tool, arguments: args, ...leg.params };
      try {
        return readResult(tool, await connection.request('tools/call', params, ctx));
      } catch (error) {
        return urlRequired(error) ?? { kind: 'failure', failure: failureOf(error, tool) };
      }
    },
    onChange(listener) {
      // A storm of notifications is one change. Each change that follows soon is told later than the last one: some
      // servers say that their list changed whenever it is read.
      let timer: NodeJS.Timeout | null = null;
      let pause = COALESCE_MS;
      let toldAt = Number.NEGATIVE_INFINITY;
      const stop = connection.onNotification((method) => {
        if (method !== 'notifications/tools/list_changed') return;
        changeDue = true;
        if (timer) return;
        pause = Date.now() - toldAt < MAX_COALESCE_MS ? Math.min(pause * 2, MAX_COALESCE_MS) : COALESCE_MS;
        timer = setTimeout(() => {
          timer = null;
          toldAt = Date.now();
          listener();
        }, pause);
      });
      return () => {
        stop();
        if (timer) clearTimeout(timer);
      };
    },
    changeDue: () => changeDue,
  };
}
