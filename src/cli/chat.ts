import type { AgentOptions } from '../agent/index.ts';
import type { Identity } from '../contracts/index.ts';
import { allRecorders } from '../dispatch/index.ts';
import { MAIN_AGENT, terminalAsker } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { approvalInbox } from './approval-inbox.ts';
import type { ChatContext } from './chat/chat-context.ts';
import { ChatSession } from './chat/chat-session.ts';
import { chooseSession, resumeSession } from './chat/commands.ts';
import { openKeyboard } from './chat/keyboard.ts';
import { lineEditor } from './chat/line-editor.ts';
import { pipeLoop } from './chat/pipe-loop.ts';
import { openScreen } from './chat/screen.ts';
import { sessionRules } from './chat/session-rules.ts';
import { findSession, listSessions, sessionsDir } from './chat/sessions.ts';
import { type TerminalLoop, terminalLoop } from './chat/terminal-loop.ts';
import { turnView } from './chat/turn-view.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { closingOnAbort, interruptible } from './interrupt.ts';
import { namesWithoutTools, noticing } from './names-without-tools.ts';
import { openAudit } from './open-audit.ts';
import { openTelemetry } from './open-telemetry.ts';
import { flag, numberOption, stringOption } from './parse.ts';
import { personInput } from './person-input.ts';
import { cutShort, readyMs, requireServers, stillStarting } from './ready.ts';
import { chosenModel, hiddenByPlan, modelFor, runId, systemFor, unstored } from './run.ts';
import { stateLedger, stateStore } from './state-store.ts';
import { styleFor } from './style.ts';
import { subagentOptions } from './subagents.ts';
import { toolSearchOption } from './tool-search-option.ts';
import { tracesDir } from './traces.ts';
import { isAttended, openWorkspace, reasonLine, type Workspace } from './workspace.ts';

/** `bridle chat [--continue | --resume [ID]]`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [id] = parsed.positionals;
  if (id !== undefined && !flag(parsed, 'resume')) {
    throw new BridleError('usage', `'bridle chat' takes no '${printable(id)}'.`, {
      hint: 'What you want to say is asked for. An id of a session goes with --resume.',
    });
  }
  if (flag(parsed, 'resume') && flag(parsed, 'continue')) {
    throw new BridleError('usage', 'Give either --resume or --continue.');
  }
  // Before any server is started for it.
  if (id !== undefined) await findSession(sessionsDir(io), id);
  return isAttended(io) ? atTerminal(parsed, io) : inPipe(parsed, io);
}

/** What the options say, read before anything is started. */
async function settings(parsed: ParsedCommand, io: CommandIo) {
  const turns = numberOption(parsed, 'max-turns');
  const name = stringOption(parsed, 'agent') ?? MAIN_AGENT;
  const who: Identity = { agent: name, via: 'terminal' };
  return {
    chosen: await chosenModel(parsed, io),
    who,
    limitsFor: (agent: Workspace['agent']) => {
      const most = turns ?? agent?.maxTurns;
      return most === undefined ? {} : { turns: most };
    },
    waitMs: readyMs(parsed, io),
    search: toolSearchOption(parsed),
  };
}

