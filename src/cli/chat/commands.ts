import { resolveModel } from '../../models/index.ts';
import { withViews } from '../../policy/index.ts';
import { type BridleError, isBridleError, printable } from '../../tools/index.ts';
import { columns } from '../help.ts';
import { lentLine } from '../lent-line.ts';
import { nearest } from '../nearest.ts';
import { toolHooks } from '../tool-hooks.ts';
import { reasonLine } from '../workspace.ts';
import type { ChatContext } from './chat-context.ts';
import { MCP_VERBS } from './completion.ts';
import type { ChatInput } from './input-line.ts';
import { mcpCommand } from './mcp-command.ts';
import { findSession, listSessions, type SessionSummary, sessionLine } from './sessions.ts';

type Command = Extract<ChatInput, { kind: 'command' }>;

interface ChatCommand {
  readonly usage: string;
  readonly help: string;
  /** @returns `leave` to end the chat */
  run(command: Command, chat: ChatContext, signal: AbortSignal): Promise<'leave' | undefined>;
}

const SHOWN_SESSIONS = 15;

const COMMANDS: ReadonlyMap<string, ChatCommand> = new Map<string, ChatCommand>([
  ['help', { usage: '/help', help: 'these commands', run: help }],
  [
    'mcp',
    {
      usage: `/mcp [${MCP_VERBS.join('|')} KEY]`,
      help: 'the servers and their state; restart one, switch one off or on',
      run: async ({ words }, chat, signal) => mcpCommand(words, chat, signal),
    },
  ],
  ['tools', { usage: '/tools', help: 'the tools, and what happens when the agent calls one', run: tools }],
  [
    'explain',
    { usage: '/explain NAME', help: 'where a tool comes from, and which rules and hooks decide over it', run: explain },
  ],
  ['show', { usage: '/show N', help: 'a call of this chat whole: arguments and result', run: show }],
  ['model', { usage: '/model [SPEC]', help: 'the model in use, or another from here on', run: model }],
  ['cost', { usage: '/cost', help: 'tokens and dollars of this session', run: cost }],
  ['clear', { usage: '/clear', help: 'begin anew; the agent forgets what was said', run: clear }],
  ['sessions', { usage: '/sessions', help: 'the chats that were had in this folder', run: sessions }],
  ['resume', { usage: '/resume [ID]', help: 'go on with one of them', run: resume }],
  ['exit', { usage: '/exit', help: 'leave; also Ctrl-D', run: async () => 'leave' }],
]);

export const COMMAND_NAMES: readonly string[] = [...COMMANDS.keys()];
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['?', 'help'],
  ['quit', 'exit'],
  ['q', 'exit'],
]);

/** Whether this is a prompt of a server; the chat's own commands go before. Throws when it can't be told which one. */
export async function isPrompt(name: string, entered: string, { input }: Pick<ChatContext, 'input'>): Promise<boolean> {
  return !COMMANDS.has(ALIASES.get(name) ?? name) && (await input.callsPrompt(entered));
}

/** Runs a command of the chat. What goes wrong in it is said, and the chat goes on. */
export async function runChatCommand(
  command: Command,
  chat: ChatContext,
  signal: AbortSignal,
): Promise<'leave' | undefined> {
  const name = ALIASES.get(command.name) ?? command.name;
  const found = COMMANDS.get(name);
  if (!found) {
    const near = nearest(name, COMMAND_NAMES);
    chat.say(`There is no /${printable(name)}.${near ? ` Did you mean /${near}?` : ''} /help shows what there is.`);
    return undefined;
  }
  try {
    return await found.run(command, chat, signal);
  } catch (error) {
    if (signal.aborted) chat.say('stopped');
    else sayError(error, chat);
    return undefined;
  }
}

export function sayError(error: unknown, { say, style }: Pick<ChatContext, 'say' | 'style'>): void {
  const known: BridleError | undefined = isBridleError(error) ? error : undefined;
  const message = error instanceof Error ? error.message : String(error);
  say(`${style.red(`error (${printable(known?.code ?? 'internal')}):`)} ${printable(message, { newlines: true })}`);
  if (known?.hint) say(`  ${printable(known.hint, { newlines: true })}`);
}

async function help(_: Command, { say }: ChatContext): Promise<undefined> {
  const rows = [...COMMANDS.values()].map(({ usage, help: what }) => [usage, what] as const);
  say(columns(rows).join('\n'));
  say(
    '\nA line that ends with \\ goes on in the next; pasted lines stay together. Tab completes.\n' +
      'Ctrl-C stops the agent, twice at an empty prompt it leaves. //x says "/x" to the agent.\n' +
      '@file and @server:uri put documents into what you say; /server:prompt asks for a prompt.',
  );
}

async function tools(_: Command, chat: ChatContext): Promise<undefined> {
  const { agent } = chat.session;
  const list = agent.tools();
  const policy = withViews(chat.policy);
  const rows = list.map((tool) => {
    const { effect } = policy.view(chat.who, tool);
    const first = tool.description.split('\n')[0] ?? '';
    return [printable(tool.ref.name), `${effect.padEnd(5)}  ${printable(first)}`] as const;
  });
  const width = chat.columns();
  const lines = rows.length > 0 ? columns(rows) : ['No tools. /mcp shows the servers.'];
  chat.say(lines.map((line) => printable(line, { maxLength: width, newlines: true })).join('\n'));
  for (const { server, tool, reasons } of agent.catalog.setAside()) {
    const name = printable(server === null ? tool : `${server}/${tool}`);
    for (const reason of reasons) chat.say(chat.style.dim(`set aside: ${name}: ${reasonLine(reason)}`));
  }
}

