import { once } from 'node:events';
import type { ServeHandle } from '../contracts/index.ts';
import { allRecorders } from '../dispatch/index.ts';
import {
  agentPolicies,
  createGateway,
  type Gateway,
  type GatewayMetrics,
  gatewayMetrics,
  newAgentKey,
  type Operations,
  serveOperations,
} from '../gateway/index.ts';
import { serve } from '../mcp/server/index.ts';
import { withHooks } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { approvalInbox } from './approval-inbox.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { callLines } from './gateway-calls.ts';
import { checkText, servedJson, servedText } from './gateway-text.ts';
import { type GatewaySettings, gatewayFile, gatewaySettings, stdioAgent } from './gateway-file.ts';
import { closingOnAbort, interruptible } from './interrupt.ts';
import { openAudit } from './open-audit.ts';
import { openTelemetry } from './open-telemetry.ts';
import { flag, stringOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { readyMs, requireServers, stillStarting } from './ready.ts';
import { stateLedger, stateStore } from './state-store.ts';
import { styleFor } from './style.ts';
import { version } from './version.ts';
import { openWorkspace, type Workspace, warn } from './workspace.ts';

/** How long calls under way are waited for when the gateway is to end, in milliseconds. */
const DRAIN_MS = 10_000;

/** `bridle gateway`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [verb] = parsed.positionals;
  if (verb === 'key') return makeKey(parsed, io);
  if (verb !== undefined) {
    throw new BridleError('usage', `There is no 'bridle gateway ${printable(verb)}'.`, {
      hint: "It is 'bridle gateway', or 'bridle gateway key NAME'.",
    });
  }
  const settings = await gatewaySettings(parsed, io);
  const waitMs = readyMs(parsed, io);
  const client = flag(parsed, 'stdio') ? stdioAgent(stringOption(parsed, 'as'), settings) : undefined;
  return interruptible(async (signal) => {
    const workspace = await openWorkspace(parsed, io, signal, { asksCallers: true });
    try {
      return await withGateway({ parsed, io, workspace, settings }, async ({ gateway, problems, metrics }) => {
        await closingOnAbort(signal, workspace.close, () => gateway.ready(waitMs, signal));
        if (signal.aborted) return 0;
        if (flag(parsed, 'check')) return await check(gateway, problems, { parsed, io, workspace, settings });
        requireServers(parsed, gateway.readiness(), workspace.project.notStarted);
        warn([...problems(), ...gateway.problems(), ...stillStarting(gateway.readiness())], io);
        const ended =
          client === undefined ? once(signal, 'abort') : Promise.race([once(signal, 'abort'), stdinEnd(io)]);
        const operations = await operationsOf(gateway, metrics, settings);
        const handle = await serveGateway(gateway, settings, client);
        if (client === undefined) tellServed(handle, gateway, { parsed, io, workspace, settings, operations });
        if (!signal.aborted) await ended;
        await gateway.drain(DRAIN_MS);
        await Promise.all([handle.close(), operations?.close()]);
        return 0;
      });
    } finally {
      await workspace.close();
    }
  }, io);
}

interface Surroundings {
  readonly parsed: ParsedCommand;
  readonly io: CommandIo;
  readonly workspace: Workspace;
  readonly settings: GatewaySettings;
}

interface OpenGateway {
  readonly gateway: Gateway;
  /** What is wrong with the rules, and names that no tool has. */
  problems(): ReturnType<Gateway['problems']>;
  readonly metrics: GatewayMetrics;
}

