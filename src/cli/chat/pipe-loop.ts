import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { EXIT } from '../exit-code.ts';
import type { ChatContext } from './chat-context.ts';
import { runChatCommand } from './commands.ts';
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
  if (input.kind === 'command') return runChatCommand(input, chat, signal);
  const startedAt = Date.now();
  const result = await chat.session.send(input.text, {
    signal,
    onProgress: (event) => chat.view.onProgress(event),
  });
  chat.view.ended(result, Date.now() - startedAt);
  return result.end === 'answered' || result.end === 'asked' ? undefined : EXIT[result.end];
}
