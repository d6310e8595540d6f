import { randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { arrayOf, isObject, numberOf, parseJson, stringOf } from '../json-shape.ts';

/** Turns the chunks of a chat completion into Messages API stream events. */
export interface ChatReply {
  /** Events for what this chunk brought. */
  chunk(chunk: JsonObject): readonly JsonObject[];
  /**
   * Events that end the message.
   *
   * @param sawDone whether the stream's own end mark came
   * @returns `undefined` where the stream stopped in the middle
   */
  finish(sawDone: boolean): readonly JsonObject[] | undefined;
}

interface PendingCall {
  readonly index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ['stop', 'end_turn'],
  ['eos', 'end_turn'],
  ['tool_calls', 'tool_use'],
  ['function_call', 'tool_use'],
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

const GOOD_ID = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Text is passed on as it comes. Calls are passed on whole when the reply ends: their pieces may interleave, which
 * Messages API blocks can't, and text belongs before them.
 *
 * @param model the id to put into the message where the server names none
 * @param usedIds ids of earlier calls in the conversation; a reply that repeats one gets a new id
 */
export function createChatReply(model: string, usedIds: ReadonlySet<string>): ChatReply {
  const calls: PendingCall[] = [];
  let started = false;
  let textOpen = false;
  let heldSpace = '';
  let finishReason: string | undefined;
  let refused = false;
  let usage: JsonObject = { input_tokens: 0, output_tokens: 0 };

  function start(chunk: JsonObject): readonly JsonObject[] {
    if (started) return [];
    started = true;
    const id = stringOf(chunk.id) || `msg_${randomUUID().replaceAll('-', '')}`;
    return [
      {
        type: 'message_start',
        message: {
          id,
          type: 'message',
          role: 'assistant',
          model: stringOf(chunk.model) || model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 0, output_tokens: 0 },
        },
      },
    ];
  }

  /** A text block that is empty or only white space may not be sent back, so leading space waits for what follows. */
  function text(piece: string): readonly JsonObject[] {
    if (piece === '') return [];
    if (!textOpen && piece.trim() === '') {
      heldSpace += piece;
      return [];
    }
    const opening = textOpen
      ? []
      : [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }];
    const whole = heldSpace + piece;
    textOpen = true;
    heldSpace = '';
    return [...opening, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: whole } }];
  }

  /** The call that a piece goes on with: the last one of its index, or the last of all, unless a new one begins. */
  function begunCall(piece: JsonObject, index: number | undefined, name: string): PendingCall | undefined {
    const known =
      index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index || call.index === undefined);
    return known !== undefined && !beginsAnother(known, stringOf(piece.id), name) ? known : undefined;
  }

  /** @param isWhole whether the piece is a call of its own, as in a reply that isn't streamed */
  function addCall(piece: Json, isWhole: boolean): void {
    if (!isObject(piece)) return;
    const called = isObject(piece.function) ? piece.function : {};
    const index = typeof piece.index === 'number' ? piece.index : undefined;
    let call = isWhole ? undefined : begunCall(piece, index, stringOf(called.name));
    if (call === undefined) {
      call = { index, id: '', name: '', arguments: '' };
      calls.push(call);
    }
    call.id ||= stringOf(piece.id);
    call.name ||= stringOf(called.name);
    // Some servers give the arguments as an object.
    call.arguments += isObject(called.arguments) ? JSON.stringify(called.arguments) : stringOf(called.arguments);
  }

  function callEvents(): readonly JsonObject[] {
    const taken = new Set(usedIds);
    return calls.flatMap((call, position) => {
      const index = position + (textOpen ? 1 : 0);
      const id = GOOD_ID.test(call.id) && !taken.has(call.id) ? call.id : newCallId();
      taken.add(id);
      const content_block = { type: 'tool_use', id, name: call.name, input: {} };
      const delta = { type: 'input_json_delta', partial_json: call.arguments };
      return [
        { type: 'content_block_start', index, content_block },
        ...(call.arguments === '' ? [] : [{ type: 'content_block_delta', index, delta }]),
        { type: 'content_block_stop', index },
      ];
    });
  }

  return {
    chunk(chunk) {
      if (isObject(chunk.usage)) usage = toUsage(chunk.usage);
      const choice = arrayOf(chunk.choices)[0];
      if (!isObject(choice)) return isObject(chunk.usage) ? [] : start(chunk);
      const events: JsonObject[] = [...start(chunk)];
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') finishReason = choice.finish_reason;
      // A reply in one piece has `message` where a stream has `delta`.
      const isWhole = !isObject(choice.delta) && isObject(choice.message);
      const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {};
      events.push(...text(contentText(delta.content)));
      const refusal = stringOf(delta.refusal);
      if (refusal !== '') {
        refused = true;
        events.push(...text(refusal));
      }
      for (const piece of arrayOf(delta.tool_calls)) addCall(piece, isWhole);
      // Reasoning, and calls that are still being written, show nothing yet; that the model is alive they do.
      return events.length > 0 ? events : [{ type: 'ping' }];
    },
    finish(sawDone) {
      if (!started || (finishReason === undefined && !sawDone)) return undefined;
      return [
        ...(textOpen ? [{ type: 'content_block_stop', index: 0 }] : []),
        ...callEvents(),
        {
          type: 'message_delta',
          delta: { stop_reason: stopReason(finishReason, refused, calls.length > 0), stop_sequence: null },
          usage,
        },
        { type: 'message_stop' },
      ];
    },
  };
}

/** Some servers give all calls one index or none; then a new id tells them apart, or a name after whole arguments. */
function beginsAnother(known: PendingCall, id: string, name: string): boolean {
  if (id !== '' && known.id !== '') return id !== known.id;
  if (name === '' || known.name === '') return false;
  return known.arguments === '' ? name !== known.name : isObject(parseJson(known.arguments));
}

/** Servers that end a reply with calls by `stop` mean the calls; any reason we don't know is passed on as it is. */
function stopReason(finish: string | undefined, refused: boolean, hasCalls: boolean): string {
  if (refused) return 'refusal';
  const reason = finish === undefined ? 'end_turn' : (STOP_REASONS.get(finish) ?? finish);
  return reason === 'end_turn' && hasCalls ? 'tool_use' : reason;
}

function newCallId(): string {
  return `toolu_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return arrayOf(content)
    .map((part) => (isObject(part) ? stringOf(part.text) : ''))
    .join('');
}

function toUsage(usage: JsonObject): JsonObject {
  const details = usage.prompt_tokens_details;
  const cached = isObject(details) ? numberOf(details.cached_tokens) : 0;
  return {
    input_tokens: Math.max(0, numberOf(usage.prompt_tokens) - cached),
    output_tokens: numberOf(usage.completion_tokens),
    ...(cached > 0 && { cache_read_input_tokens: cached }),
  };
}