async function atTerminal(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const { chosen, who, limitsFor, waitMs, search } = await settings(parsed, io);
  const style = styleFor(io.stderr, io.env);
  const screen = openScreen(io);
  let loop: TerminalLoop | undefined;
  const wait = cutShort();
  const interrupt = () => loop?.interrupt() === true || wait.interrupt();
  // At once, so that what a question was about doesn't go on meanwhile. Before the loop it ends the wait for servers, and
  // where nothing is waited for it is the signal that stops all.
  const raise = () => {
    if (!interrupt()) process.kill(process.pid, 'SIGINT');
  };
  const keyboard = openKeyboard(io.stdin, raise);
  const editor = lineEditor({
    keyboard,
    screen,
    output: io.stderr,
    marksPastes: io.env.TERM !== 'dumb',
    onInterrupt: raise,
  });
  const work = async (signal: AbortSignal): Promise<number> => {
    const workspace = await openWorkspace(parsed, io, signal, { prompter: editor });
    const audit = await openAudit(workspace, io, who);
    const told = openTelemetry(workspace, io, (text) => screen.lines(`${style.yellow('warning:')} ${printable(text)}`));
    const view = turnView(screen, style, true);
    const state = stateStore(io);
    const inbox = approvalInbox(io, workspace.project.root, state);
    const rules = sessionRules(workspace.project.layers, workspace.compiled.mode, workspace.project.root);
    const { policy, seen } = noticing(workspace.narrow(rules.policy));
    const agent: ChatAgent = {
      name: who.agent,
      via: 'terminal',
      sources: workspace.sources,
      views: workspace.views.set,
      policy,
      asker: inbox.asker({
        person: terminalAsker({ prompter: editor, always: rules.always, alwaysHere: inbox.always }),
      }),
      hooks: workspace.hooks,
      idempotency: stateLedger(state),
      input: workspace.input,
      system: systemFor(workspace.project.root, workspace.agent),
      sourceNotes: workspace.instructions,
      limits: limitsFor(workspace.agent),
      ...(search !== undefined && { toolSearch: search }),
      recorder: allRecorders(audit.recorder, view.recorder, told.recorder),
      ...subagentOptions(parsed, workspace, { dir: tracesDir(io), run: runId(), isModelFlag: chosen.isFlag }),
      ready: { ms: waitMs, enough: wait.enough },
    };
    const { root } = workspace.project;
    const dir = sessionsDir(io);
    let session: ChatSession | undefined;
    try {
      const { model, isDefault } = await modelFor(workspace.agent, chosen);
      wait.begin();
      if (workspace.servers.length > 0) screen.lines(style.dim('starting the servers… (Ctrl-C begins without them)'));
      const opened = await closingOnAbort(signal, workspace.close, () =>
        ChatSession.open({ agent, dir, project: root }, model),
      );
      session = opened;
      audit.follow({ agent: () => opened.agent, policy, version: rules.version });
      wait.over();
      workspace.lend(() => opened.agent.model);
      signal.throwIfAborted();
      void workspace.content.refresh(signal);
      const readiness = opened.agent.catalog.readiness();
      requireServers(parsed, readiness, workspace.project.notStarted);
      for (const reason of [
        ...opened.agent.catalog.problems(),
        ...opened.agent.warnings(),
        ...stillStarting(readiness),
        ...workspace.notes(),
        ...hiddenByPlan(workspace, opened.agent),
        ...namesWithoutTools(workspace, opened.agent.catalog, who, seen),
      ]) {
        screen.lines(`${style.yellow('warning:')} ${reasonLine(reason)}`);
      }
      workspace.instructions();
      workspace.tell(
        (text) => screen.lines(style.dim(text)),
        (reason) => screen.lines(`${style.yellow('warning:')} ${reasonLine(reason)}`),
      );
      const chat: ChatContext = {
        session: opened,
        workspace,
        input: personInput({
          workspace,
          who,
          input: workspace.input,
          recorder: allRecorders(audit.recorder, opened.questions),
          conversation: () => opened.conversation,
          tool: (name) => opened.agent.catalog.find(name)?.tool,
          prompter: editor,
          note: (text) => screen.lines(style.dim(text)),
        }),
        policy,
        who,
        view,
        style,
        sessionsDir: dir,
        project: root,
        prompter: editor,
        say: (text) => screen.lines(text),
        print: (text) => screen.verbatim(text),
        columns: () => screen.columns(),
      };
      banner(chat, isDefault);
      await goOn(parsed, chat, signal);
      loop = terminalLoop({ chat, editor, screen, env: io.env, signal });
      return await loop.run();
    } finally {
      loop = undefined;
      await session?.close();
      await audit.close();
      if ((session?.lost ?? 0) > 0)
        screen.lines(style.yellow(`${session?.lost} lines of this session could not be written`));
      await inbox.close();
      await Promise.all([workspace.close(), told.close(signal)]);
    }
  };
  try {
    return await interruptible(work, io, (name) => name === 'SIGINT' && interrupt());
  } finally {
    keyboard.close();
  }
}

type ChatAgent = Omit<AgentOptions, 'model' | 'askUser'>;

