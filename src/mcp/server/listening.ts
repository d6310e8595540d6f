import type { Identity, Json, JsonObject } from '../../contracts/index.ts';
import { CODES, META } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { type Id, notificationMessage, RpcError, resultMessage } from './rpc.ts';
import type { Served } from './served.ts';
import { followTasks, taskIdsIn } from './task-answers.ts';

/** Most resources that one stream listens for. */
const MAX_LISTENED = 1000;

const LISTS = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
} as const;
type ListName = keyof typeof LISTS;

/** An open `subscriptions/listen` (MCP 2026-07-28, Subscriptions). */
export interface Listening {
  /** Ends it from the client's side: nothing more is said. */
  stop(): void;
  /** Ends it from ours: the request gets its result. */
  end(): void;
}

/** What a client wants to hear of, as far as it can be told. */
interface Filter {
  readonly lists: readonly ListName[];
  readonly uris: readonly string[];
  readonly taskIds: readonly string[];
}

/** @throws RpcError for a filter that isn't one */
function filterIn({ service, tasks }: Served, params: JsonObject, who: Identity): Filter {
  const { notifications } = params;
  if (!isObject(notifications)) throw invalid('notifications must be an object');
  for (const name of Object.keys(LISTS)) {
    const value = notifications[name];
    if (value !== undefined && typeof value !== 'boolean') throw invalid(`notifications.${name} must be a boolean`);
  }
  const { resourceSubscriptions: uris = [] } = notifications;
  if (!Array.isArray(uris) || !uris.every((uri): uri is string => typeof uri === 'string'))
    throw invalid('notifications.resourceSubscriptions must be a list of strings');
  const { content } = service.host;
  const offered: readonly ListName[] = content ? (Object.keys(LISTS) as ListName[]) : ['toolsListChanged'];
  return {
    lists: offered.filter((name) => notifications[name] === true),
    // One that the caller can't read and one that isn't there look the same: as not agreed to.
    uris: content ? [...new Set(uris)].slice(0, MAX_LISTENED).filter((uri) => content.has(uri, who)) : [],
    taskIds: taskIdsIn(tasks, params, who).slice(0, MAX_LISTENED),
  };
}

function invalid(what: string): RpcError {
  return new RpcError(CODES.invalidParams, `Invalid params: ${what}`);
}

/**
 * Opens a stream of changes: what is agreed to first, then each change under the id of the request.
 *
 * @param send takes one message
 * @throws RpcError for a filter that isn't one
 */
export function listen(
  served: Served,
  request: { readonly id: Id; readonly params: JsonObject; readonly who: Identity },
  send: (message: string) => void,
): Listening {
  const { id, who } = request;
  const { service, changes, tasks } = served;
  const { lists, uris, taskIds } = filterIn(served, request.params, who);
  const meta = { [META.subscriptionId]: id };
  const agreed: Record<string, Json> = Object.fromEntries(lists.map((name) => [name, true]));
  if (uris.length > 0) agreed.resourceSubscriptions = [...uris];
  if (taskIds.length > 0) agreed.taskIds = [...taskIds];
  send(notificationMessage('notifications/subscriptions/acknowledged', { _meta: meta, notifications: agreed }));
  const wanted = new Set<string>(lists.map((name) => LISTS[name]));
  const stops = uris.map((uri) =>
    changes.onUpdated(uri, who, () =>
      send(notificationMessage('notifications/resources/updated', { _meta: meta, uri })),
    ),
  );
  stops.push(...followTasks(tasks, taskIds, meta, { infoText: service.infoText, who }, send));
  if (wanted.size > 0) {
    stops.push(
      changes.onLists((method) => {
        if (wanted.has(method)) send(notificationMessage(method, { _meta: meta }));
      }),
    );
  }
  let open = true;
  const stop = () => {
    open = false;
    for (const one of stops.splice(0)) one();
  };
  return {
    stop,
    end() {
      if (!open) return;
      stop();
      const result = { resultType: 'complete', _meta: { ...meta, [META.serverInfo]: service.serverInfo } };
      send(resultMessage(id, JSON.stringify(result)));
    },
  };
}
