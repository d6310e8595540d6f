import { join } from 'node:path';
import type { RunResult } from '../../agent/index.ts';
import { stateDir } from '../../store/index.ts';
import { printable } from '../../tools/index.ts';
import type { ChatContext } from './chat-context.ts';
import { COMMAND_NAMES, isPrompt, runChatCommand, sayError } from './commands.ts';
import { completeContent } from './complete-content.ts';
import type { CompletionContext } from './completion.ts';
import { type History, openHistory } from './history.ts';
import { readInput } from './input-line.ts';
import type { LineEditor } from './line-editor.ts';
import type { Screen } from './screen.ts';
import { sessionIds } from './sessions.ts';

/** A chat with the person at the terminal. */
export interface TerminalLoop {
  /** @returns the exit status */
  run(): Promise<number>;
  /** Ctrl-C where no prompt hears it: stops what goes on. True once there is a loop, which goes on in any case. */
  interrupt(): boolean;
}

export interface TerminalLoopOptions {
  readonly chat: ChatContext;
  readonly editor: LineEditor;
  readonly screen: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const MODEL_SPECS = ['offline', 'claude-', 'anthropic:', 'openai:'];

export function terminalLoop({ chat, editor, screen, env, signal }: TerminalLoopOptions): TerminalLoop {
  const { session, style } = chat;
  let current: AbortController | null = null;
  let options: readonly string[] = [];
  let isQuestion = false;
  let ids: readonly string[] = [];

  const completion: CompletionContext = {
    commands: COMMAND_NAMES,
    tools: () => session.agent.tools().map(({ ref }) => ref.name),
    // readline shows candidates as they are.
    servers: () => chat.workspace.servers.map(({ key }) => key).filter((key) => printable(key) === key),
    sessions: () => ids,
    models: MODEL_SPECS,
    content: (line) => completeContent(line, { catalog: chat.workspace.content, who: chat.who, root: chat.project }),
  };

  /** Runs something that Ctrl-C stops. */
  const stoppable = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const stop = new AbortController();
    current = stop;
    try {
      return await work(AbortSignal.any([stop.signal, signal]));
    } finally {
      current = null;
    }
  };

  const turn = async (text: string, isPlain: boolean): Promise<void> => {
    let startedAt = Date.now();
    const result: RunResult = await stoppable(async (stop) => {
      const said = await chat.input.compose(text, stop, isPlain);
      startedAt = Date.now();
      return session.send(text, { signal: stop, onProgress: (event) => chat.view.onProgress(event) }, said);
    });
    chat.view.ended(result, Date.now() - startedAt);
    isQuestion = result.end === 'asked';
    options = result.options ?? [];
  };

  const take = async (entered: string): Promise<'leave' | undefined> => {
    const input = readInput(entered);
    if (input.kind === 'nothing') return undefined;
    if (input.kind === 'command') {
      const prompted = await tried(() => isPrompt(input.name, entered, chat));
      if (prompted) await tried(() => turn(entered.trim(), false));
      if (prompted !== false) return undefined;
      const left = await stoppable((stop) => runChatCommand(input, chat, stop));
      // The question that stood is forgotten with the rest.
      if (!session.hasMessages) {
        isQuestion = false;
        options = [];
      }
      return left;
    }
    // The number of an option stands for it.
    const option = /^\d+$/.test(input.text) ? options[Number(input.text) - 1] : undefined;
    await tried(() => turn(option ?? input.text, input.isPlain));
    return undefined;
  };

  /** What goes wrong is said, and the chat goes on. */
  const tried = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      sayError(error, chat);
      return undefined;
    }
  };

  const listen = async (history: History): Promise<number> => {
    let warned = false;
    while (!signal.aborted) {
      ids = await sessionIds(chat.sessionsDir);
      const prompt = isQuestion ? 'answer> ' : '> ';
      const read = await editor.read({ prompt, signal, message: { history: history.lines, completion } });
      if (read.how === 'interrupted') {
        if (read.wasEmpty && warned) return 0;
        warned = read.wasEmpty;
        if (warned) screen.lines(style.dim('Ctrl-C once more leaves; /help shows what can be done'));
        continue;
      }
      warned = false;
      if (read.how !== 'line') break;
      for (const line of read.lines) await history.add(line);
      if ((await take(read.text)) === 'leave') break;
    }
    signal.throwIfAborted();
    return 0;
  };

  return {
    run: async () => listen(await openHistory(join(stateDir(env), 'chat-history'))),
    interrupt() {
      if (current && !current.signal.aborted) {
        chat.say(style.dim('stopping…'));
        current.abort(new Error('stopped by Ctrl-C'));
      }
      return true;
    },
  };
}
