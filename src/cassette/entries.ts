import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Json, JsonObject, ServerRef } from '../contracts/index.ts';
import { BridleError, isJsonObject } from '../tools/index.ts';

/** The first line of a cassette. */
export interface CassetteHeader {
  readonly v: 1;
  readonly type: 'cassette';
  /** Unix milliseconds. */
  readonly at: number;
  /** As in `Model.id`. */
  readonly model: string;
  readonly agent?: string;
  /** What the run was asked to do. */
  readonly task?: string;
  /** The conversation in which it was recorded; a run that is played back has the same one. */
  readonly conversation?: string;
  /**
   * Whether every agent that was started had `model`, whatever its own was. Absent: it isn't known, as in recordings that
   * hold no models of started agents.
   */
  readonly oneModel?: boolean;
  /** Folders whose paths may be others where it is played back, by name, as in `project`. */
  readonly paths: Readonly<Record<string, string>>;
}

/** Why something came to nothing, as far as it is needed to fail alike. */
export interface RecordedError {
  readonly code: string;
  readonly message: string;
  readonly executed?: string;
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: string };
}

/**
 * One exchange; `n` is its place in the order in which they began, from 1. One of a server or a person that has neither an
 * answer nor an error was given up before there was one: its call ran out of time, say, or another call stopped it.
 */
export type CassetteEntry = { readonly v: 1; readonly n: number } & (
  | {
      readonly type: 'messages';
      /** Of an agent that was started and has a model of its own: that agent and the `Model.id`. */
      readonly agent?: string;
      readonly model?: string;
      /** The body of a Messages API request, without `model` and `stream`. */
      readonly request: Json;
      readonly reply?: { readonly message: Json; readonly stopReason: string; readonly usage: Json };
      readonly error?: RecordedError;
    }
  | {
      readonly type: 'server';
      readonly server: ServerRef;
      readonly about: Json;
      readonly era: Json;
      readonly limits: Json;
    }
  | {
      readonly type: 'mcp';
      readonly server: string;
      readonly method: string;
      readonly params: Json;
      /** The text of the result, as received. */
      readonly result?: string;
      readonly error?: RecordedError;
    }
  | {
      readonly type: 'asked';
      readonly tool: string;
      readonly args: Json;
      readonly reply?: JsonObject;
      readonly error?: RecordedError;
    }
  | { readonly type: 'input'; readonly content: Json }
);

export interface Cassette {
  readonly header: CassetteHeader;
  /** In the order in which they began. */
  readonly entries: readonly CassetteEntry[];
}

/**
 * Reads a cassette: JSON Lines, the header first. A last line that is torn is left out.
 *
 * @throws BridleError `cassette_not_readable`
 */
export async function readCassette(file: string): Promise<Cassette> {
  let header: CassetteHeader | undefined;
  const entries: CassetteEntry[] = [];
  let torn: string | undefined;
  try {
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() === '') continue;
      if (torn !== undefined) throw new Error(torn);
      const value = parsed(line);
      if (value === undefined) torn = 'a line is no JSON object';
      else if (value.v !== 1)
        throw new Error(`it is of version ${JSON.stringify(value.v ?? null)}, which is not known here`);
      else if (header) entries.push(value as unknown as CassetteEntry);
      else if (value.type === 'cassette' && typeof value.model === 'string')
        header = value as unknown as CassetteHeader;
      else throw new Error('it does not begin like a cassette');
    }
    if (!header) throw new Error('it is empty');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BridleError('cassette_not_readable', `The cassette ${file} can't be played: ${why}.`, {
      hint: "Record one with 'bridle run --record FILE'.",
      cause,
    });
  }
  return { header, entries: entries.sort((a, b) => a.n - b.n) };
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
