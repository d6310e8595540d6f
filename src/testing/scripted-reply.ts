import type { JsonObject } from '../contracts/index.ts';
import type { Fault } from './fault.ts';

/** A call of one of the caller's tools. */
export interface ScriptedCall {
  readonly name: string;
  readonly input?: JsonObject;
  /** Default: made from the turn and the place. */
  readonly id?: string;
  /** Who calls: `{type: 'direct'}`, or code in a container, e.g. `{type: 'code_execution_20260120', tool_id: 'srvtoolu_…'}`. */
  readonly caller?: JsonObject;
  /** For a member of a toolset, e.g. `computer`. */
  readonly toolset_name?: string;
}

/** A call that the provider runs. Without a result it is one that has not run yet: a mixed turn, or a paused one. */
export interface ScriptedServerCall {
  /** E.g. `web_search`, `code_execution`, `tool_search_tool_regex`. */
  readonly name: string;
  readonly input?: JsonObject;
  readonly id?: string;
  /** The `content` of its result block. */
  readonly result?: JsonObject | readonly JsonObject[];
}

/** One reply. What is left out is filled in: ids, a stop reason that fits the content, a small usage. */
export interface ScriptedReply {
  /** Thinking before everything else; the double signs it. */
  readonly thinking?: string;
  readonly text?: string;
  /** Calls that the provider runs, with their results, after the text. */
  readonly serverCalls?: readonly ScriptedServerCall[];
  /** Names of tools that a search of the provider found: a `tool_search_tool_regex` call and its references. */
  readonly found?: readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** Whole content blocks, put after the text and before the calls. */
  readonly content?: readonly JsonObject[];
  /** Default: `tool_use` with calls, else `end_turn`. */
  readonly stopReason?: string;
  /** With `stopReason: 'refusal'`. */
  readonly stopDetails?: JsonObject;
  readonly usage?: JsonObject;
  /** Told to `onWait` before the reply; nothing really waits. */
  readonly waits?: readonly { readonly ms: number; readonly reason: string }[];
  /** What happens to this reply on its way. */
  readonly fault?: Fault;
}

/** The blocks that a reply spells, in the order in which the API gives them. */
function contentOf(reply: ScriptedReply, turn: number): readonly JsonObject[] {
  return [
    ...(reply.thinking === undefined ? [] : [{ type: 'thinking', thinking: reply.thinking, signature: '' }]),
    ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
    ...(reply.found === undefined ? [] : searchBlocks(reply.found, turn)),
    ...(reply.serverCalls ?? []).flatMap((call, index) => serverBlocks(call, `srvtoolu_script_${turn}_${index + 1}`)),
    ...(reply.content ?? []),
    ...(reply.calls ?? []).map(({ id, name, input, ...rest }, index) => ({
      type: 'tool_use',
      id: id ?? `toolu_script_${turn}_${index + 1}`,
      name,
      input: input ?? {},
      ...rest,
    })),
  ];
}

/** A reply as a Messages API response. */
export function messageOf(reply: ScriptedReply, model: string, turn: number): JsonObject {
  const calls = reply.calls ?? [];
  return {
    id: `msg_script_${turn}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [...contentOf(reply, turn)],
    stop_reason: reply.stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    ...(reply.stopDetails !== undefined && { stop_details: reply.stopDetails }),
    ...(reply.usage !== undefined && { usage: reply.usage }),
  };
}

function searchBlocks(found: readonly string[], turn: number): readonly JsonObject[] {
  return serverBlocks(
    {
      name: 'tool_search_tool_regex',
      input: { pattern: found.join('|') },
      result: {
        type: 'tool_search_tool_search_result',
        tool_references: found.map((tool_name) => ({ type: 'tool_reference', tool_name })),
      },
    },
    `srvtoolu_search_${turn}`,
  );
}

function serverBlocks(call: ScriptedServerCall, id: string): readonly JsonObject[] {
  const use = { type: 'server_tool_use', id: call.id ?? id, name: call.name, input: call.input ?? {} };
  if (call.result === undefined) return [use];
  const family = call.name.startsWith('tool_search_tool') ? 'tool_search' : call.name;
  const content = Array.isArray(call.result)
    ? [...(call.result as readonly JsonObject[])]
    : (call.result as JsonObject);
  return [use, { type: `${family}_tool_result`, tool_use_id: use.id, content }];
}
