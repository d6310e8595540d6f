import { printable } from '../../tools/index.ts';
import { reasonLine } from '../workspace.ts';
import { whetherGiven } from '../workspace-instructions.ts';
import type { WorkspaceServer } from '../workspace-server.ts';
import type { ChatContext } from './chat-context.ts';
import { MCP_VERBS } from './completion.ts';

/** `/mcp`: the state of each server; `/mcp reconnect|disable|enable KEY`. */
export async function mcpCommand(
  [verb, key, ...more]: readonly string[],
  chat: ChatContext,
  signal: AbortSignal,
): Promise<undefined> {
  if (verb === undefined) {
    list(chat);
    return;
  }
  if (!MCP_VERBS.some((known) => known === verb) || key === undefined || more.length > 0) {
    chat.say(`It is /mcp, or /mcp ${MCP_VERBS.join('|')} KEY.`);
    return;
  }
  const server = chat.workspace.servers.find((each) => each.key === key);
  if (!server) {
    notThere(key, chat);
    return;
  }
  if (verb === 'disable') await server.disable();
  else if (verb === 'enable' && server.isEnabled) chat.say(`${printable(key)} is enabled already.`);
  else {
    chat.say(chat.style.dim(`starting ${printable(key)}…`));
    await server.reconnect(signal);
  }
  await chat.session.refresh(signal);
  chat.say(stateLine(server, chat));
}

function list(chat: ChatContext): void {
  const { servers, project } = chat.workspace;
  if (servers.length === 0 && project.notStarted.length === 0) chat.say('No servers: there is no .mcp.json here.');
  for (const server of servers) {
    chat.say(stateLine(server, chat));
    if (!server.isEnabled) continue;
    for (const reason of server.connection.status().reasons) chat.say(chat.style.dim(`    ${reasonLine(reason)}`));
    const instructions = whetherGiven(server, chat.workspace.pins);
    if (instructions) chat.say(chat.style.dim(`    ${reasonLine(instructions)}`));
    for (const reason of problemsOf(server, chat)) chat.say(chat.style.dim(`    ${reason}`));
  }
  for (const { key, reasons } of project.notStarted) {
    chat.say(`${chat.style.yellow('○')} ${printable(key)}: not started`);
    for (const reason of reasons) chat.say(chat.style.dim(`    ${reasonLine(reason)}`));
  }
}

function stateLine(server: WorkspaceServer, { session, style }: ChatContext): string {
  const key = printable(server.key);
  if (!server.isEnabled) return `${style.yellow('○')} ${key}: disabled; /mcp enable ${key}`;
  const { state } = server.connection.status();
  const count = session.agent.tools().filter(({ ref }) => ref.server?.key === server.key).length;
  const mark = state === 'ready' ? style.green('●') : state === 'connecting' ? style.yellow('○') : style.red('●');
  const waited = session.agent.catalog.readiness().find((each) => each.server?.key === server.key);
  const since = waited?.state === 'waiting' ? `, starting since ${clock(waited.since)}` : '';
  const again = state === 'failed' ? `; /mcp reconnect ${key}` : '';
  return `${mark} ${key}: ${state.replaceAll('_', ' ')}, ${count} ${count === 1 ? 'tool' : 'tools'}${since}${again}`;
}

/** Local time of day. */
function clock(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** Why its tools could not be listed, where its connection says nothing of it. */
function problemsOf(server: WorkspaceServer, { session }: ChatContext): readonly string[] {
  const said = new Set(server.connection.status().reasons.map(({ code }) => code));
  return session.agent.catalog
    .setAside()
    .filter((aside) => aside.server === server.key && aside.tool === '*')
    .flatMap(({ reasons }) => reasons.filter(({ code }) => !said.has(code)).map(reasonLine));
}

function notThere(key: string, { workspace, say }: ChatContext): void {
  const left = workspace.project.notStarted.find((each) => each.key === key);
  if (!left) {
    const keys = workspace.servers.map((server) => printable(server.key)).join(', ');
    say(`There is no server "${printable(key)}" here${keys === '' ? '' : `; there are ${keys}`}.`);
    return;
  }
  say(`${printable(key)} can't be started from here:`);
  for (const reason of left.reasons) say(`  ${reasonLine(reason)}`);
}
