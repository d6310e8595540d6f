import { access, chmod, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, LoopEvent, Recorder, TraceEvent } from '../contracts/index.ts';
import { BridleError, isBridleError, makeFolder, sha256 } from '../tools/index.ts';
import { type LineWriter, openLineWriter } from './line-writer.ts';
import { noTrace, readJournal } from './read-trace.ts';
import { traceLine } from './trace-lines.ts';
import { lockTrace, type TraceLock } from './trace-lock.ts';

export interface TraceOptions {
  /** Folder for trace files; made, 0700, where it is missing. */
  readonly dir: string;
  /** Id of the run, unique in the folder; the file's name is made from it. A run that is resumed goes on in its file. */
  readonly run: string;
  readonly agent: string;
  /** The model's id, as in `Model.id`. */
  readonly model: string;
  /** What the run was asked to do. */
  readonly task: string;
  /** The folder in which it works, for whoever lists runs. */
  readonly project?: string;
  /**
   * Which lines are brought to the disk, not only handed to the system: `acts`, those before calls that aren't known to
   * read, each before its call; `every_line`, all others too, soon after they are written. Default `acts`.
   */
  readonly sync?: 'acts' | 'every_line';
}

/** A run's journal: one file of JSON Lines, with everything that was decided and done. */
export interface Trace extends Recorder {
  readonly path: string;
  /**
   * What is written in it, from the beginning.
   *
   * @throws BridleError `trace_not_readable`; `trace_newer` for a line of a later version of Bridle, when iterated
   */
  events(): AsyncIterable<TraceEvent>;
  /** Adds an event of the agent's loop. Never throws, never waits. */
  event(e: LoopEvent): void;
  /** Adds how the run ended. Never throws, never waits. */
  end(how: string, detail: Json): void;
  /** Lines that could not be written, apart from intents: those fail their call. */
  lost(): number;
  /** Waits until everything is on disk. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the trace of a run. The file can be read by its owner only, and written by one process at a time.
 *
 * The intent of a call that isn't read-only is on disk before `intent` resolves; calls at the same time share one sync.
 *
 * @throws BridleError `trace_not_writable` when the folder or file can't be made, `trace_busy` while it is written
 *   already
 */
export async function createTrace(options: TraceOptions): Promise<Trace> {
  const file = await openIn(options.dir, fileName(options.run));
  const trace = traceOf(file, options.sync);
  if (file.empty) {
    const { run, agent, model, task, project } = options;
    const where = project === undefined ? {} : { project };
    trace.add({ v: 1, at: Date.now(), type: 'run', run, agent, model, task, ...where, bridle: await ownVersion() });
  }
  return trace.trace;
}

/**
 * Opens the trace of a run that was begun before, to go on in it: give it to `agent.resume`.
 *
 * @throws BridleError `trace_not_found`, `trace_not_writable`, `trace_busy`
 */
export async function openTrace({ dir, run, sync }: Pick<TraceOptions, 'dir' | 'run' | 'sync'>): Promise<Trace> {
  const name = fileName(run);
  await access(join(dir, name)).catch((cause) => {
    throw noTrace(join(dir, name), cause);
  });
  return traceOf(await openIn(dir, name), sync).trace;
}

function traceOf(
  { path, writer, lock }: OpenFile,
  sync: TraceOptions['sync'] = 'acts',
): { readonly trace: Trace; add(event: TraceEvent): void } {
  let lost = 0;
  const add = (event: TraceEvent): void => {
    try {
      writer.append(traceLine(event), sync === 'every_line').catch(() => {
        lost += 1;
      });
    } catch {
      lost += 1;
    }
  };
  const trace: Trace = {
    path,
    events: () => readJournal(path),
    async intent(intent) {
      const written = writer.append(
        traceLine({ v: 1, at: Date.now(), type: 'decided', intent }),
        intent.effect !== 'read',
      );
      if (intent.effect !== 'read') return written;
      written.catch(() => {
        lost += 1;
      });
    },
    outcome: (call) => add({ v: 1, at: Date.now(), type: 'call', call }),
    question: (question) => add({ v: 1, at: Date.now(), type: 'question', question }),
    hook: (hook) => add({ v: 1, at: Date.now(), type: 'hook', hook }),
    event: add,
    end: (how, detail) => add({ v: 1, at: Date.now(), type: 'end', how, detail }),
    lost: () => lost,
    async close() {
      try {
        await writer.close();
      } catch {
        lost += 1;
      }
      // A file of ours that stays is nobody's once this process has ended.
      await lock.release().catch(() => {});
    },
  };
  return { trace, add };
}

/** Run ids come from outside: only clean ones are file names, so that none leads out of the folder. */
function fileName(run: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(run) ? `${run}.jsonl` : `run-${sha256(run).slice(0, 32)}.jsonl`;
}

interface OpenFile {
  readonly path: string;
  readonly writer: LineWriter;
  readonly lock: TraceLock;
  readonly empty: boolean;
}

async function openIn(dir: string, name: string): Promise<OpenFile> {
  const path = join(dir, name);
  let lock: TraceLock | undefined;
  try {
    await makeFolder(dir, 0o700);
    lock = await lockTrace(join(dir, 'locks'), name.slice(0, -'.jsonl'.length));
    const opened = await openLineWriter(path);
    await chmod(path, 0o600);
    if (opened.empty) await syncFolder(dir);
    return { ...opened, path, lock };
  } catch (cause) {
    await lock?.release().catch(() => {});
    if (isBridleError(cause)) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    const hint = 'Give a folder that you may write to, or free space on its disk.';
    throw new BridleError('trace_not_writable', `The trace ${path} could not be opened: ${why}.`, { cause, hint });
  }
}

/** A new file's name is durable only when its folder is. Where folders can't be synced, nothing is lost by not trying. */
async function syncFolder(dir: string): Promise<void> {
  try {
    const folder = await open(dir, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // Not every file system takes this.
  }
}

/** The version of this package, for whoever reads the trace later. */
async function ownVersion(): Promise<string> {
  try {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return 'unknown';
  }
}