async function inPipe(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const { chosen, who, limitsFor, waitMs, search } = await settings(parsed, io);
  if (flag(parsed, 'resume') && parsed.positionals.length === 0) {
    throw new BridleError('usage', '--resume needs the id of a session where nobody can be asked.', {
      hint: '--continue takes the last one of this folder.',
    });
  }
  const style = styleFor({ isTTY: false }, {});
  const screen = openScreen(io, Number.POSITIVE_INFINITY);
  return interruptible(async (signal) => {
    const workspace = await openWorkspace(parsed, io, signal);
    const state = stateStore(io);
    const inbox = approvalInbox(io, workspace.project.root, state);
    const audit = await openAudit(workspace, io, who);
    const told = openTelemetry(workspace, io, (text) => screen.lines(`warning: ${printable(text)}`));
    const view = turnView(screen, style, false);
    const { policy, seen } = noticing(workspace.compiled.policy);
    const agent: ChatAgent = {
      name: who.agent,
      via: 'terminal',
      sources: workspace.sources,
      views: workspace.views.set,
      policy,
      asker: inbox.asker(unstored(workspace)),
      hooks: workspace.hooks,
      idempotency: stateLedger(state),
      input: workspace.input,
      system: systemFor(workspace.project.root, workspace.agent),
      sourceNotes: workspace.instructions,
      limits: limitsFor(workspace.agent),
      ...(search !== undefined && { toolSearch: search }),
      recorder: allRecorders(audit.recorder, view.recorder, told.recorder),
      ...subagentOptions(parsed, workspace, { dir: tracesDir(io), run: runId(), isModelFlag: chosen.isFlag }),
      ready: { ms: waitMs },
    };
    const { root } = workspace.project;
    const dir = sessionsDir(io);
    let session: ChatSession | undefined;
    try {
      const { model } = await modelFor(workspace.agent, chosen);
      const opened = await closingOnAbort(signal, workspace.close, () =>
        ChatSession.open({ agent, dir, project: root }, model),
      );
      session = opened;
      workspace.lend(() => opened.agent.model);
      audit.follow({ agent: () => opened.agent, policy, version: () => workspace.compiled.version });
      signal.throwIfAborted();
      void workspace.content.refresh(signal);
      const { catalog } = opened.agent;
      requireServers(parsed, catalog.readiness(), workspace.project.notStarted);
      for (const reason of [
        ...catalog.problems(),
        ...stillStarting(catalog.readiness()),
        ...workspace.notes(),
        ...namesWithoutTools(workspace, catalog, who, seen),
      ])
        screen.lines(`warning: ${reasonLine(reason)}`);
      workspace.instructions();
      workspace.tell(
        (text) => screen.lines(style.dim(text)),
        (reason) => screen.lines(`${style.yellow('warning:')} ${reasonLine(reason)}`),
      );
      const chat: ChatContext = {
        session: opened,
        workspace,
        input: personInput({
          workspace,
          who,
          input: workspace.input,
          recorder: allRecorders(audit.recorder, opened.questions),
          conversation: () => opened.conversation,
          tool: (name) => opened.agent.catalog.find(name)?.tool,
          prompter: undefined,
          note: (text) => screen.lines(text),
        }),
        policy,
        who,
        view,
        style,
        sessionsDir: dir,
        project: root,
        prompter: undefined,
        say: (text) => screen.lines(text),
        print: (text) => screen.verbatim(text),
        columns: () => 80,
      };
      await goOn(parsed, chat, signal);
      return await pipeLoop(chat, io.stdin, signal);
    } finally {
      await session?.close();
      await audit.close();
      await inbox.close();
      await Promise.all([workspace.close(), told.close(signal)]);
    }
  }, io);
}

/** `--continue` and `--resume`. */
async function goOn(parsed: ParsedCommand, chat: ChatContext, signal: AbortSignal): Promise<void> {
  const [id] = parsed.positionals;
  if (flag(parsed, 'continue')) {
    const [last] = await listSessions(chat.sessionsDir, chat.project);
    if (last) await resumeSession(last, chat);
    else chat.say('There is no chat of this folder to go on with; this one begins anew.');
  } else if (flag(parsed, 'resume')) {
    const chosen = id === undefined ? await chooseSession(chat, signal) : await findSession(chat.sessionsDir, id);
    if (chosen) await resumeSession(chosen, chat);
  }
}

function banner({ session, workspace, say, style }: ChatContext, isDefault: boolean): void {
  const { agent } = session;
  const count = (all: number, what: string) => `${all} ${what}${all === 1 ? '' : 's'}`;
  const servers = count(workspace.servers.length, 'server');
  const what = isDefault ? 'the offline planner, no language model (/model claude-… for a real one)' : agent.model.id;
  say(style.dim(`model: ${printable(what)}`));
  say(style.dim(`${servers}, ${count(agent.tools().length, 'tool')}; /help for what can be done, Ctrl-D to leave`));
}
