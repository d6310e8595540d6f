import type { SourceReadiness } from '../catalog/index.ts';
import { contentSource, defineResource, type OwnContent } from '../content/index.ts';
import type { Identity } from '../contracts/index.ts';
import { printable, wireServerPart } from '../tools/index.ts';
import { namedBy } from './agent-policies.ts';
import type { GateCounts } from './call-gate.ts';
import type { GatewayAgent } from './gateway-config.ts';

/** How a server stands. */
export interface ServerStatus {
  readonly server: string;
  /** `waiting`: it is still starting, or is listed. */
  readonly state: SourceReadiness['state'];
  readonly tools: number;
  /** Why it failed, or is waited for. */
  readonly problem?: string;
}

export interface GatewayStatus {
  readonly servers: readonly ServerStatus[];
  readonly agents: number;
  readonly calls: GateCounts;
  /** Calls that wait for their client to answer what their server asked. */
  readonly waiting: number;
}

const URI = 'bridle://gateway/status';

/**
 * A resource that tells an agent which of its servers are missing, so that a list that is short says why.
 *
 * @param status of all servers
 */
export function statusContent(
  agents: ReadonlyMap<string, GatewayAgent>,
  status: () => readonly ServerStatus[],
): OwnContent {
  const resource = defineResource({
    uri: URI,
    name: 'gateway-status',
    title: 'Servers of this gateway',
    description: 'Which of your servers are there, and why one is missing.',
    mimeType: 'application/json',
    read: ({ who }) => ({ text: JSON.stringify({ servers: status().filter(seenBy(agents, who)) }, null, 2) }),
  });
  return contentSource({ resources: [resource] });
}

function seenBy(agents: ReadonlyMap<string, GatewayAgent>, who: Identity): (one: ServerStatus) => boolean {
  const agent = agents.get(who.agent);
  return ({ server }) => agent !== undefined && (hasContentOf(agent, server) || namesServer(agent, server));
}

export function hasContentOf({ content }: GatewayAgent, server: string): boolean {
  return content === 'all' || content.includes(server);
}

/** Whether a rule that gives something names this server, whatever tools it has. */
function namesServer(agent: GatewayAgent, server: string): boolean {
  if (agent.seesAll) return true;
  const prefixes = [`mcp__${wireServerPart(server)}`, `mcp__${server}`];
  return namedBy(agent).some((name) => prefixes.some((each) => name === each || name.startsWith(`${each}__`)));
}

export function statusOf(readiness: readonly SourceReadiness[], tools: ReadonlyMap<string, number>): ServerStatus[] {
  return readiness.flatMap(({ server, state, problem }): ServerStatus[] => {
    if (server === null) return [];
    const count = tools.get(server.key) ?? 0;
    const why = problem && { problem: printable(problem.text, { maxLength: 500 }) };
    return [{ server: server.key, state, tools: count, ...why }];
  });
}
