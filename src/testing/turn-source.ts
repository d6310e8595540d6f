import type { Json, JsonObject, Model } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import { comesInstead, type Fault } from './fault.ts';
import { messageOf, type ScriptedReply } from './scripted-reply.ts';

/** What a turn comes to: a reply, and what happens to it; or only a fault, which comes instead of one. */
export interface SourcedTurn {
  /** A Messages API response. `id`, `model` and what else is left out is filled in by the double. */
  readonly message?: JsonObject;
  readonly fault?: Fault;
}

/** Where a double's replies come from. */
export interface TurnSource {
  /**
   * The reply to a request that broke no rule.
   *
   * @param request the body, with the messages of its thread where it continues one
   * @param turn from 1
   * @throws BridleError `script_ended` when there is none left
   */
  next(request: JsonObject, turn: { readonly turn: number; readonly signal: AbortSignal }): Promise<SourcedTurn>;
  /** How many turns are left, where that is known. */
  remaining?(): number;
}

/** A response body of the Messages API as it was recorded, e.g. from a trace. */
export type RecordedReply = JsonObject & { readonly type: 'message' };

/** What may stand in a script that a file can hold: a text, a reply, a recorded one, or only a fault. */
export type PlainTurn = string | ScriptedReply | RecordedReply;

/** A turn of the script: a text, a reply, an error to throw, or a function of the request that gives one of these. */
export type ScriptedTurn =
  | PlainTurn
  | Error
  | ((request: JsonObject, turn: number) => PlainTurn | Error | Promise<PlainTurn | Error>);

/** The error for a request after the last turn. */
export function scriptEnded(length: number): BridleError {
  return new BridleError('script_ended', `The script has ${length} turns, and one more reply was asked for.`);
}

/**
 * Replies from a script, in order. A turn that is nothing but `{fault}` comes instead of a reply when the fault is one
 * of those.
 *
 * @throws (from `next`) BridleError `script_ended`; whatever error the script gives
 */
export function scriptedTurns(turns: readonly ScriptedTurn[]): TurnSource {
  let played = 0;
  return {
    remaining: () => turns.length - played,
    async next(request) {
      const turn = turns[played];
      if (turn === undefined) throw scriptEnded(turns.length);
      played += 1;
      const made = typeof turn === 'function' ? await turn(structuredClone(request), played) : turn;
      if (made instanceof Error) throw made;
      if (isRecorded(made)) return { message: structuredClone(made) };
      const { fault, ...reply } = typeof made === 'string' ? { text: made } : made;
      if (fault !== undefined && comesInstead(fault)) return { fault };
      return {
        message: messageOf(reply, modelIn(request), played),
        ...(fault !== undefined && { fault }),
      };
    },
  };
}

/**
 * Replies that were recorded: response bodies of the Messages API, in order, each given as it is, signatures included.
 *
 * @throws (from `next`) BridleError `script_ended`
 */
export function recordedTurns(bodies: readonly RecordedReply[]): TurnSource {
  return scriptedTurns(bodies);
}

export function isRecorded(turn: PlainTurn): turn is RecordedReply {
  return typeof turn === 'object' && 'type' in turn && turn.type === 'message';
}

/** Replies of a model, e.g. of `offlineModel()`. */
export function modelTurns(model: Model): TurnSource {
  return {
    async next(request, { signal }) {
      const { message } = await model.respond(request, { signal });
      return { message: message as JsonObject };
    },
  };
}

/**
 * The same turns with faults at given requests. A fault that comes instead of a reply leaves the turn to be played by
 * the next request.
 *
 * @param faults by the number of the request, from 1; `'*'`: every one without its own
 */
export function withFaults(source: TurnSource, faults: ReadonlyMap<number | '*', Fault>): TurnSource {
  let asked = 0;
  return {
    ...(source.remaining !== undefined && { remaining: source.remaining }),
    async next(request, turn) {
      asked += 1;
      const fault = faults.get(asked) ?? faults.get('*');
      if (fault === undefined) return source.next(request, turn);
      if (comesInstead(fault)) return { fault };
      return { ...(await source.next(request, turn)), fault };
    },
  };
}

function modelIn(request: Json): string {
  const model = typeof request === 'object' && request !== null && !Array.isArray(request) ? request.model : undefined;
  return typeof model === 'string' ? model : 'scripted';
}
