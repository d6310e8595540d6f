import { MAIN_AGENT } from '../host/index.ts';
import { type CatalogHandle, createCatalog } from '../catalog/index.ts';
import type { Decision, Identity, ToolDefinition } from '../contracts/index.ts';
import { withViews } from '../policy/index.ts';
import { BridleError, planStrict, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { columns } from './help.ts';
import { interruptible } from './interrupt.ts';
import { namesWithoutTools, noticing } from './names-without-tools.ts';
import { noServers } from './no-servers.ts';
import { flag, stringOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { strictJson, strictSummary } from './strict-lines.ts';
import { styleFor } from './style.ts';
import { openWorkspace, reasonLine, type Workspace, warn } from './workspace.ts';

/** `bridle tools list`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [verb] = parsed.positionals;
  if (verb !== 'list') {
    throw new BridleError('usage', `There is no 'bridle tools ${printable(verb ?? '')}'.`, {
      hint: "It is 'bridle tools list'.",
    });
  }
  return withCatalog(parsed, io, async ({ catalog, workspace, who }) => {
    const tools = catalog.list(who).map((tool) => ({ tool, decision: decisionFor(workspace, who, tool) }));
    if (flag(parsed, 'json')) {
      printJson(io, await listing(tools, catalog, workspace), 2);
      return 0;
    }
    const style = styleFor(io.stdout, io.env);
    if (tools.length === 0) io.stdout.write(`${['No tools.', noServers(workspace.project) ?? ''].join(' ').trim()}\n`);
    const width = shownWidth(io, tools);
    const rows: (readonly [string, string])[] = [];
    for (const { tool, decision } of tools) {
      const effect = (await decision).effect;
      const first = tool.description.split('\n')[0] ?? '';
      rows.push([printable(tool.ref.name), `${effect.padEnd(5)}  ${printable(first, { maxLength: width })}`]);
    }
    if (rows.length > 0) io.stdout.write(`${columns(rows).join('\n')}\n`);
    if (flag(parsed, 'strict') && tools.length > 0) {
      const plan = planStrict(
        tools.map(({ tool }) => tool),
        'auto',
      );
      io.stdout.write(`\n${strictSummary(plan).join('\n')}\n`);
    }
    const aside = catalog.setAside();
    if (aside.length > 0) io.stdout.write(`\n${style.yellow('Set aside:')}\n`);
    for (const { server, tool, reasons } of aside) {
      const name = printable(server === null ? tool : `${server}/${tool}`);
      for (const reason of reasons) io.stdout.write(`  ${name}: ${reasonLine(reason)}\n`);
    }
    return 0;
  });
}

/** How much of a description is shown: in a terminal what its line has room for, beside the name and the decision. */
function shownWidth(io: CommandIo, tools: readonly { readonly tool: ToolDefinition }[]): number {
  if (!io.stdout.isTTY || !io.stdout.columns) return 90;
  const names = Math.min(40, Math.max(...tools.map(({ tool }) => tool.ref.name.length)));
  return Math.max(20, io.stdout.columns - names - 11);
}

export interface OpenCatalog {
  readonly catalog: CatalogHandle;
  readonly workspace: Workspace;
  readonly who: Identity;
}

/** Starts the project's servers, lists their tools, and ends the servers after `use`. */
export async function withCatalog(
  parsed: ParsedCommand,
  io: CommandIo,
  use: (open: OpenCatalog) => Promise<number>,
): Promise<number> {
  return interruptible(async (signal) => {
    const workspace = await openWorkspace(parsed, io, signal, { pinning: 'look' });
    try {
      const { policy, seen } = noticing(workspace.compiled.policy);
      const catalog = createCatalog({ sources: workspace.sources, policy, views: workspace.views.set });
      await catalog.refresh(signal);
      signal.throwIfAborted();
      warn([...catalog.problems(), ...workspace.notes()], io);
      const who: Identity = { agent: stringOption(parsed, 'agent') ?? MAIN_AGENT, via: 'terminal' };
      warn(namesWithoutTools(workspace, catalog, who, seen, 'all'), io);
      // Looking pins nothing, so nothing new is told.
      workspace.tell(
        () => {},
        (reason) => warn([reason], io),
      );
      const status = await use({ catalog, workspace, who });
      catalog.close();
      return status;
    } finally {
      await workspace.close();
    }
  }, io);
}

/** What can be said of this tool's calls as long as there is none. */
async function decisionFor({ compiled }: Workspace, who: Identity, tool: ToolDefinition): Promise<Decision> {
  return withViews(compiled.policy).view(who, tool);
}

async function listing(
  tools: readonly { readonly tool: ToolDefinition; readonly decision: Promise<Decision> }[],
  catalog: CatalogHandle,
  workspace: Workspace,
) {
  const { choices } = planStrict(
    tools.map(({ tool }) => tool),
    'auto',
  );
  return {
    tools: await Promise.all(
      tools.map(async ({ tool, decision }, at) => ({
        name: tool.ref.name,
        server: tool.ref.server?.key ?? null,
        tool: tool.ref.tool,
        description: tool.description,
        effect: tool.effect,
        decision: (await decision).effect,
        strict: choices[at] ? strictJson(choices[at]) : null,
        inputSchema: tool.inputSchema,
      })),
    ),
    setAside: catalog.setAside(),
    problems: catalog.problems(),
    notStarted: workspace.project.notStarted,
  };
}
