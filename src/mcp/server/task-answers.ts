import type { Identity, Json, JsonObject } from '../../contracts/index.ts';
import { CODES, META } from '../wire/index.ts';
import type { Answer } from './content-answers.ts';
import { isObject } from './is-object.ts';
import { ANYONE, type Exchange } from './peer.ts';
import { notificationMessage, RpcError } from './rpc.ts';
import type { Service } from './service.ts';
import type { TaskRecord } from './task-store.ts';
import { declaresTasks, detailedTask, legacyTask, resultOfTask, said, TASKS_EXTENSION } from './task-wire.ts';
import type { Tasks } from './tasks.ts';

/** Most tasks that are listed at once. */
const PAGE = 100;

/** What is answered about tasks, by method. Each era has its own methods, and knows nothing of the other's. */
export function taskAnswers(service: Service, tasks: Tasks): ReadonlyMap<string, Answer> {
  const { infoText } = service;
  const offered = (exchange: Exchange) => {
    const isKnown = exchange.peer.era === 'modern' || exchange.hasTasks === true;
    if (!isKnown || !tasks.isOffered(exchange.peer.who)) throw unknownMethod();
    if (exchange.peer.era === 'modern' && !declaresTasks(exchange.capabilities)) throw missingTasks();
  };
  const legacyOnly = (exchange: Exchange) => {
    if (exchange.peer.era !== 'legacy') throw unknownMethod();
    offered(exchange);
  };
  return new Map<string, Answer>([
    [
      'tasks/get',
      ({ taskId }, exchange) => {
        offered(exchange);
        const record = tasks.find(taskId, exchange.peer.who);
        if (exchange.peer.era === 'legacy') return JSON.stringify(legacyTask(record));
        const about = { resultType: 'complete', _meta: { [META.serverInfo]: service.serverInfo } };
        return detailedTask(record, infoText, about);
      },
    ],
    [
      'tasks/update',
      ({ taskId, inputResponses }, exchange) => {
        if (exchange.peer.era !== 'modern') throw unknownMethod();
        offered(exchange);
        if (!isObject(inputResponses)) throw invalid('inputResponses must be an object of results');
        tasks.running(tasks.find(taskId, exchange.peer.who).id)?.answer(inputResponses);
        return said(infoText);
      },
    ],
    [
      'tasks/cancel',
      ({ taskId }, exchange) => {
        offered(exchange);
        const { peer } = exchange;
        const { id } = tasks.find(taskId, peer.who);
        const task = tasks.running(id);
        if (peer.era === 'legacy' && !task)
          throw new RpcError(CODES.invalidParams, 'The task has ended, and can not be cancelled');
        if (task) tasks.cancel(task);
        return peer.era === 'modern' ? said(infoText) : JSON.stringify(legacyTask(tasks.find(id, peer.who)));
      },
    ],
    [
      'tasks/result',
      async ({ taskId }, exchange) => {
        legacyOnly(exchange);
        const first = tasks.find(taskId, exchange.peer.who);
        const task = tasks.running(first.id);
        await task?.wait(exchange);
        const { id, end } = task?.record ?? first;
        // Nobody is left to be answered.
        if (!end) throw new RpcError(CODES.internal, 'The request was cancelled before the task ended');
        if (end.kind === 'error') throw new RpcError(end.code, end.message, end.data);
        return resultOfTask(id, end.text);
      },
    ],
    [
      'tasks/list',
      ({ cursor }, exchange) => {
        legacyOnly(exchange);
        if (!isIdentified(exchange.peer.who)) throw unknownMethod();
        return listed(tasks.list(exchange.peer.who), cursor);
      },
    ],
  ]);
}

function listed(all: readonly TaskRecord[], cursor: Json | undefined): string {
  const at = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
  if (at === 0 && cursor !== undefined) throw new RpcError(CODES.invalidParams, 'Invalid cursor');
  const page = all.slice(at, at + PAGE);
  const last = page.at(-1);
  const more = last && at + PAGE < all.length && { nextCursor: last.id };
  return JSON.stringify({ tasks: page.map(legacyTask), ...more });
}

/** Where nobody is told apart, a list would show one client the tasks of another. */
function isIdentified(who: Identity): boolean {
  return who !== ANYONE;
}

/** What a server of 2025-11-25 says of tasks in `initialize`. */
export function tasksCapability(who: Identity): JsonObject {
  return { ...(isIdentified(who) && { list: {} }), cancel: {}, requests: { tools: { call: {} } } };
}

/**
 * The tasks that a client of 2026-07-28 wants to hear of, as far as they are its own.
 *
 * @throws RpcError when it didn't say that it takes tasks, or what it says is no list
 */
export function taskIdsIn(tasks: Tasks, { _meta, notifications }: JsonObject, who: Identity): readonly string[] {
  const wanted = isObject(notifications) ? notifications.taskIds : undefined;
  if (wanted === undefined) return [];
  if (!Array.isArray(wanted) || !wanted.every((id): id is string => typeof id === 'string'))
    throw invalid('notifications.taskIds must be a list of strings');
  if (!tasks.isOffered(who)) return [];
  if (!declaresTasks(isObject(_meta) ? _meta[META.clientCapabilities] : undefined)) throw missingTasks();
  const own = new Set(tasks.list(who).map(({ id }) => id));
  return [...new Set(wanted)].filter((id) => own.has(id));
}

/** Tells each change of these tasks, and of those that have ended already how they did. */
export function followTasks(
  tasks: Tasks,
  ids: readonly string[],
  about: JsonObject,
  { infoText, who }: { readonly infoText: string; readonly who: Identity },
  send: (message: string) => void,
): readonly (() => void)[] {
  const tell = (record: TaskRecord) => {
    const params = detailedTask(record, infoText, { _meta: about });
    send(`${notificationMessage('notifications/tasks').slice(0, -1)},"params":${params}}`);
  };
  return ids.flatMap((id) => {
    const task = tasks.running(id);
    if (task) return [task.follow(tell)];
    tell(tasks.find(id, who));
    return [];
  });
}

/** That a client has to say that it takes tasks. */
export function missingTasks(): RpcError {
  return new RpcError(CODES.missingCapability, `This needs the extension ${TASKS_EXTENSION}, which was not declared`, {
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

function unknownMethod(): RpcError {
  return new RpcError(CODES.unknownMethod, 'Method not found');
}

function invalid(what: string): RpcError {
  return new RpcError(CODES.invalidParams, `Invalid params: ${what}`);
}
