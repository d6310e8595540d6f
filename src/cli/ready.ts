import type { SourceReadiness } from '../catalog/index.ts';
import type { Reason } from '../contracts/index.ts';
import type { Project } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, OptionSpec, ParsedCommand } from './command.ts';
import { flag, numberOption } from './parse.ts';

const DEFAULT_SECONDS = 5;

export const READY_OPTIONS = {
  'ready-seconds': {
    type: 'string',
    value: 'N',
    help: `begin after N seconds without the servers that still start (default: ${DEFAULT_SECONDS}; also $BRIDLE_READY_SECONDS)`,
  },
  'require-servers': { type: 'boolean', help: 'end with an error where a server is not ready by then' },
} as const satisfies Record<string, OptionSpec>;

/**
 * How long the servers are waited for before the first turn, in milliseconds.
 *
 * @throws BridleError `usage` when what is given is no time
 */
export function readyMs(parsed: ParsedCommand, io: Pick<CommandIo, 'env'>): number {
  const given = numberOption(parsed, 'ready-seconds', 'number');
  if (given !== undefined) return given * 1000;
  const set = io.env.BRIDLE_READY_SECONDS || String(DEFAULT_SECONDS);
  const seconds = Number(set);
  if (!Number.isFinite(seconds) || seconds <= 0) {
    const problem = `BRIDLE_READY_SECONDS is '${printable(set, { maxLength: 80 })}', which is no positive number.`;
    throw new BridleError('usage', problem, { hint: 'Correct it, or unset it.' });
  }
  return seconds * 1000;
}

/** The servers that are still waited for, as warnings. */
export function stillStarting(sources: readonly SourceReadiness[]): readonly Reason[] {
  return sources
    .filter(({ server, state }) => server !== null && state === 'waiting')
    .map(({ server }) => ({
      room: 'cli',
      code: 'server_still_starting',
      text: `Server "${printable(server?.key ?? '')}" is still starting: it goes on without it, and its tools are added when they are there.`,
    }));
}

/**
 * `--require-servers`.
 *
 * @throws BridleError `servers_not_ready` naming each server that isn't ready, with the reason; one that was disabled
 *   isn't asked for
 */
export function requireServers(
  parsed: ParsedCommand,
  sources: readonly SourceReadiness[],
  notStarted: Project['notStarted'],
): void {
  if (!flag(parsed, 'require-servers')) return;
  const problems = [
    ...sources
      .filter(({ state }) => state !== 'ready')
      .map(({ server, problem }) => problem?.text ?? `Server "${server?.key ?? ''}" is still starting.`),
    ...notStarted
      .filter(({ reasons }) => reasons.every(({ code }) => code !== 'disabled'))
      .map(({ key, reasons }) => `Server "${key}" is not started: ${reasons.map(({ text }) => text).join(' ')}`),
  ];
  if (problems.length === 0) return;
  const count = problems.length === 1 ? 'One server is' : `${problems.length} servers are`;
  throw new BridleError('servers_not_ready', [`${count} not ready.`, ...problems].join('\n  '), {
    hint: 'Give them longer with --ready-seconds N, mend or disable what fails, or leave --require-servers out.',
  });
}

/** A wait that a person may cut short. */
export interface CutShort {
  /** Aborts when the wait is cut short. */
  readonly enough: AbortSignal;
  begin(): void;
  /** @returns whether the wait went on, and is over now */
  interrupt(): boolean;
  /** From here on there is nothing to cut short. */
  over(): void;
}

export function cutShort(): CutShort {
  const stop = new AbortController();
  let isUnderWay = false;
  return {
    enough: stop.signal,
    begin() {
      isUnderWay = true;
    },
    interrupt() {
      if (!isUnderWay || stop.signal.aborted) return false;
      stop.abort();
      return true;
    },
    over() {
      isUnderWay = false;
    },
  };
}
