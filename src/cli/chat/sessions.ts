import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, TraceEvent } from '../../contracts/index.ts';
import { readTrace } from '../../dispatch/index.ts';
import { stateDir } from '../../store/index.ts';
import { BridleError, printable } from '../../tools/index.ts';
import type { CommandIo } from '../command.ts';

/** A chat that was had, as a list shows it. */
export interface SessionSummary {
  readonly id: string;
  readonly file: string;
  readonly model: string;
  /** What was said first. */
  readonly task: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Times that the person said something. */
  readonly turns: number;
  /** The folder in which it was had; undefined where the file doesn't say. */
  readonly project?: string;
}

/** Newest files looked at; ids begin with their time. */
const MOST_LISTED = 100;

/** Where chats are kept: `sessions` in the state folder, one trace a chat. */
export function sessionsDir(io: Pick<CommandIo, 'env'>): string {
  return join(stateDir(io.env), 'sessions');
}

/** The newest sessions of a folder of sessions, newest first; with `project`, those of that folder alone. */
export async function listSessions(dir: string, project?: string): Promise<readonly SessionSummary[]> {
  const newest = await newestFiles(dir);
  const read = await Promise.all(newest.map((name) => summarize(join(dir, name)).catch(() => undefined)));
  return read.filter(
    (each) => each !== undefined && (project === undefined || each.project === project),
  ) as SessionSummary[];
}

/** The ids of the newest sessions, from the names of their files alone. */
export async function sessionIds(dir: string): Promise<readonly string[]> {
  return (await newestFiles(dir)).map((name) => name.slice(0, -'.jsonl'.length));
}

async function newestFiles(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir).catch(() => []);
  const newest = names.filter((name) => name.endsWith('.jsonl')).sort();
  return newest.reverse().slice(0, MOST_LISTED);
}

async function summarize(file: string): Promise<SessionSummary | undefined> {
  let head: Extract<TraceEvent, { type: 'run' }> | undefined;
  let project: string | undefined;
  let turns = 0;
  for await (const event of readTrace(file)) {
    if (event.type === 'run') head ??= event;
    if (event.type === 'edit') project ??= projectOf(event.detail);
    if (event.type === 'input') turns += 1;
  }
  if (!head) return undefined;
  const { run: id, model, task, at: startedAt } = head;
  return { id, file, model, task, startedAt, turns, ...(project !== undefined && { project }) };
}

/** The note at the beginning of a session's journal that says where it was had. */
export function projectNote(root: string): Json {
  return { project: root };
}

function projectOf(detail: Json): string | undefined {
  const project = typeof detail === 'object' && detail !== null && !Array.isArray(detail) ? detail.project : undefined;
  return typeof project === 'string' ? project : undefined;
}

/**
 * The session that a person means: an id, or the start of one.
 *
 * @throws BridleError `session_not_found`; `usage` when several begin so
 */
export async function findSession(dir: string, id: string): Promise<SessionSummary> {
  const all = await listSessions(dir);
  const matching = all.filter((session) => session.id.startsWith(id));
  const exact = matching.find((session) => session.id === id);
  const [first, another] = matching;
  if (exact) return exact;
  const hint = "/sessions in 'bridle chat' shows those of this folder.";
  if (!first) throw new BridleError('session_not_found', `There is no session '${printable(id)}'.`, { hint });
  if (another) {
    throw new BridleError('usage', `'${printable(id)}' is the start of ${matching.length} sessions; give more of it.`, {
      hint,
    });
  }
  return first;
}

/** One line of a list of sessions. */
export function sessionLine({ id, startedAt, turns, task }: SessionSummary, columns: number): string {
  const when = new Date(startedAt).toISOString().slice(0, 16).replace('T', ' ');
  const start = `${printable(id)}  ${when}  ${turns} ${turns === 1 ? 'turn ' : 'turns'}  `;
  return `${start}${printable(task, { maxLength: Math.max(12, columns - start.length) })}`;
}
