import type { Dispatcher, Json, JsonObject, Model, Outcome } from '../contracts/index.ts';
import { rawFrom } from '../tools/index.ts';
import type { RunEvent } from './events.ts';
import { effectiveLimits, type RunLimits } from './limits.ts';
import { type Run, type RunParts, startRun } from './run.ts';
import { initialState, type LoopConfig, type LoopTool } from './state.ts';

/** Makes for the tests of this folder. */
type Reply = JsonObject | Error | ((ctx: Parameters<Model['respond']>[1]) => Promise<JsonObject>);

interface Scripted extends Model {
  readonly requests: JsonObject[];
}

/** A model that answers with the replies in turn, and keeps the requests. */
export function script(...replies: Reply[]): Scripted {
  const requests: JsonObject[] = [];
  return {
    id: 'scripted',
    requests,
    async respond(request, ctx) {
      requests.push(structuredClone(request) as JsonObject);
      const reply = replies[requests.length - 1] ?? says('out of script');
      if (reply instanceof Error) throw reply;
      const message = typeof reply === 'function' ? await reply(ctx) : reply;
      return { message, stopReason: String(message.stop_reason), usage: { input_tokens: 10, output_tokens: 5 } };
    },
  };
}

export function reply(content: Json[], stopReason: string): JsonObject {
  return { role: 'assistant', content, stop_reason: stopReason };
}

export function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

export function says(text: string, stopReason = 'end_turn'): JsonObject {
  return reply([textBlock(text)], stopReason);
}

export function toolUse(id: string, name: string, input: Json = {}): JsonObject {
  return { type: 'tool_use', id, name, input };
}

/** A reply that calls each tool once; ids are `<name>_<place>`. */
export function calls(...names: string[]): JsonObject {
  return reply(
    names.map((name, at) => toolUse(`${name}_${at}`, name, { at })),
    'tool_use',
  );
}

export function ok(text: string): Outcome {
  return { kind: 'ok', raw: rawFrom({ content: [textBlock(text)] }), isError: false, content: text };
}

export function failedOutcome(message = 'It broke.'): Outcome {
  const failure = { category: 'transient', retryable: true, message, executed: 'unknown', attempts: [] } as const;
  return { kind: 'failed', failure };
}

export function cancelledOutcome(): Outcome {
  const failure = {
    category: 'transient',
    retryable: false,
    message: 'Cancelled.',
    executed: 'unknown',
    attempts: [],
  } as const;
  return { kind: 'cancelled', failure };
}

export function loopTool(name: string, effect: LoopTool['effect'] = 'write'): LoopTool {
  return { name, effect, entry: { name, description: name, input_schema: { type: 'object' } } };
}

export function config(limits: RunLimits = {}, more: Partial<LoopConfig> = {}): LoopConfig {
  return {
    tools: [loopTool('read', 'read'), loopTool('look', 'read'), loopTool('write')],
    limits: effectiveLimits(limits),
    maxTokens: 100,
    maxTokensRetry: 400,
    parallel: 8,
    ...more,
  };
}

export function start(
  model: Model,
  call: Dispatcher['call'] = async () => ok('done'),
  more: Partial<RunParts> & { readonly config?: LoopConfig } = {},
): Run {
  const { config: given, ...parts } = more;
  return startRun({
    state: initialState(given ?? config()),
    model,
    dispatcher: () => ({ call }),
    who: { agent: 'test', via: 'library' },
    conversation: 'c1',
    content: 'Do it.',
    idleMs: 60_000,
    hardMs: 60_000,
    modelIdleMs: 60_000,
    graceMs: 60_000,
    now: () => 1,
    ...parts,
  });
}

export async function drain(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The `tool_result` blocks of the last user message that has any, by call id. */
export function resultsOf(messages: readonly Json[]): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const message of messages as JsonObject[]) {
    if (!Array.isArray(message.content)) continue;
    for (const block of message.content as JsonObject[]) {
      if (block.type === 'tool_result') found.set(String(block.tool_use_id), block);
    }
  }
  return found;
}

/** A promise with its keys outside. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}
