import { relative } from 'node:path';
import { type AgentFile, type ListedAgent, loadProject, MAIN_AGENT, visibleText } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { agentNamed } from './agent-option.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { columns } from './help.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';
import { reasonLine } from './workspace.ts';

/** `bridle agents list` and `bridle agents show <name>`. Starts nothing and asks nobody. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [verb, name] = parsed.positionals;
  if ((verb !== 'list' && verb !== 'show') || (verb === 'list') !== (name === undefined)) {
    throw new BridleError('usage', `There is no 'bridle agents ${printable(parsed.positionals.join(' '))}'.`, {
      hint: "It is 'bridle agents list' or 'bridle agents show NAME'.",
    });
  }
  const project = await loadProject({ cwd: io.cwd, env: io.env, untrusted: 'leave' });
  if (name === undefined) list(project.agents, project.root, parsed, io);
  else show(theOne(name, project), parsed, io);
  return 0;
}

function list(agents: readonly ListedAgent[], root: string, parsed: ParsedCommand, io: CommandIo): void {
  if (flag(parsed, 'json')) {
    printJson(io, { agents: agents.map(shown) }, 2);
    return;
  }
  const style = styleFor(io.stdout, io.env);
  if (agents.length === 0) {
    io.stdout.write('No agents. A file in .claude/agents, or in ~/.claude/agents, describes one.\n');
    return;
  }
  const rows = agents.flatMap(({ agent, state }): [string, string][] =>
    agent && state !== 'refused'
      ? [
          [
            printable(agent.name),
            `${state.padEnd(9)}  ${agent.scope.padEnd(7)}  ${toolsShown(agent)}  ${printable(firstLine(agent), { maxLength: 60 })}`,
          ],
        ]
      : [],
  );
  if (rows.length > 0) io.stdout.write(`${columns(rows).join('\n')}\n`);
  const notes = agents.flatMap(({ agent, source, reasons }) =>
    [...reasons, ...(agent?.warnings ?? [])].map((reason) => ({ source, reason })),
  );
  for (const { source, reason } of notes) {
    const way = relative(root, source.file);
    io.stdout.write(
      `${style.yellow('note:')} ${printable(way.startsWith('..') ? source.file : way)}: ${printable(reason.text)}\n`,
    );
  }
}

/** Of several files with the name the one that is used, else the first. @throws BridleError `agent_unknown` */
function theOne(name: string, { agents }: { readonly agents: readonly ListedAgent[] }): ListedAgent {
  const found = agents.filter(({ agent }) => agent?.name === name);
  const one = found.find(({ state }) => state === 'ready') ?? found[0];
  if (one) return one;
  agentNamed(name, { agents });
  if (name === MAIN_AGENT) agentNamed('', { agents });
  throw new BridleError('agent_unknown', `There is no agent "${printable(name)}".`);
}

function show(one: ListedAgent, parsed: ParsedCommand, io: CommandIo): void {
  const { agent } = one;
  if (flag(parsed, 'json') || !agent) {
    printJson(io, { ...shown(one), ...(agent && { instructions: agent.instructions }) }, 2);
    return;
  }
  const style = styleFor(io.stdout, io.env);
  const rows: [string, string][] = [
    ['file', printable(agent.source.file)],
    ['scope', agent.scope],
    ['state', one.state],
    ['tools', toolsShown(agent)],
    ...(agent.except.length > 0 ? [['without', printable(agent.except.join(', '))] as [string, string]] : []),
    ...(agent.model === undefined ? [] : [['model', printable(agent.model)] as [string, string]]),
    ...(agent.mode === undefined ? [] : [['mode', agent.mode] as [string, string]]),
    ...(agent.agents.length > 0 ? [['starts', printable(agent.agents.join(', '))] as [string, string]] : []),
    ...(agent.maxTurns === undefined ? [] : [['turns', `at most ${agent.maxTurns}`] as [string, string]]),
  ];
  io.stdout.write(`${style.bold(printable(agent.name))}: ${printable(agent.description)}\n`);
  io.stdout.write(`${columns(rows).join('\n')}\n`);
  for (const reason of [...one.reasons, ...agent.warnings])
    io.stdout.write(`${style.yellow('note:')} ${reasonLine(reason)}\n`);
  io.stdout.write(`\n${visibleText(agent.instructions, { newlines: true })}\n`);
}

function toolsShown({ tools }: AgentFile): string {
  return tools.kind === 'named' ? printable(tools.patterns.join(', ')) : tools.kind === 'inherit' ? 'all' : 'none';
}

function firstLine({ description }: AgentFile): string {
  return description.split('\n')[0] ?? '';
}

function shown({ agent, source, state, reasons }: ListedAgent) {
  if (!agent) return { file: source.file, state, reasons };
  const { name, description, scope, tools, except, agents, model, mode, maxTurns, hash, warnings } = agent;
  return {
    name,
    description,
    scope,
    file: source.file,
    state,
    tools: tools.kind === 'named' ? tools.patterns : tools.kind,
    except,
    ...(agents.length > 0 && { agents }),
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(maxTurns !== undefined && { maxTurns }),
    hash,
    reasons,
    warnings,
  };
}
