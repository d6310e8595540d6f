import { randomBytes } from 'node:crypto';
import type { Failure, Identity, JsonObject, ToolHost } from '../../contracts/index.ts';
import { failureToWire } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { callerOf } from './peer.ts';
import { RpcError } from './rpc.ts';
import { Task } from './task.ts';
import { memoryTaskStore, type TaskEnd, type TaskRecord, type TaskStore } from './task-store.ts';

/** Most tasks of one identity: that run, and that are kept; and of all. */
const LIMITS = { running: 100, kept: 1_000, all: 10_000 };
/** How long a task is kept unless its tool or its client says otherwise, and at most, in milliseconds. */
export const DEFAULT_TTL_MS = 60 * 60_000;
const MAX_TTL_MS = 24 * 60 * 60_000;
/** How long a result is there at least, in milliseconds, however long it took. */
const RESULT_MS = 10 * 60_000;
const MAX_ID_LENGTH = 256;

/** The tasks of a host, over whatever their clients come. */
export interface Tasks {
  /** Whether this caller sees a tool whose calls may be tasks, or has a task. */
  isOffered(who: Identity): boolean;
  /**
   * Begins a task.
   *
   * @param ttlMs how long it is kept: the tool's word, and the client's, which is held to a day
   * @returns undefined when there is no room for another
   */
  begin(who: Identity, ttlMs: { readonly tool?: number | undefined; readonly client?: number }): Task | undefined;
  /** Ends one with what came of its call; `stops` the call too. */
  end(task: Task, end: TaskEnd, stops?: boolean): void;
  /**
   * The caller's own.
   *
   * @param id as the client said it
   * @throws RpcError -32602 for one that isn't there, and for another's alike
   */
  find(id: unknown, who: Identity): TaskRecord;
  /** The same while it runs, or undefined. */
  running(id: string): Task | undefined;
  cancel(task: Task): void;
  list(who: Identity): readonly TaskRecord[];
  /** Cancels all that run. */
  close(): void;
}

export function tasksOf(host: ToolHost, store: TaskStore = memoryTaskStore(), limits: typeof LIMITS = LIMITS): Tasks {
  const running = new Map<string, Task>();
  const timers = new Map<string, NodeJS.Timeout>();

  const cancelled = (task: Task, message: string) => {
    const ttlMs = keptFor(task.record);
    task.end(ofFailure(message), { ttlMs, isCancelled: true, message });
    running.delete(task.record.id);
    expireAt(task.record);
  };
  const remove = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
    running.delete(id);
    store.remove(id);
  };
  const expireAt = ({ id, createdAt, ttlMs }: TaskRecord) => {
    clearTimeout(timers.get(id));
    const timer = setTimeout(
      () => {
        const task = running.get(id);
        if (task) task.end(ofFailure(TOO_LONG), { ttlMs, isCancelled: true, message: TOO_LONG });
        remove(id);
      },
      Math.max(0, createdAt + ttlMs - Date.now()),
    );
    timer.unref();
    timers.set(id, timer);
  };

  /** Makes room by forgetting results, the caller's own alone. */
  const hasRoom = (owner: string): boolean => {
    const own = store.of(owner);
    if (own.filter(({ end }) => !end).length >= limits.running) return false;
    if (own.length < limits.kept && store.size < limits.all) return true;
    const oldest = own.find(({ end }) => end);
    if (oldest) remove(oldest.id);
    return oldest !== undefined;
  };

  return {
    isOffered(who) {
      // Who polls has one: the list of tools is gone through only for whoever has none yet.
      if (store.has(callerOf(who))) return true;
      return host.hasTasks?.() === true && host.list(who).some(({ execution }) => execution);
    },
    begin(who, { tool, client }) {
      const owner = callerOf(who);
      if (!hasRoom(owner)) return undefined;
      const id = randomBytes(24).toString('base64url');
      const now = Date.now();
      const ttlMs = client === undefined ? (tool ?? DEFAULT_TTL_MS) : Math.min(client, tool ?? MAX_TTL_MS);
      const record = { id, owner, createdAt: now, updatedAt: now, ttlMs, requests: new Map(), isCancelled: false };
      const task = new Task(store, record);
      running.set(id, task);
      expireAt(task.record);
      return task;
    },
    end(task, end, stops = false) {
      if (!running.delete(task.record.id)) return;
      task.end(end, { ttlMs: keptFor(task.record), message: wordOf(end), stops });
      expireAt(task.record);
    },
    find(id, who) {
      if (typeof id !== 'string' || id.length > MAX_ID_LENGTH)
        throw new RpcError(CODES.invalidParams, 'Invalid params: taskId must be a string');
      const record = store.get(id);
      if (!record || record.owner !== callerOf(who)) throw new RpcError(CODES.invalidParams, `Unknown task: ${id}`);
      return record;
    },
    running: (id) => running.get(id),
    cancel: (task) => cancelled(task, 'The task was cancelled by its client.'),
    list: (who) => store.of(callerOf(who)),
    close() {
      for (const task of [...running.values()]) cancelled(task, 'The task was cancelled: its server ended.');
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

const TOO_LONG = 'The task was cancelled: it took longer than tasks are kept.';

/** Long enough to fetch what came of it. */
function keptFor({ createdAt, ttlMs }: TaskRecord): number {
  return Math.max(ttlMs, Date.now() - createdAt + RESULT_MS);
}

/** What the call of a cancelled task is answered with; it may have run or not. */
function ofFailure(message: string): TaskEnd {
  const failure: Failure = { category: 'transient', retryable: false, message, executed: 'unknown', attempts: [] };
  const result = { content: [{ type: 'text', text: JSON.stringify(failureToWire(failure)) }], isError: true };
  return { kind: 'result', text: JSON.stringify(result), isError: true };
}

/** What a client shows of an end that isn't a good one. */
function wordOf(end: TaskEnd): string | undefined {
  if (end.kind === 'error') return end.message;
  if (!end.isError) return undefined;
  const { content } = JSON.parse(end.text) as JsonObject;
  const first = Array.isArray(content) ? content[0] : undefined;
  return isObject(first) && typeof first.text === 'string' ? first.text.slice(0, 500) : undefined;
}
