import { appendFile, chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makePrivateDir } from '../../store/index.ts';

/** Lines that a person entered, kept for the next chat. */
export interface History {
  /** Newest first, as readline wants them. */
  readonly lines: readonly string[];
  /** Adds a line, if it may be kept. Never rejects. */
  add(line: string): Promise<void>;
}

const MOST_LINES = 1_000;
const LONGEST_LINE = 2_000;

const SECRET_NAME =
  /\b(pass(word|wd|phrase)?|secret|token|api[-_ ]?key|credentials?|bearer|authorization)\b\s*(is\b|[:=]|\s)\s*\S/i;
const KNOWN_SHAPE =
  /\b(sk-|pk_|rk_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|ya29\.|eyJ[\w-]+\.|hf_|npm_)[\w./+=-]{6,}|-----BEGIN /;
const URL_PASSWORD = /:\/\/[^/\s:@]+:[^/\s@]+@/;

/**
 * Whether a line may be kept. What begins with a blank isn't, as in shells; neither is what looks like a secret. That is
 * a guess: it knows the usual words and shapes, and no more.
 */
export function isKeepable(line: string): boolean {
  if (line.trim() === '' || line.startsWith(' ') || line.length > LONGEST_LINE || /[\n\r]/.test(line)) return false;
  if (SECRET_NAME.test(line) || KNOWN_SHAPE.test(line) || URL_PASSWORD.test(line)) return false;
  return !line.split(/[\s"'`,;()]+/).some(looksRandom);
}

/** Long words of mixed letters and digits, as keys are and words aren't. */
function looksRandom(word: string): boolean {
  return (
    word.length >= 24 &&
    /^[\w+/=.-]+$/.test(word) &&
    /[a-z]/.test(word) &&
    /[A-Z]/.test(word) &&
    /\d.*\d.*\d/.test(word)
  );
}

/**
 * Opens the history. A file that can't be read or written costs the history, never the chat.
 *
 * @param file made, 0600, with the first line
 */
export async function openHistory(file: string): Promise<History> {
  const lines = await read(file);
  return {
    lines,
    async add(line) {
      if (!isKeepable(line) || line === lines[0]) return;
      lines.unshift(line);
      try {
        await makePrivateDir(dirname(file));
        if (lines.length > MOST_LINES * 2) {
          lines.length = MOST_LINES;
          await rewrite(file, lines);
        } else await appendFile(file, `${line}\n`, { mode: 0o600 });
      } catch {
        // Entered it was all the same.
      }
    },
  };
}

async function read(file: string): Promise<string[]> {
  try {
    await chmod(file, 0o600);
    const text = await readFile(file, 'utf8');
    return text.split('\n').filter(isKeepable).slice(-MOST_LINES).reverse();
  } catch {
    return [];
  }
}

/** @param lines newest first */
async function rewrite(file: string, lines: readonly string[]): Promise<void> {
  const text = `${[...lines].reverse().join('\n')}\n`;
  const fresh = `${file}.${process.pid}.new`;
  await writeFile(fresh, text, { mode: 0o600 });
  await rename(fresh, file);
}
