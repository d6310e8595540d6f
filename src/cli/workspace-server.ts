import type { ContentSource, Reason, Source, ToolListing } from '../contracts/index.ts';
import type { ServerInstructions } from '../host/index.ts';
import type { McpSourceOptions } from '../mcp/client/index.ts';
import { type HttpConnection, mcpContent, mcpSource, type StdioConnection } from '../mcp/client/index.ts';
import { restartableContent } from './workspace-content.ts';

/** However the server is reached. */
export type ServerConnection = StdioConnection | HttpConnection;

/** A configured server that can be restarted, switched off and on again while an agent has its tools. */
export interface WorkspaceServer {
  readonly key: string;
  /** Stays the same over every restart. */
  readonly source: Source;
  /** Its resources and prompts; the same over every restart. */
  readonly content: ContentSource;
  readonly isEnabled: boolean;
  /** The connection in use. */
  readonly connection: ServerConnection;
  /** What it said of how to use its tools. */
  said(): ServerInstructions;
  /** Ends the server and starts it anew. Rejects with McpError when it doesn't start. */
  reconnect(signal: AbortSignal): Promise<void>;
  /** Ends the server; its tools are gone until it is enabled. */
  disable(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param connect makes a connection that has not started yet
 * @param options previews of the server's tools
 */
export function workspaceServer(
  key: string,
  connect: () => ServerConnection,
  options: McpSourceOptions,
): WorkspaceServer {
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  let isEnabled = true;
  let connection = connect();
  let inner = mcpSource(connection, options);
  let unfollow = inner.onChange(tell);
  const content = restartableContent(connection.server, disabled(key).text);
  content.use(mcpContent(connection));

  const replace = async () => {
    unfollow();
    content.use(null);
    await connection.close();
    connection = connect();
    inner = mcpSource(connection, options);
    unfollow = inner.onChange(tell);
    if (isEnabled) content.use(mcpContent(connection));
  };

  return {
    key,
    content,
    get isEnabled() {
      return isEnabled;
    },
    get connection() {
      return connection;
    },
    said: () => ({ server: connection.server, instructions: connection.about?.instructions }),
    source: {
      server: connection.server,
      limits: connection.limits,
      async list(signal): Promise<ToolListing> {
        return isEnabled ? inner.list(signal) : { tools: [], setAside: [{ tool: '*', reasons: [disabled(key)] }] };
      },
      async call(tool, args, ctx) {
        if (isEnabled) return inner.call(tool, args, ctx);
        const message = disabled(key).text;
        const executed = 'not_executed';
        return {
          kind: 'failure',
          failure: { category: 'permission', retryable: false, message, executed, attempts: [] },
        };
      },
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      changeDue: () => isEnabled && inner.changeDue?.() === true,
    },
    async reconnect(signal) {
      isEnabled = true;
      await replace();
      await connection.connect(signal);
      tell();
    },
    async disable() {
      isEnabled = false;
      await replace();
      tell();
    },
    close: () => connection.close(),
  };
}

function disabled(key: string): Reason {
  return { room: 'cli', code: 'server_disabled', text: `Server "${key}" was disabled in this session.` };
}
