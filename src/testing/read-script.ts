import { readFile } from 'node:fs/promises';
import { BridleError, printable } from '../tools/index.ts';
import { FAULT_KINDS } from './fault.ts';
import type { PlainTurn } from './turn-source.ts';

const FIELDS: ReadonlySet<string> = new Set([
  'thinking',
  'text',
  'serverCalls',
  'found',
  'calls',
  'content',
  'stopReason',
  'stopDetails',
  'usage',
  'waits',
  'fault',
]);

/**
 * Reads the turns of a double from a JSON file: a list in which each turn is a text, a reply as `ScriptedReply` has it,
 * or a whole response body of the Messages API (`type: "message"`).
 *
 * @throws BridleError `script_unreadable` when the file can't be read, or isn't such a list; the message names the turn
 */
export async function readScript(path: string): Promise<readonly PlainTurn[]> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw unreadable(path, wordsOf(cause), cause);
  });
  let turns: unknown;
  try {
    turns = JSON.parse(text);
  } catch (cause) {
    throw unreadable(path, `it is no JSON: ${wordsOf(cause)}`, cause);
  }
  if (!Array.isArray(turns)) throw unreadable(path, 'it is no list of turns');
  return turns.map((turn: unknown, index) => {
    const problem = problemOf(turn);
    if (problem !== undefined) throw unreadable(path, `turn ${index + 1} ${problem}`);
    return turn as PlainTurn;
  });
}

function problemOf(turn: unknown): string | undefined {
  if (typeof turn === 'string') return undefined;
  if (typeof turn !== 'object' || turn === null || Array.isArray(turn)) return 'is neither a text nor an object';
  if ('type' in turn && turn.type === 'message') return undefined;
  const unknown = Object.keys(turn).find((field) => !FIELDS.has(field));
  if (unknown !== undefined) return `has an unknown field '${printable(unknown)}'`;
  const fault = 'fault' in turn ? turn.fault : undefined;
  const kind: unknown = typeof fault === 'object' && fault !== null && 'kind' in fault ? fault.kind : undefined;
  return fault === undefined || [...FAULT_KINDS.keys()].some((known) => known === kind)
    ? undefined
    : `has a fault of none of the kinds ${[...FAULT_KINDS.keys()].join(', ')}`;
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function unreadable(path: string, why: string, cause?: unknown): BridleError {
  return new BridleError('script_unreadable', `The script ${printable(path)} can't be played: ${printable(why)}.`, {
    hint: 'It is a JSON list in which each turn is a text, a reply such as {"calls": [{"name": "add", "input": {}}]}, or a recorded response.',
    ...(cause !== undefined && { cause }),
  });
}