async function explain({ rest }: Command, chat: ChatContext): Promise<undefined> {
  if (rest === '') {
    chat.say('Name a tool: /explain NAME. Tab completes the name; /tools shows them.');
    return;
  }
  chat.say(chat.style.bold(printable(rest)));
  for (const reason of chat.session.agent.catalog.explain(rest, chat.who)) {
    chat.say(`  ${chat.style.dim(`${reason.room}:`)} ${reasonLine(reason)}`);
  }
  const found = chat.session.agent.catalog.find(rest);
  for (const { reason } of found ? await toolHooks(chat.workspace.project, found.tool) : []) {
    chat.say(`  ${chat.style.dim('hook:')} ${reasonLine(reason)}`);
  }
}

async function show({ rest }: Command, { say, print, view }: ChatContext): Promise<undefined> {
  const text = /^\d+$/.test(rest) ? view.call(Number(rest)) : undefined;
  if (text !== undefined) print(text);
  else if (view.calls === 0) say('There has been no call in this chat yet.');
  else say(`Give the number of a call, 1 to ${view.calls}: /show ${view.calls}`);
}

async function model({ rest }: Command, chat: ChatContext): Promise<undefined> {
  const { session, say } = chat;
  if (rest === '') {
    say(`model: ${printable(session.agent.model.id)}. Another: /model claude-…, openai:ID@URL, offline`);
    return;
  }
  const how = await session.useModel(await resolveModel(rest));
  const kept = how === 'kept' ? 'it has what was said so far' : "it can't read what was said, so this begins anew";
  say(`model: ${printable(session.agent.model.id)}${session.hasMessages || how !== 'kept' ? `; ${kept}` : ''}`);
}

async function cost(_: Command, { session, workspace, say }: ChatContext): Promise<undefined> {
  const { turns, calls, inputTokens, outputTokens, costUsd } = session.totals;
  const price = costUsd === undefined ? `no price is known for ${session.agent.model.id}` : `$${costUsd.toFixed(4)}`;
  const count = (all: number, what: string) => `${all} ${what}${all === 1 ? '' : 's'}`;
  say(
    `${count(turns, 'turn')}, ${count(calls, 'call')}, ${inputTokens} tokens in, ${outputTokens} out: ${printable(price)}`,
  );
  const lent = lentLine(workspace.lent());
  if (lent !== undefined) say(lent);
}

async function clear(_: Command, { session, input, say }: ChatContext): Promise<undefined> {
  const { id } = session;
  await session.clear();
  input.clear();
  say(id === null ? 'There was nothing to forget.' : `Begun anew. What was said before: /resume ${id}`);
}

async function sessions(_: Command, chat: ChatContext): Promise<undefined> {
  const all = await listSessions(chat.sessionsDir, chat.project);
  if (all.length === 0) chat.say('No chats were had in this folder yet.');
  for (const session of all.slice(0, SHOWN_SESSIONS)) chat.say(sessionLine(session, chat.columns()));
  if (all.length > SHOWN_SESSIONS) chat.say(chat.style.dim(`and ${all.length - SHOWN_SESSIONS} older ones`));
}

async function resume({ rest }: Command, chat: ChatContext, signal: AbortSignal): Promise<undefined> {
  const chosen = rest === '' ? await chooseSession(chat, signal) : await findSession(chat.sessionsDir, rest);
  if (chosen) await resumeSession(chosen, chat);
}

/** Lets the person choose among the sessions of this folder. */
export async function chooseSession(chat: ChatContext, signal: AbortSignal): Promise<SessionSummary | undefined> {
  const all = (await listSessions(chat.sessionsDir, chat.project)).slice(0, SHOWN_SESSIONS);
  if (all.length === 0) {
    chat.say('No chats were had in this folder yet.');
    return undefined;
  }
  const { prompter } = chat;
  if (!prompter) {
    chat.say('Name the session: /resume ID. /sessions shows them.');
    return undefined;
  }
  const width = chat.columns() - 4;
  for (const [at, session] of all.entries()) chat.say(`${String(at + 1).padStart(2)}. ${sessionLine(session, width)}`);
  const line = (await prompter.ask('Which one? A number; Enter for none: ', signal))?.trim() ?? '';
  const session = /^\d+$/.test(line) ? all[Number(line) - 1] : undefined;
  if (line !== '' && !session) chat.say('There is none of that number.');
  return session;
}

export async function resumeSession(session: SessionSummary, chat: ChatContext): Promise<void> {
  const { say, style } = chat;
  if (await chat.session.resume(session)) {
    chat.input.clear();
    const turns = `${session.turns} ${session.turns === 1 ? 'turn' : 'turns'}`;
    say(style.dim(`resumed ${printable(session.id)}, ${turns}: ${printable(session.task, { maxLength: 60 })}`));
  } else {
    say(
      `${printable(session.id)} holds what only ${printable(session.model)} can read: /model ${printable(session.model)} first.`,
    );
  }
}
