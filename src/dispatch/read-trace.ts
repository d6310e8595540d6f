import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { TraceEvent } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import { readTraceLine } from './trace-lines.ts';

/** One run, as `listTraces` tells it. */
export interface TraceSummary {
  readonly file: string;
  readonly run: string;
  readonly agent: string;
  readonly model: string;
  readonly task: string;
  /** The folder in which it works, where the trace says so. */
  readonly project?: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** How the run ended. Absent while it runs, and when it broke off. */
  readonly end?: string;
  /** Finished calls, previews included. */
  readonly calls: number;
}

/**
 * Reads a trace, event by event. Lines that are torn (by a crash, or because the run is still writing) and lines of
 * versions that this code doesn't know are passed over.
 *
 * @param onSkipped is told the number, from 1, of each line passed over
 * @throws BridleError `trace_not_found` or `trace_not_readable`, when iterated
 */
export async function* readTrace(file: string, onSkipped?: (line: number) => void): AsyncGenerator<TraceEvent, void> {
  let number = 0;
  for await (const line of lines(file)) {
    number += 1;
    if (line.trim() === '') continue;
    const event = readTraceLine(line);
    if (event) yield event;
    else onSkipped?.(number);
  }
}

/**
 * Reads a trace to go on from it: a line that only a later version of Bridle understands can't be passed over then. One
 * that is torn was never whole.
 *
 * @throws BridleError `trace_newer`, `trace_not_found` or `trace_not_readable`, when iterated
 */
export async function* readJournal(file: string): AsyncGenerator<TraceEvent, void> {
  let number = 0;
  for await (const line of lines(file)) {
    number += 1;
    if (line.trim() === '') continue;
    const event = readTraceLine(line);
    if (event) yield event;
    else if (isWhole(line)) {
      const what = `Line ${number} of ${file} can't be read by this version of Bridle, so there is no going on from it.`;
      const hint = 'Resume it with the version that wrote it, or a later one.';
      throw new BridleError('trace_newer', what, { hint });
    }
  }
}

/** Splits at line feeds only: the line separators of Unicode may stand unescaped inside JSON strings. */
async function* lines(file: string): AsyncGenerator<string, void> {
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  try {
    for await (const chunk of createReadStream(file)) {
      const parts = decoder.write(chunk as Buffer).split('\n');
      const last = parts.pop() ?? '';
      for (const part of parts) {
        pieces.push(part);
        yield pieces.join('');
        pieces = [];
      }
      pieces.push(last);
    }
  } catch (cause) {
    throw unreadable(file, cause);
  }
  const rest = pieces.join('') + decoder.end();
  if (rest !== '') yield rest;
}

export function noTrace(file: string, cause: unknown): BridleError {
  const hint = 'List the traces that there are, and give one of their files.';
  return new BridleError('trace_not_found', `There is no trace ${file}.`, { cause, hint });
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function unreadable(file: string, cause: unknown): BridleError {
  const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
  if (missing) return noTrace(file, cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  return new BridleError('trace_not_readable', `The trace ${file} can't be read: ${why}.`, { cause });
}

/**
 * The runs of a folder, newest first. A folder that doesn't exist has none; files that aren't traces, or can't be read,
 * are left out.
 */
export async function listTraces(dir: string): Promise<readonly TraceSummary[]> {
  let names: readonly string[];
  try {
    names = await readdir(dir);
  } catch {
    return [];
  }
  const summaries: TraceSummary[] = [];
  for (const name of names) {
    const summary = name.endsWith('.jsonl') ? await summarize(join(dir, name)) : undefined;
    if (summary) summaries.push(summary);
  }
  return summaries.sort((a, b) => b.startedAt - a.startedAt || (a.run < b.run ? 1 : -1));
}

async function summarize(file: string): Promise<TraceSummary | undefined> {
  let head: Extract<TraceEvent, { type: 'run' }> | undefined;
  let end: string | undefined;
  let calls = 0;
  try {
    if (!(await stat(file)).isFile()) return undefined;
    for await (const event of readTrace(file)) {
      if (event.type === 'run') head ??= event;
      else if (event.type === 'call') calls += 1;
      else if (event.type === 'input') end = undefined;
      else if (event.type === 'end') end = event.how;
    }
  } catch {
    return undefined;
  }
  if (!head) return undefined;
  const { run, agent, model, task, project, at } = head;
  return {
    file,
    run,
    agent,
    model,
    task,
    ...(project !== undefined && { project }),
    startedAt: at,
    calls,
    ...(end !== undefined && { end }),
  };
}
