import type { Json, JsonObject, Model, ModelReply } from '../contracts/index.ts';
import { createMessageFold, messageEvents } from '../models/index.ts';
import { BridleError } from '../tools/index.ts';
import { alteredBy, comesInstead } from './fault.ts';
import { checkMessagesRequest } from './rules/check-messages-request.ts';
import { messageOf, type ScriptedReply } from './scripted-reply.ts';
import { isRecorded, type RecordedReply, type ScriptedTurn, scriptEnded } from './turn-source.ts';

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
      if (turn === undefined) throw scriptEnded(turns.length);
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

function play(
  reply: ScriptedReply | RecordedReply,
  id: string,
  turn: number,
  ctx: Parameters<Model['respond']>[1],
): ModelReply {
  if (isRecorded(reply)) return spoken(reply, ctx);
  for (const wait of reply.waits ?? []) ctx.onWait?.(wait);
  const { fault } = reply;
  if (fault !== undefined && comesInstead(fault)) {
    throw new BridleError('model_overloaded', `The script has the fault ${fault.kind} here.`, {
      hint: 'messagesDouble() plays faults of the connection as the API does.',
    });
  }
  const usage = reply.usage ?? { input_tokens: 10, output_tokens: 5 };
  return spoken(alteredBy(fault, messageOf({ ...reply, usage }, id, turn)), ctx);
}

function spoken(message: JsonObject, ctx: Parameters<Model['respond']>[1]): ModelReply {
  const fold = createMessageFold();
  for (const event of messageEvents(message, { pieceLength: 16 })) {
    throwIfAborted(ctx.signal);
    fold.apply(event);
    ctx.onDelta?.(event);
  }
  throwIfAborted(ctx.signal);
  return fold.reply();
}

function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new BridleError('model_aborted', 'The request to the model was stopped before it was answered.', {
    cause: signal.reason,
  });
}
