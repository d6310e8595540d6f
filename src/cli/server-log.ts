import type { Json, RawJson } from '../contracts/index.ts';
import { LOG_LEVELS, type LogLevel } from '../mcp/client/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { ParsedCommand } from './command.ts';
import { flag, stringOption } from './parse.ts';
import type { Style } from './style.ts';

/** Log messages are shown from this level on where nobody says another. */
const DEFAULT_LEVEL: LogLevel = 'warning';
/** Most lines that are shown of one server. */
const MOST_LINES = 1_000;
const LONGEST = 500;

/** What `--server-log-level` says; `asked` is told to servers, which decide themselves without it. */
export interface ServerLogLevel {
  readonly asked?: LogLevel;
  /** From here on messages are shown; null: none. */
  readonly shown: LogLevel | null;
}

/**
 * @param own what the person's `bridle.json` says; the option and `--quiet` go before it
 * @throws BridleError `usage` for a level that there isn't
 */
export function serverLogLevel(parsed: ParsedCommand, own?: LogLevel | 'off'): ServerLogLevel {
  const option = stringOption(parsed, 'server-log-level');
  if (option === undefined && flag(parsed, 'quiet')) return { shown: null };
  const said = option ?? own;
  if (said === undefined) return { shown: DEFAULT_LEVEL };
  if (said === 'off') return { shown: null };
  const level = LOG_LEVELS.find((each) => each === said);
  if (level) return { asked: level, shown: level };
  throw new BridleError('usage', `There is no log level '${printable(said)}'.`, {
    hint: `The levels are ${LOG_LEVELS.join(', ')}, and off.`,
  });
}

/**
 * Shows the log messages of one server (MCP `notifications/message`) from a level on, with its key, a line each.
 *
 * @param write takes whole lines
 */
export function serverLog(key: string, level: LogLevel | null, style: Style, write: (line: string) => unknown) {
  let lines = 0;
  return (method: string, params: RawJson): void => {
    if (level === null || method !== 'notifications/message') return;
    const message = params.parse();
    if (typeof message !== 'object' || message === null || Array.isArray(message)) return;
    const at = LOG_LEVELS.indexOf(message.level as LogLevel);
    if (at < LOG_LEVELS.indexOf(level)) return;
    lines += 1;
    if (lines > MOST_LINES) return;
    const logger = typeof message.logger === 'string' ? ` ${message.logger}` : '';
    const words = printable(`${key} ${message.level}${logger}: ${wordsOf(message.data ?? null)}`, {
      maxLength: LONGEST,
    });
    write(`${style.dim(`[log] ${words}`)}\n`);
    if (lines === MOST_LINES) write(`${style.dim(`[log] ${printable(key)}: no more of its log is shown`)}\n`);
  };
}

function wordsOf(data: Json): string {
  return typeof data === 'string' ? data : JSON.stringify(data);
}
