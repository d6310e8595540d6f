import type { AtTerminal } from './cli-process.ts';
import { eventually } from './mcp.ts';

/** A person at the keyboard, who waits for what the screen says before they type. */
export interface Typist {
  /** Waits until the screen shows this, after what was seen before. Returns what it showed up to there. */
  sees(pattern: RegExp): Promise<string>;
  /** Presses keys, as soon as the screen ends with this. */
  at(prompt: RegExp, keys: string): Promise<void>;
  /** Says something at the chat's prompt. */
  says(text: string): Promise<void>;
}

const PROMPT = /(^|\n)(> |answer> )$/;
const ENTER = '\r';
export const TAB = '\t';
export const UP = '\u001b[A';
export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';

/** @param pauseMs for what drops lines typed before a question was shown, as questions of a run do */
export function typist(terminal: AtTerminal, pauseMs = 0): Typist {
  let seen = 0;
  /** As a reader sees it: without the sequences that move and paint. */
  const screen = () => {
    const sequence = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g');
    return terminal.output().replace(sequence, '').replaceAll('\r', '');
  };
  const sees = async (pattern: RegExp): Promise<string> => {
    const found = () => pattern.exec(screen().slice(seen));
    await eventually(() => found() !== null);
    const match = found();
    if (!match) throw new Error(`It never showed ${pattern} after:\n${screen()}`);
    const text = screen().slice(seen, seen + match.index + match[0].length);
    seen += text.length;
    return text;
  };
  const at = async (prompt: RegExp, keys: string) => {
    await sees(prompt);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    terminal.child.stdin?.write(keys);
  };
  return { sees, at, says: (text) => at(PROMPT, `${text}${ENTER}`) };
}
