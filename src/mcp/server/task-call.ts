import type { JsonObject, ToolDefinition, ToolExecution } from '../../contracts/index.ts';
import { type Abortable, Cancellation, onAbort } from '../../tools/index.ts';
import { CODES, META } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { note } from './notes.ts';
import type { Exchange } from './peer.ts';
import { INTERNAL, RpcError } from './rpc.ts';
import type { Service } from './service.ts';
import { RELATED_TASK, type Task } from './task.ts';
import { missingTasks } from './task-answers.ts';
import type { TaskEnd } from './task-store.ts';
import { declaresTasks, legacyTask, modernTask } from './task-wire.ts';
import { DEFAULT_TTL_MS, type Tasks } from './tasks.ts';
import { callTool } from './tool-call.ts';

/**
 * `tools/call` where it becomes a task: the call goes on, the same as any, and the client fetches what comes of it.
 *
 * @returns undefined for a call that is answered as any other
 */
export function callAsTask(
  service: Service,
  tasks: Tasks,
  params: JsonObject,
  exchange: Exchange,
): string | Promise<string> | undefined {
  const { host } = service;
  const { peer } = exchange;
  const { name } = params;
  if (host.hasTasks?.() !== true || typeof name !== 'string') return undefined;
  const tool = host.find ? host.find(name, peer.who) : host.list(peer.who).find(({ ref }) => ref.name === name);
  const call = { service, tasks, params, exchange };
  // One that isn't there, or is hidden, is told as such.
  if (tool) return peer.era === 'legacy' ? legacyCall(call, tool) : modernCall(call, tool);
  return undefined;
}

interface Call {
  readonly service: Service;
  readonly tasks: Tasks;
  readonly params: JsonObject;
  readonly exchange: Exchange;
}

/** In 2025-11-25 the client says that it wants a task. */
function legacyCall({ service, tasks, params, exchange }: Call, { execution }: ToolDefinition): string | undefined {
  const { name, task: wanted } = params;
  if (wanted === undefined || exchange.hasTasks !== true) {
    if (execution?.taskSupport !== 'required') return undefined;
    throw new RpcError(CODES.unknownMethod, `Tool ${name} runs as a task only`);
  }
  if (!execution) {
    // Who knows of no tasks here doesn't look at what is said of them.
    if (!tasks.isOffered(exchange.peer.who)) return undefined;
    throw new RpcError(CODES.unknownMethod, `Tool ${name} does not run as a task`);
  }
  const ttl = isObject(wanted) ? (wanted.ttl ?? undefined) : null;
  if (ttl !== undefined && (typeof ttl !== 'number' || !Number.isSafeInteger(ttl) || ttl < 1))
    throw new RpcError(CODES.invalidParams, 'Invalid params: task.ttl must be a whole number of milliseconds');
  const task = tasks.begin(exchange.peer.who, { tool: execution.ttlMs, ...(ttl !== undefined && { client: ttl }) });
  if (!task) throw tooMany();
  if (exchange.push) {
    const { push } = exchange;
    task.follow((record) => push('notifications/tasks/status', legacyTask(record)));
  }
  start({ service, tasks, params, exchange }, task, execution);
  return JSON.stringify({ task: legacyTask(task.record) });
}

/** In 2026-07-28 the client says that it takes tasks, and the server makes one. */
function modernCall(call: Call, { execution }: ToolDefinition): string | Promise<string> | undefined {
  const { service, tasks, exchange } = call;
  if (!execution) return undefined;
  const isRequired = execution.taskSupport === 'required';
  if (!declaresTasks(exchange.capabilities)) {
    if (isRequired) throw missingTasks();
    return undefined;
  }
  if (execution.taskStart === 'disconnect') return untilLetGo(call, execution);
  const task = tasks.begin(exchange.peer.who, { tool: execution.ttlMs });
  if (!task) {
    if (isRequired) throw tooMany();
    return undefined;
  }
  start(call, task, execution);
  return created(service, task);
}

function start(call: Call, task: Task, execution: ToolExecution): void {
  const { service, tasks, params } = call;
  const relay = relayOf(call, execution, task.signal);
  handOver(call, relay, task);
  void endOf(callTool(service, params, relay)).then((end) => tasks.end(task, end));
}

/** The call as any other, until its handler lets its caller go. */
function untilLetGo(call: Call, execution: ToolExecution): Promise<string> {
  const { service, tasks, params, exchange } = call;
  const stop = new Cancellation();
  // What it asked before it let its caller go is known to its legs alone, so it goes on in legs.
  const relay: Exchange = { ...relayOf(call, execution, stop), asksByResult: true };
  let task: Task | undefined;
  const abort = () => stop.abort();
  if (exchange.signal.aborted) abort();
  let forget = onAbort(exchange.signal, abort);
  const gone = new Promise<string>((resolve) => {
    relay.disconnect = () => {
      task ??= tasks.begin(exchange.peer.who, { tool: execution.ttlMs });
      if (!task || relay.ask) return;
      forget();
      forget = onAbort(task.signal, abort);
      handOver(call, relay, task);
      resolve(created(service, task));
    };
  });
  const answer = callTool(service, params, relay);
  void endOf(answer).then((end) => {
    forget();
    if (task) tasks.end(task, end);
  });
  return Promise.race([gone, answer]);
}

/** The exchange of a call that may outlive its request. */
function relayOf({ exchange }: Call, { ttlMs = DEFAULT_TTL_MS }: ToolExecution, signal: Abortable): Exchange {
  const { peer, meta, capabilities, push } = exchange;
  return {
    ...(push && { push }),
    peer,
    signal,
    meta,
    capabilities,
    wantsLog: exchange.wantsLog,
    notify: exchange.notify,
    limitMs: ttlMs,
  };
}

/** From here on the call belongs to its task: that is where it asks, and what it says goes there. */
function handOver({ tasks, exchange }: Call, relay: Exchange, task: Task): void {
  const { id } = task.record;
  relay.ask = (method, params) => task.ask({ method, ...(params && { params }) });
  relay.notify = (method, params) => exchange.push?.(method, { ...params, _meta: { [RELATED_TASK]: { taskId: id } } });
  relay.progressed = ({ progress, total, message }) => {
    if (typeof message === 'string') task.say(message);
    else if (typeof progress === 'number') task.say(`${progress}${typeof total === 'number' ? ` of ${total}` : ''}`);
  };
  if (exchange.peer.era === 'legacy') return;
  // As a call that is no task is answered, when it asks for what its client can't give.
  relay.lacks = (error) => tasks.end(task, errorEnd(error), true);
}

async function endOf(answer: Promise<string>): Promise<TaskEnd> {
  try {
    const text = await answer;
    return { kind: 'result', text, isError: (JSON.parse(text) as JsonObject).isError === true };
  } catch (error) {
    if (error instanceof RpcError) return errorEnd(error);
    note(`a task failed: ${error instanceof Error ? error.message : String(error)}`);
    return errorEnd(INTERNAL);
  }
}

function errorEnd({ code, message, data }: RpcError): TaskEnd {
  return { kind: 'error', code, message, ...(data && { data }) };
}

function created({ serverInfo }: Service, task: Task): string {
  return JSON.stringify({
    resultType: 'task',
    ...modernTask(task.record),
    _meta: { [META.serverInfo]: serverInfo },
  });
}

function tooMany(): RpcError {
  return new RpcError(CODES.internal, 'Too many tasks; try again when some have ended');
}
