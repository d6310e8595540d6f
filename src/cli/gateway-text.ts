import type { Gateway, GatewayStatus } from '../gateway/index.ts';
import { printable } from '../tools/index.ts';
import { counted } from './counted.ts';
import type { GatewaySettings } from './gateway-file.ts';
import { columns } from './help.ts';
import type { styleFor } from './style.ts';

type Style = ReturnType<typeof styleFor>;

export interface ServedGateway {
  readonly url: string;
  readonly gateway: Gateway;
  readonly settings: GatewaySettings;
  /** Where health and metrics are told. */
  readonly operations?: string;
}

export function servedJson({ url, gateway, settings, operations }: ServedGateway): object {
  const { servers } = gateway.status();
  const agents = [...settings.agents.keys()].map((agent) => ({ agent, tools: toolsOf(gateway, agent) }));
  const { key } = settings;
  return { type: 'served', url, ...(operations && { operations }), ...(key !== undefined && { key }), servers, agents };
}

/** What a person has to know of a gateway that has begun: where it is, who may call, and what is missing. */
export function servedText({ url, gateway, settings, operations }: ServedGateway, style: Style): string {
  const { servers } = gateway.status();
  const agents = [...settings.agents.keys()];
  const told = operations === undefined ? [] : [style.dim(`${operations}: /healthz, /readyz, /metrics`)];
  const lines = [style.bold(url), ...told, '', ...serverLines(servers, style)];
  if (settings.key === undefined) {
    lines.push(
      '',
      ...columns(agents.map((agent) => [printable(agent), counted(toolsOf(gateway, agent), 'tool')] as const)),
    );
    return [...lines, '', style.dim('Ctrl-C ends it.'), '', ''].join('\n');
  }
  const header = `Authorization: Bearer ${settings.key}`;
  const entry = { type: 'http', url, headers: { Authorization: `Bearer ${settings.key}` } };
  return [
    ...lines,
    '',
    `For you alone, with ${counted(toolsOf(gateway, agents[0] ?? ''), 'tool')} under your rules. To paste:`,
    '',
    `claude mcp add --transport http bridle ${url} --header "${header}"`,
    `or into a .mcp.json: {"mcpServers": {"bridle": ${JSON.stringify(entry)}}}`,
    '',
    style.dim(
      "The key is new each time. For several agents with rules of their own: 'bridle gateway key NAME'. Ctrl-C ends it.",
    ),
    '',
    '',
  ].join('\n');
}

export interface AgentView {
  readonly agent: string;
  readonly keys: number;
  readonly tools: readonly { readonly name: string; readonly decision: string }[];
}

export function checkText(
  { servers, agents }: Pick<GatewayStatus, 'servers'> & { readonly agents: readonly AgentView[] },
  style: Style,
): string {
  const lines = [...serverLines(servers, style)];
  for (const { agent, keys, tools } of agents) {
    const what = `${counted(keys, 'key')}, ${counted(tools.length, 'tool')}`;
    lines.push('', `${style.bold(printable(agent))}  ${style.dim(what)}`);
    lines.push(...columns(tools.map(({ name, decision }) => [printable(name), decision] as const)));
  }
  return `${lines.join('\n')}\n`;
}

function serverLines(servers: GatewayStatus['servers'], style: Style): string[] {
  return columns(
    servers.map(({ server, state, tools }) => [
      printable(server),
      state === 'ready' ? counted(tools, 'tool') : style.yellow(state === 'waiting' ? 'still starting' : 'failed'),
    ]),
  );
}

function toolsOf({ host, identity }: Gateway, agent: string): number {
  return host.list(identity(agent)).length;
}
