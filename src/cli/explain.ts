import { MAIN_AGENT } from '../host/index.ts';
import type { CatalogHandle } from '../catalog/index.ts';
import type { Decision, Json, ToolDefinition } from '../contracts/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { EXIT } from './exit-code.ts';
import { flag, stringOption } from './parse.ts';
import { agentFile, policyOfAgent } from './policy-cases.ts';
import { printJson } from './print-json.ts';
import { strictChoice, strictJson, strictLines } from './strict-lines.ts';
import { styleFor } from './style.ts';
import { toolHooks } from './tool-hooks.ts';
import { withCatalog } from './tools.ts';
import { reasonLine, type Workspace } from './workspace.ts';
import { whetherGiven } from './workspace-instructions.ts';

/** `bridle explain <tool>`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const name = parsed.positionals[0] ?? '';
  const args = readArgs(stringOption(parsed, 'args'));
  return withCatalog(parsed, io, async ({ catalog, workspace, who }) => {
    const found = catalog.find(name);
    const reasons = [
      ...catalog.explain(name, who),
      ...(found ? [workspace.pins.explain(found.tool) ?? []].flat() : []),
      ...workspace.servers.flatMap((server) =>
        found?.tool.ref.server?.key === server.key ? (whetherGiven(server, workspace.pins) ?? []) : [],
      ),
      ...workspace.project.notStarted.flatMap((server) =>
        name.includes(server.key)
          ? server.reasons.map((reason) => ({
              ...reason,
              text: `Server "${server.key}" is not started: ${reason.text}`,
            }))
          : [],
      ),
    ];
    const asked = stringOption(parsed, 'agent');
    const agents = found ? await forAgents(found.tool, args, workspace, asked) : [];
    const hooks = found ? await toolHooks(workspace.project, found.tool) : [];
    const strict = found && strictChoice(found.tool, catalog.list(who));
    if (flag(parsed, 'json')) {
      const definition = found ? found.tool.raw.parse() : null;
      const before = hooks.map(({ json }) => json);
      printJson(
        io,
        {
          name,
          found: found !== undefined,
          reasons,
          hooks: before,
          agents,
          strict: strict ? strictJson(strict) : null,
          definition,
        },
        2,
      );
    } else {
      const style = styleFor(io.stdout, io.env);
      io.stdout.write(`${style.bold(printable(name))}\n`);
      for (const reason of reasons) io.stdout.write(`  ${style.dim(`${reason.room}:`)} ${reasonLine(reason)}\n`);
      // What one agent's view says stands above; here it is for the call, and for the others.
      for (const { agent, effect, reasons: why } of args === undefined && agents.length === 1 ? [] : agents) {
        io.stdout.write(`  ${style.dim(`${printable(agent)}:`)} ${effect}\n`);
        for (const reason of why) io.stdout.write(`    ${reasonLine(reason)}\n`);
      }
      for (const line of strict ? strictLines(strict) : []) io.stdout.write(`  ${style.dim('strict:')} ${line}\n`);
      // What rules say of a call stands above; a hook may still say something else.
      for (const { reason } of hooks) io.stdout.write(`  ${style.dim('hook:')} ${reasonLine(reason)}\n`);
    }
    return isKnown(found, reasons) ? 0 : EXIT.failed;
  });
}

function isKnown(found: ReturnType<CatalogHandle['find']>, reasons: readonly { readonly code: string }[]): boolean {
  return found !== undefined || reasons.some(({ code }) => code !== 'unknown_tool');
}

/** @throws BridleError `usage` */
function readArgs(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    const hint = `As in --args '{"amount": 5}'.`;
    throw new BridleError('usage', `--args '${printable(text, { maxLength: 80 })}' is not JSON.`, { cause, hint });
  }
}

/** What the tool, or a call of it with these arguments and nothing else known, comes to for each agent. */
async function forAgents(
  tool: ToolDefinition,
  args: Json | undefined,
  { project, pins }: Pick<Workspace, 'project' | 'pins'>,
  asked: string | undefined,
) {
  const files = project.agents.flatMap(({ agent, state }) => (agent && state === 'ready' ? [agent.name] : []));
  const names = asked === undefined ? [...new Set([MAIN_AGENT, ...files])] : [asked];
  const found: ({ readonly agent: string } & Pick<Decision, 'effect' | 'reasons'>)[] = [];
  for (const agent of names) {
    const who = { agent, via: 'terminal' } as const;
    const policy = pins.wrap(policyOfAgent(agentFile(agent, project), project));
    const { effect, reasons } =
      args === undefined
        ? policy.view(who, tool)
        : await policy.decide(who, tool, { args, labels: new Set(['unknown']) });
    found.push({ agent, effect, reasons });
  }
  return found;
}
