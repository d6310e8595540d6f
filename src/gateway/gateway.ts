import {
  type CatalogOptions,
  contentHost,
  createCatalog,
  createContentCatalog,
  recordList,
  type SourceReadiness,
} from '../catalog/index.ts';
import type {
  Asker,
  ContentSource,
  Decision,
  IdempotencyLedger,
  Identity,
  Policy,
  Reason,
  Recorder,
  ServerInfo,
  Source,
  ToolDefinition,
  ToolHost,
} from '../contracts/index.ts';
import { createDispatcher } from '../dispatch/index.ts';
import { withViews } from '../policy/index.ts';
import { identifyBy, identityOf } from './agent-key.ts';
import { askedContent, askedSource } from './asked-sources.ts';
import { callGate } from './call-gate.ts';
import type { GatewayConfig } from './gateway-config.ts';
import { Rounds } from './rounds.ts';
import { type GatewayStatus, hasContentOf, statusContent, statusOf } from './status.ts';

/** One server behind the gateway. Whoever made it closes it. */
export interface GatewayServer {
  readonly source: Source;
  readonly content: ContentSource;
  /** Where it is, as its failures tell it behind its key: taken out of what clients are told. */
  readonly place?: string;
}

export interface GatewayOptions {
  readonly agents: GatewayConfig['agents'];
  readonly servers: readonly GatewayServer[];
  /** What each agent may see and call; see `agentPolicies`. */
  readonly policy: Policy;
  readonly asker: Asker;
  readonly recorder: Recorder;
  readonly views?: CatalogOptions['views'];
  readonly idempotency?: IdempotencyLedger;
  readonly info?: ServerInfo;
  /** Seals request states: several gateways with the same one take each other's. Default: random. */
  readonly secret?: string;
}

export interface Gateway {
  /** What is served to clients. */
  readonly host: ToolHost;
  /** Knows an agent by the key in its headers; see `serve`. */
  identify(headers: ReadonlyMap<string, string>): Promise<Identity | null>;
  /**
   * Starts the servers and lists what they have, waiting no longer than `ms`: one that takes longer, or comes back, joins
   * the lists when it is there. Never rejects.
   */
  ready(ms: number, signal: AbortSignal): Promise<void>;
  status(): GatewayStatus;
  /** How far each server is. */
  readiness(): readonly SourceReadiness[];
  /** An agent as it is known once its key was. */
  identity(agent: string): Identity;
  /** What is said of a tool's calls to this agent before there is one. */
  view(who: Identity, tool: ToolDefinition): Decision['effect'];
  /** Every tool there is, whoever may see it. */
  tools(): readonly ToolDefinition[];
  /** What keeps tools out of the lists, each with its reason. */
  problems(): readonly Reason[];
  /** From now on no call is let in; waits for those under way, at most `ms`. */
  drain(ms: number): Promise<void>;
  /** Ends what waits, and follows the servers no more. */
  close(): void;
}

const FAILED = 'It could not be listed. Whoever runs the gateway is told why.';

/** One endpoint in front of many servers, with a view of its own for each agent. */
export function createGateway(options: GatewayOptions): Gateway {
  const { agents, policy, recorder, servers, info, secret } = options;
  const rounds = new Rounds({ ...(secret !== undefined && { secret }) });
  const catalog = createCatalog({
    sources: servers.map(({ source, place }) => askedSource(source, rounds, place)),
    policy,
    ...(options.views && { views: options.views }),
  });
  const countTools = () => {
    const counts = new Map<string, number>();
    for (const { ref } of catalog.all()) {
      const key = ref.server?.key;
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  };
  const serverStatus = () => statusOf(catalog.readiness(), countTools());
  // Why a server fails, and what it printed, is for whoever runs the gateway.
  const publicStatus = () =>
    serverStatus().map(({ problem, ...each }) => ({ ...each, ...(problem !== undefined && { problem: FAILED }) }));
  const content = createContentCatalog({
    sources: [
      statusContent(agents, publicStatus),
      ...servers.map((each) => askedContent(each.content, rounds, each.place)),
    ],
  });
  const dispatcher = createDispatcher({
    find: catalog.find,
    policy,
    asker: options.asker,
    recorder,
    ...(options.idempotency && { idempotency: options.idempotency }),
  });
  const gate = callGate(dispatcher.call, agents);
  return {
    host: {
      list: catalog.list,
      find: catalog.shown,
      listed: (who, tools) => recordList(recorder, { catalog, policy }, who, () => tools),
      call: gate.call,
      onChange: catalog.onChange,
      content: contentHost(content, {
        visible({ server }, { agent }) {
          const known = agents.get(agent);
          return known !== undefined && (server === null || hasContentOf(known, server));
        },
      }),
      ...(info && { info }),
    },
    identify: identifyBy(agents.values()),
    async ready(ms, signal) {
      await Promise.all([catalog.ready({ ms, signal }), content.ready({ ms, signal })]);
    },
    status: () => ({
      servers: serverStatus(),
      agents: agents.size,
      calls: gate.counts(),
      waiting: rounds.waiting,
    }),
    readiness: catalog.readiness,
    identity: identityOf,
    view: (who, tool) => withViews(policy).view(who, tool).effect,
    tools: catalog.all,
    problems: () => [...catalog.problems(), ...catalog.setAside().flatMap(({ reasons }) => reasons)],
    drain: gate.drain,
    close() {
      rounds.close();
      catalog.close();
      content.close();
    },
  };
}
