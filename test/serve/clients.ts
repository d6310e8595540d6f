import {
  Client as ModernSdkClient,
  StreamableHTTPClientTransport as ModernSdkHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernSdkStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacySdkClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacySdkStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacySdkHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** What the tests ask of a client, whichever SDK it is of. */
export interface TestClient {
  list(): Promise<readonly { name: string; [field: string]: unknown }[]>;
  call(
    name: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal; onprogress?: (progress: { progress: number }) => void },
  ): Promise<Record<string, unknown>>;
  revision(): string | undefined;
  /** What the server said of itself. */
  server(): { readonly name: string; readonly version: string } | undefined;
  close(): Promise<void>;
}

export type Kind = 'v1' | 'v2 legacy' | 'v2 auto' | 'v2 modern';
export const KINDS: readonly Kind[] = ['v1', 'v2 legacy', 'v2 auto', 'v2 modern'];
export const isModern = (kind: Kind) => kind === 'v2 auto' || kind === 'v2 modern';

export type Target =
  | { readonly url: string; readonly headers?: Record<string, string> }
  | { readonly script: string; readonly args?: readonly string[]; readonly env?: Record<string, string> };

type Answer = Record<string, string | boolean>;

export interface Hooks {
  onListChanged?(): void;
  /** The person's answer to a server that asks, by its message or to whatever it asks. */
  answer?: Answer | ((message: string) => Answer);
}

const INFO = { name: 'test', version: '1' };
const CAPABILITIES = { elicitation: {} };

function accepted({ answer = {} }: Hooks, message: string) {
  return { action: 'accept' as const, content: typeof answer === 'function' ? answer(message) : answer };
}

async function connectV1(target: Target, hooks: Hooks): Promise<TestClient> {
  const client = new LegacySdkClient(INFO, { capabilities: CAPABILITIES });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => hooks.onListChanged?.());
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => accepted(hooks, params.message));
  const transport =
    'url' in target
      ? new LegacySdkHttp(new URL(target.url), { requestInit: { headers: target.headers ?? {} } })
      : new LegacySdkStdio({
          command: process.execPath,
          args: [target.script, ...(target.args ?? [])],
          env: target.env ?? {},
          stderr: 'pipe',
        });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: args }, CallToolResultSchema, options),
    revision: () => undefined,
    server: () => client.getServerVersion(),
    close: () => client.close(),
  };
}

async function connectV2(kind: Kind, target: Target, hooks: Hooks): Promise<TestClient> {
  const mode = kind === 'v2 legacy' ? 'legacy' : kind === 'v2 auto' ? 'auto' : { pin: '2026-07-28' };
  const client = new ModernSdkClient(INFO, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode },
    listChanged: { tools: { onChanged: () => hooks.onListChanged?.(), autoRefresh: false, debounceMs: 0 } },
  });
  client.setRequestHandler('elicitation/create', ({ params }) => accepted(hooks, params.message));
  const transport =
    'url' in target
      ? new ModernSdkHttp(new URL(target.url), { requestInit: { headers: target.headers ?? {} } })
      : new ModernSdkStdio({
          command: process.execPath,
          args: [target.script, ...(target.args ?? [])],
          env: target.env ?? {},
          stderr: 'pipe',
        });
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    revision: () => client.getNegotiatedProtocolVersion(),
    server: () => client.getServerVersion(),
    close: () => client.close(),
  };
}

/** Connects an official client: v1 (2025-11-25), or v2 as a legacy, negotiating or modern-only one. */
export function connect(kind: Kind, target: Target, hooks: Hooks = {}): Promise<TestClient> {
  return kind === 'v1' ? connectV1(target, hooks) : connectV2(kind, target, hooks);
}
