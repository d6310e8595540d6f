/** A gateway in this process, in front of real servers, with real clients of either revision. */
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Asker, Json, Policy } from '../../src/contracts/index.ts';
import { nullRecorder, refuseAsker } from '../../src/dispatch/index.ts';
import {
  agentPolicies,
  createGateway,
  type Gateway,
  type GatewayOptions,
  keyDigest,
  readGatewayConfig,
} from '../../src/gateway/index.ts';
import { connectStdio, mcpContent, mcpSource, type StdioServer } from '../../src/mcp/client/index.ts';
import { serve } from '../../src/mcp/server/index.ts';

export const PARTS = fileURLToPath(new URL('fixture-server.mjs', import.meta.url));

/** What the gateway tells every server that it may be asked; a request says what its own caller answers. */
const CAPABILITIES: Record<string, Json> = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export interface World {
  readonly gateway: Gateway;
  readonly url: string;
  /** An official client of this revision, as this agent. */
  client(agent: string, revision: Revision, capabilities?: object): Promise<Client>;
  close(): Promise<void>;
}

export type Revision = '2025-11-25' | '2026-07-28';
export const REVISIONS: readonly Revision[] = ['2025-11-25', '2026-07-28'];

export function server(key: string, args: readonly string[], more: Partial<StdioServer> = {}): StdioServer {
  return { key, scope: 'code', command: process.execPath, args, ...more };
}

/**
 * @param agents as in the gateway's file, without keys: an agent's key is its name
 */
export async function world(
  servers: readonly StdioServer[],
  agents: Readonly<Record<string, Json>>,
  more: Partial<GatewayOptions> & { readonly asker?: Asker; readonly wrap?: (policy: Policy) => Policy } = {},
): Promise<World> {
  const named = Object.entries(agents).map(([name, rules]) => [
    name,
    { ...(rules as object), keys: [keyDigest(name)] },
  ]);
  const config = readGatewayConfig({ agents: Object.fromEntries(named) as Json }, 'gateway.json');
  const connections = servers.map((one) => connectStdio(one, { capabilities: CAPABILITIES, probeMs: 60_000 }));
  const { policy } = agentPolicies(config, { layers: [], root: '/' });
  const gateway = createGateway({
    agents: config.agents,
    servers: connections.map((each) => ({ source: mcpSource(each), content: mcpContent(each), place: each.place })),
    policy: more.wrap?.(policy) ?? policy,
    asker: refuseAsker(),
    recorder: nullRecorder(),
    ...more,
  });
  await gateway.ready(600_000, new AbortController().signal);
  const handle = await serve(gateway.host, { http: { port: 0, identify: gateway.identify } });
  const url = handle.url ?? '';
  const clients: Client[] = [];
  return {
    gateway,
    url,
    async client(agent, revision, capabilities = {}) {
      const mode = revision === '2026-07-28' ? ({ pin: revision } as const) : 'legacy';
      const one = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
      const headers = { authorization: `Bearer ${agent}` };
      await one.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      clients.push(one);
      return one;
    },
    async close() {
      await Promise.allSettled(clients.map((each) => each.close()));
      await handle.close();
      gateway.close();
      await Promise.all(connections.map((each) => each.close()));
    },
  };
}

/** The text of a result's first block. */
export function textOf(result: unknown): string {
  const [block] = (result as { content: { text: string }[] }).content;
  return block?.text ?? '';
}