/** Puts the project's rules, pins, hooks, views, approvals and audit behind one gateway, and closes them after `use`. */
async function withGateway(
  { parsed, io, workspace, settings }: Surroundings,
  use: (open: OpenGateway) => Promise<number>,
): Promise<number> {
  const { project, pins, hooks, views } = workspace;
  const rules = agentPolicies(settings, { layers: project.layers, root: project.root });
  const ruleProblems = await rules.ready();
  const state = stateStore(io);
  const inbox = approvalInbox(io, project.root, state);
  const audit = await openAudit(workspace, io, { agent: 'gateway', via: 'gateway' });
  const told = openTelemetry(workspace, io, (text) => warn([{ room: 'cli', code: 'telemetry', text }], io));
  const isCheck = flag(parsed, 'check');
  const metrics = gatewayMetrics();
  const gateway = createGateway({
    agents: settings.agents,
    servers: workspace.servers.map(({ source, content, connection }) => ({ source, content, place: connection.place })),
    policy: withHooks(pins.wrap(rules.policy), hooks),
    asker: inbox.asker({ park: { waitMs: 0 } }),
    recorder: allRecorders(
      isCheck ? undefined : audit.recorder,
      callLines(parsed, io),
      told.recorder,
      metrics.recorder,
    ),
    views: views.set,
    idempotency: stateLedger(state),
    info: { name: 'bridle-gateway', version: version() },
  });
  workspace.tell(
    () => {},
    (reason) => warn([reason], io),
  );
  try {
    const problems = () => {
      const isWhole = gateway.readiness().every(({ state }) => state === 'ready');
      return [...ruleProblems, ...(isWhole ? rules.unused(gateway.tools()) : [])];
    };
    return await use({ gateway, problems, metrics });
  } finally {
    gateway.close();
    await audit.close();
    await inbox.close();
    await told.close(AbortSignal.timeout(0));
  }
}

function serveGateway(gateway: Gateway, { host, port }: GatewaySettings, client?: string): Promise<ServeHandle> {
  if (client !== undefined) return serve(gateway.host, { stdio: true, who: gateway.identity(client) });
  return serve(gateway.host, { http: { host, port, identify: gateway.identify } });
}

async function operationsOf(
  gateway: Gateway,
  metrics: GatewayMetrics,
  { operations }: GatewaySettings,
): Promise<Operations | undefined> {
  if (!operations) return undefined;
  return serveOperations({ ...operations, status: gateway.status, metrics: () => metrics.text(gateway.status()) });
}

async function stdinEnd({ stdin }: CommandIo): Promise<void> {
  if (!stdin.readableEnded && !stdin.destroyed) await Promise.race([once(stdin, 'end'), once(stdin, 'close')]);
}

function tellServed(
  handle: ServeHandle,
  gateway: Gateway,
  { parsed, io, settings, operations }: Surroundings & { readonly operations: Operations | undefined },
): void {
  const served = { url: handle.url ?? '', gateway, settings, ...(operations && { operations: operations.url }) };
  if (flag(parsed, 'json')) printJson(io, servedJson(served));
  else io.stdout.write(servedText(served, styleFor(io.stdout, io.env)));
}

async function check(
  gateway: Gateway,
  problems: () => ReturnType<Gateway['problems']>,
  { parsed, io, workspace, settings }: Surroundings,
): Promise<number> {
  const found = [...problems(), ...gateway.problems(), ...stillStarting(gateway.readiness())];
  const notStarted = workspace.project.notStarted.filter(({ reasons }) =>
    reasons.some(({ code }) => code !== 'disabled'),
  );
  const agents = [...settings.agents.values()].map(({ name, keys }) => ({
    agent: name,
    keys: keys.length,
    tools: gateway.host.list(gateway.identity(name)).map((tool) => ({
      name: tool.ref.name,
      decision: gateway.view(gateway.identity(name), tool),
    })),
  }));
  const { servers } = gateway.status();
  if (flag(parsed, 'json')) printJson(io, { servers, agents, problems: found, notStarted }, 2);
  else {
    io.stdout.write(checkText({ servers, agents }, styleFor(io.stdout, io.env)));
    warn(found, io);
  }
  return found.length + notStarted.length === 0 ? 0 : 1;
}

/** `bridle gateway key NAME`. */
function makeKey(parsed: ParsedCommand, io: CommandIo): number {
  const name = parsed.positionals[1] ?? '';
  const { key, digest } = newAgentKey();
  const file = gatewayFile(parsed, io);
  if (flag(parsed, 'json')) {
    printJson(io, { agent: name, key, digest, file });
    return 0;
  }
  const { bold, dim } = styleFor(io.stdout, io.env);
  const entry = { agents: { [name]: { keys: [digest], allow: [] } } };
  io.stdout.write(
    [
      `The key of ${printable(name)}, shown this once:`,
      '',
      `  ${bold(key)}`,
      '',
      dim(`Its place in ${printable(file)}:`),
      JSON.stringify(entry, null, 2),
      '',
      '',
    ].join('\n'),
  );
  return 0;
}
