import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { RunEvent } from '../../agent/index.ts';
import type { ComposedInput } from '../../host/index.ts';
import { EXIT } from '../exit-code.ts';
import type { ChatContext } from './chat-context.ts';
import { isPrompt, runChatCommand, sayError } from './commands.ts';
import { continues, joinLines, readInput } from './input-line.ts';

/**
 * Each line is a turn. Answers go to stdout and nothing else does.
 *
 * @returns the exit status: 0 when every turn ended with an answer or a question, else that of the last one that didn't
 */
export async function pipeLoop(chat: ChatContext, input: Readable, signal: AbortSignal): Promise<number> {
  const reader = createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY });
  const onAbort = () => reader.close();
  signal.addEventListener('abort', onAbort, { once: true });
  let status: number = EXIT.answered;
  let lines: string[] = [];
  try {
    for await (const line of reader) {
      lines.push(line);
      if (continues(line)) continue;
      const entered = joinLines(lines);
      lines = [];
      const outcome = await take(entered, chat, signal);
      if (outcome === 'leave') break;
      status = outcome ?? status;
      if (signal.aborted) break;
    }
    if (lines.length > 0 && !signal.aborted) {
      const outcome = await take(joinLines(lines), chat, signal);
      if (typeof outcome === 'number') status = outcome;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    reader.close();
  }
  signal.throwIfAborted();
  return status;
}

async function take(entered: string, chat: ChatContext, signal: AbortSignal): Promise<number | 'leave' | undefined> {
  const input = readInput(entered);
  if (input.kind === 'nothing') return undefined;
  let said: ComposedInput;
  const text = input.kind === 'message' ? input.text : entered.trim();
  try {
    if (input.kind === 'command' && !(await isPrompt(input.name, text, chat)))
      return await runChatCommand(input, chat, signal);
    said = await chat.input.compose(text, signal, input.kind === 'message' && input.isPlain);
  } catch (error) {
    sayError(error, chat);
    return EXIT.failed;
  }
  const startedAt = Date.now();
  const onProgress = (event: RunEvent) => chat.view.onProgress(event);
  const result = await chat.session.send(text, { signal, onProgress }, said);
  chat.view.ended(result, Date.now() - startedAt);
  return result.end === 'answered' || result.end === 'asked' ? undefined : EXIT[result.end];
}
