import type { Json, JsonObject, ModelReply } from '../contracts/index.ts';
import { inputFromText } from './invalid-input.ts';
import { arrayOf, copyOf, isObject, numberOf, stringOf } from './json-shape.ts';

/** Folds Messages API stream events into the message that they spell. */
export interface MessageFold {
  apply(event: Json): void;
  /** True once the reply is whole: its stop reason came, and every block ended. */
  isComplete(): boolean;
  /** @throws Error when nothing began */
  reply(): ModelReply;
}

interface OpenBlock {
  readonly block: JsonObject;
  /** What came in `input_json_delta` pieces, where any came. */
  inputText: string | null;
  stopped: boolean;
}

/**
 * Blocks and deltas of unknown types are kept: a block as it was received, a delta by the pattern that all known text
 * deltas share (a string grows the field of the same name, anything else sets it). Usage counters are totals, so the
 * last one received counts.
 */
export function createMessageFold(): MessageFold {
  let message: JsonObject | undefined;
  /** By stream index; blocks stand in the message in the order in which they started. */
  const blocks = new Map<number, OpenBlock>();
  let ended = false;

  function applyDelta(event: JsonObject): void {
    const open = blocks.get(numberOf(event.index));
    if (!open || !isObject(event.delta)) return;
    const { type, ...fields } = event.delta;
    const { block } = open;
    switch (type) {
      case 'input_json_delta':
        open.inputText = (open.inputText ?? '') + stringOf(fields.partial_json);
        return;
      case 'citations_delta':
        block.citations = [...arrayOf(block.citations), copyOf(fields.citation ?? null)];
        return;
      case 'signature_delta':
      case 'compaction_delta':
        setFields(block, fields);
        return;
      default:
        for (const [field, value] of Object.entries(fields)) {
          const before = Object.hasOwn(block, field) ? block[field] : undefined;
          const grown = typeof value === 'string' && typeof before === 'string' ? before + value : copyOf(value);
          setField(block, field, grown);
        }
    }
  }

  function stopBlock(open: OpenBlock): void {
    if (open.stopped) return;
    open.stopped = true;
    if (open.inputText !== null && open.inputText.trim() !== '') open.block.input = inputFromText(open.inputText);
    else if ('input' in open.block && !isObject(open.block.input)) open.block.input = {};
  }

  function applyMessageDelta(target: JsonObject, event: JsonObject): void {
    const { type: _type, delta, usage, ...others } = event;
    if (isObject(delta)) setFields(target, delta);
    if (isObject(usage)) target.usage = { ...(isObject(target.usage) && target.usage), ...present(usage) };
    setFields(target, present(others));
  }

  return {
    apply(event) {
      if (!isObject(event)) return;
      if (event.type === 'message_start' && isObject(event.message)) {
        // Behind a gateway a stream may begin anew: nothing of what it began before is in the reply.
        message = { ...copyOf(event.message), content: [] };
        blocks.clear();
        ended = false;
        return;
      }
      if (message === undefined) return;
      switch (event.type) {
        case 'content_block_start':
          if (!isObject(event.content_block)) return;
          blocks.set(numberOf(event.index), {
            block: copyOf(event.content_block),
            inputText: null,
            stopped: false,
          });
          // A reply that another model finished names that model, as it does when it isn't streamed.
          if (event.content_block.type === 'fallback' && isObject(event.content_block.to)) {
            message.model = event.content_block.to.model ?? null;
          }
          return;
        case 'content_block_delta':
          applyDelta(event);
          return;
        case 'content_block_stop': {
          const open = blocks.get(numberOf(event.index));
          if (open) stopBlock(open);
          return;
        }
        case 'message_delta':
          applyMessageDelta(message, event);
          return;
        case 'message_stop':
          ended = true;
          return;
        default:
          return;
      }
    },
    isComplete() {
      if (message === undefined || typeof message.stop_reason !== 'string') return false;
      return ended || [...blocks.values()].every((open) => open.stopped);
    },
    reply() {
      if (message === undefined) throw new Error('no message_start was received');
      for (const open of blocks.values()) stopBlock(open);
      const whole: JsonObject = { ...message, content: [...blocks.values()].map((open) => open.block) };
      return { message: whole, stopReason: stringOf(whole.stop_reason), usage: whole.usage ?? {} };
    },
  };
}

/** Defines rather than assigns, so that a field named `__proto__` is a field like any other. */
function setField(target: JsonObject, field: string, value: Json): void {
  Object.defineProperty(target, field, { value, enumerable: true, configurable: true, writable: true });
}

function setFields(target: JsonObject, fields: JsonObject): void {
  for (const [field, value] of Object.entries(copyOf(fields))) setField(target, field, value);
}

function present(fields: JsonObject): JsonObject {
  return copyOf(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));
}
