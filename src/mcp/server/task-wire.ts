import type { Json, JsonObject } from '../../contracts/index.ts';
import { META, memberSlices } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { legacyResult, modernResult } from './result-text.ts';
import { RELATED_TASK } from './task.ts';
import type { TaskEnd, TaskRecord } from './task-store.ts';

/** How often a client should look, in milliseconds. */
const POLL_MS = 1_000;

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** @param isErrorFailure whether a tool's own error is a failure of the task: in 2025-11-25 it is */
function statusOf({ isCancelled, end, requests }: TaskRecord, isErrorFailure: boolean): Status {
  if (isCancelled) return 'cancelled';
  if (!end) return requests.size > 0 ? 'input_required' : 'working';
  return end.kind === 'error' || (isErrorFailure && end.isError) ? 'failed' : 'completed';
}

function named(record: TaskRecord, status: Status): JsonObject {
  const { id, message, createdAt, updatedAt } = record;
  return {
    taskId: id,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
  };
}

/** A task as 2025-11-25 says it. */
export function legacyTask(record: TaskRecord): JsonObject {
  return { ...named(record, statusOf(record, true)), ttl: record.ttlMs, pollInterval: POLL_MS };
}

/** A task as the extension of 2026-07-28 says it, without what it asks and what came of it. */
export function modernTask(record: TaskRecord): JsonObject {
  return { ...named(record, statusOf(record, false)), ttlMs: record.ttlMs, pollIntervalMs: POLL_MS };
}

/**
 * The same with all of it.
 *
 * @param infoText JSON text of the server's own name
 * @param more members beside it
 * @returns JSON text, in which a result stands as it was received
 */
export function detailedTask(record: TaskRecord, infoText: string, more: JsonObject = {}): string {
  const { end, requests, isCancelled } = record;
  const task: JsonObject = { ...more, ...modernTask(record) };
  if (!end && requests.size > 0)
    task.inputRequests = Object.fromEntries([...requests].map(([key, request]) => [key, asked(request)]));
  if (!end || isCancelled) return JSON.stringify(task);
  if (end.kind === 'error') return JSON.stringify({ ...task, error: errorIn(end) });
  const result = modernResult({ result: JSON.parse(end.text) as JsonObject, text: end.text }, infoText);
  return `${JSON.stringify(task).slice(0, -1)},"result":${result}}`;
}

function errorIn({ code, message, data }: Extract<TaskEnd, { kind: 'error' }>): JsonObject {
  return { code, message, ...(data && { data }) };
}

/** Visits have no name of their own since 2026-07-28. */
function asked(request: JsonObject): Json {
  if (!isObject(request.params)) return request;
  const { elicitationId: _, ...params } = request.params;
  return { ...request, params };
}

/** What a task's call was answered with, for a client of 2025-11-25: as JSON text that says which task it is of. */
export function resultOfTask(id: string, text: string): string {
  const whole = legacyResult({ result: JSON.parse(text) as JsonObject, text });
  const related = `${JSON.stringify(RELATED_TASK)}:${JSON.stringify({ taskId: id })}`;
  const slice = memberSlices(whole).get('_meta');
  if (!slice) return withFirst(whole, `"_meta":{${related}}`);
  const meta = whole.slice(slice.start, slice.end);
  const said = meta.startsWith('{') ? withFirst(meta, related) : `{${related}}`;
  return whole.slice(0, slice.start) + said + whole.slice(slice.end);
}

function withFirst(text: string, member: string): string {
  const open = text.indexOf('{') + 1;
  return `{${member}${text.slice(open).trimStart().startsWith('}') ? '' : ','}${text.slice(open)}`;
}

/** The extension by which 2026-07-28 has tasks. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Whether a client declared it with its request. */
export function declaresTasks(capabilities: Json | undefined): boolean {
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined;
  return isObject(extensions) && isObject(extensions[TASKS_EXTENSION]);
}

/** An empty answer of 2026-07-28, or one with these members. */
export function said(infoText: string, members: JsonObject = {}): string {
  const text = JSON.stringify({ resultType: 'complete', ...members });
  return `${text.slice(0, -1)},"_meta":{${JSON.stringify(META.serverInfo)}:${infoText}}}`;
}
