import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { oneAtATime, type Prompter } from '../../host/index.ts';
import { type CompletionContext, complete } from './completion.ts';
import { continues, joinLines } from './input-line.ts';
import type { Keyboard } from './keyboard.ts';
import type { Screen } from './screen.ts';

/** How a prompt was left. */
type Read =
  | { readonly how: 'line'; readonly text: string; readonly lines: readonly string[] }
  | { readonly how: 'interrupted'; readonly wasEmpty: boolean }
  | { readonly how: 'ended' | 'aborted' };

interface ReadOptions {
  readonly prompt: string;
  readonly signal: AbortSignal;
  /** A message: may have several lines, is completed, and has a history. Newest first. */
  readonly message?: { readonly history: readonly string[]; readonly completion: CompletionContext };
}

/** The input line. A prompt is an Interface of its own, so nothing typed before it stood gets into it. */
export interface LineEditor extends Prompter {
  read(options: ReadOptions): Promise<Read>;
}

export interface LineEditorOptions {
  readonly keyboard: Keyboard;
  readonly screen: Screen;
  readonly output: NodeJS.WriteStream;
  /** Whether the terminal may be asked to mark what is pasted. */
  readonly marksPastes: boolean;
  /** Ctrl-C while a question stands. */
  onInterrupt(): void;
}

const MORE = '. ';
const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';

export function lineEditor({ keyboard, screen, output, marksPastes, onInterrupt }: LineEditorOptions): LineEditor {
  const read = async (options: ReadOptions): Promise<Read> => {
    if (options.signal.aborted) return { how: 'aborted' };
    screen.freshLine();
    const input = keyboard.open();
    const { message } = options;
    let isOver = false;
    const reader = createInterface({
      input,
      output,
      terminal: true,
      prompt: options.prompt,
      history: [...(message?.history ?? [])],
      historySize: 1_000,
      removeHistoryDuplicates: true,
      escapeCodeTimeout: 50,
      ...(message && {
        completer: (line: string, done: (error: null, result: [string[], string]) => void) => {
          void completed(line, message.completion).then((result) => {
            // Who left the prompt meanwhile wants nothing of it.
            if (!isOver) done(null, result);
          });
        },
      }),
    });
    const marks = message !== undefined && marksPastes;
    if (marks) output.write(PASTE_ON);
    screen.prompt = standing(reader, output);
    const result = await lineOf(reader, input, options);
    screen.prompt = null;
    isOver = true;
    reader.close();
    keyboard.shut();
    if (marks) output.write(PASTE_OFF);
    if (result.how === 'interrupted') output.write('^C');
    if (result.how !== 'line') output.write('\n');
    return result;
  };

  return {
    read,
    write: (text) => screen.lines(text),
    alone: oneAtATime(),
    async ask(prompt, signal) {
      // Only the last line is the prompt's: it is drawn again with each key.
      const cut = prompt.lastIndexOf('\n') + 1;
      if (cut > 0) screen.lines(prompt.slice(0, cut));
      const result = await read({ prompt: prompt.slice(cut), signal });
      if (result.how === 'interrupted') onInterrupt();
      return result.how === 'line' ? result.text : undefined;
    },
  };
}

/** The chat's own commands, and what servers and the project have. */
async function completed(line: string, completion: CompletionContext): Promise<[string[], string]> {
  const [own, part] = complete(line, completion);
  const content = await completion.content?.(line);
  if (!content) return [own, part];
  return [[...own, ...content[0]], own.length > 0 ? part : content[1]];
}

function lineOf(
  reader: Interface,
  input: NodeJS.ReadableStream,
  { prompt, signal, message }: ReadOptions,
): Promise<Read> {
  return new Promise((resolve) => {
    const lines: string[] = [];
    let pasting = false;
    const settle = (result: Read) => {
      signal.removeEventListener('abort', onAbort);
      reader.off('close', onClose);
      resolve(result);
    };
    const onAbort = () => settle({ how: 'aborted' });
    const onClose = () => settle({ how: 'ended' });
    signal.addEventListener('abort', onAbort, { once: true });
    reader.on('close', onClose);
    reader.on('SIGINT', () => settle({ how: 'interrupted', wasEmpty: reader.line === '' && lines.length === 0 }));
    if (message) {
      input.on('keypress', (_text: unknown, key: { readonly name?: string } | undefined) => {
        if (key?.name === 'paste-start') pasting = true;
        if (key?.name === 'paste-end') pasting = false;
      });
    }
    reader.on('line', (line) => {
      lines.push(line);
      if (message && (pasting || continues(line))) {
        reader.setPrompt(MORE);
        reader.prompt();
        return;
      }
      settle({ how: 'line', text: message ? joinLines(lines) : line, lines });
    });
    reader.setPrompt(prompt);
    reader.prompt();
  });
}

function standing(reader: Interface, output: NodeJS.WriteStream) {
  return {
    hide() {
      const { rows } = reader.getCursorPos();
      moveCursor(output, 0, -rows);
      cursorTo(output, 0);
      clearScreenDown(output);
      return rows;
    },
    show: () => reader.prompt(true),
  };
}
