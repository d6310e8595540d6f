import type { Json, JsonObject, Model, ModelReply } from '../contracts/index.ts';
import { createMessageFold, messageEvents } from '../models/index.ts';
import { BridleError } from '../tools/index.ts';
import { checkMessagesRequest } from './check-messages-request.ts';

/** One reply. What is left out is filled in: ids, a stop reason that fits the content, a small usage. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly {
    readonly name: string;
    readonly input?: JsonObject;
    readonly id?: string;
  }[];
  /** Whole content blocks, put after the text and before the calls. */
  readonly content?: readonly JsonObject[];
  /** Default: `tool_use` with calls, else `end_turn`. */
  readonly stopReason?: string;
  readonly usage?: JsonObject;
  /** Told to `onWait` before the reply; nothing really waits. */
  readonly waits?: readonly { readonly ms: number; readonly reason: string }[];
}

/** A turn of the script: a text, a reply, an error to throw, or a function of the request that gives one of these. */
export type ScriptedTurn =
  | string
  | ScriptedReply
  | Error
  | ((request: JsonObject, turn: number) => string | ScriptedReply | Error | Promise<string | ScriptedReply | Error>);

export interface ScriptedModel extends Model {
  /** A copy of every request, in order. */
  readonly requests: readonly JsonObject[];
  /** How many turns of the script have not been played. */
  remaining(): number;
}

export interface ScriptedModelOptions {
  /** Default `scripted`. */
  readonly id?: string;
  /** Checks every request with `checkMessagesRequest`; default true. */
  readonly check?: boolean;
}

/**
 * A model that plays a script, for tests of whatever stands on a `Model`. It streams like a real one, and unless told
 * otherwise refuses every request that the Messages API would refuse, so that each test of a loop also shows that its
 * transcript is valid.
 *
 * @param turns the replies in order; a request after the last one is an error
 * @throws (from `respond`) BridleError `model_request_refused` with every broken rule; `script_ended`; `model_aborted`;
 *   whatever error the script gives
 *
 * @example scriptedModel([{ calls: [{ name: 'get_order', input: { id: 'O-1' } }] }, 'It is on its way.'])
 */
export function scriptedModel(turns: readonly ScriptedTurn[], options: ScriptedModelOptions = {}): ScriptedModel {
  const id = options.id ?? 'scripted';
  const requests: JsonObject[] = [];
  let played = 0;
  return {
    id,
    requests,
    remaining: () => turns.length - played,
    async respond(request, ctx) {
      throwIfAborted(ctx.signal);
      if (options.check ?? true) refuseBroken(request);
      requests.push(structuredClone(request) as JsonObject);
      const turn = turns[played];
      if (turn === undefined) {
        throw new BridleError(
          'script_ended',
          `The script has ${turns.length} turns, and one more reply was asked for.`,
        );
      }
      played += 1;
      const reply = typeof turn === 'function' ? await turn(structuredClone(request) as JsonObject, played) : turn;
      if (reply instanceof Error) throw reply;
      return play(typeof reply === 'string' ? { text: reply } : reply, id, played, ctx);
    },
  };
}

function refuseBroken(request: Json): void {
  const broken = checkMessagesRequest(request);
  if (broken.length === 0) return;
  throw new BridleError('model_request_refused', `The Messages API would refuse this request:\n${broken.join('\n')}`);
}

function play(reply: ScriptedReply, id: string, turn: number, ctx: Parameters<Model['respond']>[1]): ModelReply {
  for (const wait of reply.waits ?? []) ctx.onWait?.(wait);
  const fold = createMessageFold();
  for (const event of messageEvents(messageOf(reply, id, turn), { pieceLength: 16 })) {
    throwIfAborted(ctx.signal);
    fold.apply(event);
    ctx.onDelta?.(event);
  }
  throwIfAborted(ctx.signal);
  return fold.reply();
}

function messageOf(reply: ScriptedReply, model: string, turn: number): JsonObject {
  const calls = (reply.calls ?? []).map((call, index) => ({
    type: 'tool_use',
    id: call.id ?? `toolu_script_${turn}_${index + 1}`,
    name: call.name,
    input: call.input ?? {},
  }));
  return {
    id: `msg_script_${turn}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
      ...(reply.content ?? []),
      ...calls,
    ],
    stop_reason: reply.stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn'),
    stop_sequence: null,
    usage: reply.usage ?? { input_tokens: 10, output_tokens: 5 },
  };
}

function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new BridleError('model_aborted', 'The request to the model was stopped before it was answered.', {
    cause: signal.reason,
  });
}
