import type { CallContext, Json, JsonObject, Source, SourceResult, ToolDefinition } from '../contracts/index.ts';
import { canonicalJson, rawFrom, sha256, wireName } from '../tools/index.ts';
import type { ResultStore } from './result-store.ts';

const TOOL = 'read_result';
const DEFAULT_LENGTH = 20_000;
/** Room for the lines around a part of a result, within the budget that every result has. */
const FRAME = 400;

const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    result: { type: 'string', description: 'The handle that stands where a result was cut, such as res_4f…' },
    offset: { type: 'integer', minimum: 0, description: 'Character at which to go on. Default 0, the beginning.' },
    length: {
      type: 'integer',
      minimum: 1,
      maximum: DEFAULT_LENGTH,
      description: `Most characters to read. Default ${DEFAULT_LENGTH}.`,
    },
  },
  required: ['result'],
  additionalProperties: false,
};

/**
 * The tool with which a model reads on in a result that was cut. Offsets count UTF-16 code units of the whole text.
 *
 * @param store the store that the dispatcher keeps cut results in
 */
export function resultReader(store: ResultStore): Source {
  const tool = readResultTool();
  return {
    server: null,
    list: async () => ({ tools: [tool], setAside: [] }),
    call: async (name, args, ctx) =>
      name === TOOL ? readResult(store, args, ctx) : failure(`There is no tool "${name}".`),
    onChange: () => () => {},
  };
}

function readResultTool(): ToolDefinition {
  const description =
    'Reads on in a tool result that was too long to show whole. Give the handle named where the result was cut, and ' +
    'the offset named there. Use it only for such handles; it reads neither files nor addresses.';
  const raw = { name: TOOL, description, inputSchema: INPUT_SCHEMA };
  return {
    ref: { server: null, tool: TOOL, name: wireName(null, TOOL), fingerprint: sha256(canonicalJson(raw)) },
    title: 'Read on in a result',
    description,
    inputSchema: INPUT_SCHEMA,
    raw: rawFrom(raw),
    effect: 'read',
  };
}

function readResult(store: ResultStore, args: Json, ctx: CallContext): SourceResult {
  const { result, offset, length } = readArguments(args);
  const conversation = 'conversation' in ctx && typeof ctx.conversation === 'string' ? ctx.conversation : '';
  const text = store.read({ who: ctx.who, conversation }, result);
  if (text === undefined) {
    return failure(
      `There is no kept result "${result.slice(0, 80)}" in this conversation: the handle is wrong, or the result was ` +
        'dropped to make room. Make the original call again, narrower if it can be.',
    );
  }
  if (offset >= text.length && text.length > 0) {
    return failure(`The offset ${offset} is past the end: the result has ${text.length} characters.`);
  }
  const end = partEnd(text, offset, Math.min(length, budget(ctx)));
  const rest = end < text.length ? ` Go on with offset ${end}.` : ' This is the end.';
  const note = `Characters ${offset} to ${end} of ${text.length} of ${result}.${rest}`;
  const content = [
    { type: 'text', text: text.slice(offset, end) },
    { type: 'text', text: note },
  ];
  return { kind: 'result', raw: rawFrom({ content }), isError: false };
}

function readArguments(args: Json): { result: string; offset: number; length: number } {
  const given = typeof args === 'object' && args !== null && !Array.isArray(args) ? args : {};
  return {
    result: typeof given.result === 'string' ? given.result : '',
    offset: typeof given.offset === 'number' ? Math.max(0, Math.trunc(given.offset)) : 0,
    length: typeof given.length === 'number' ? Math.max(1, Math.trunc(given.length)) : DEFAULT_LENGTH,
  };
}

/** A part must fit into the budget itself, or reading a cut result would give another cut result. */
function budget(ctx: CallContext): number {
  const max = 'maxResultChars' in ctx && typeof ctx.maxResultChars === 'number' ? ctx.maxResultChars : DEFAULT_LENGTH;
  return Math.max(1, Math.min(DEFAULT_LENGTH, max - FRAME));
}

/** Never between the halves of a surrogate pair, and always past `offset`. */
function partEnd(text: string, offset: number, length: number): number {
  const end = Math.min(text.length, offset + length);
  if (end === text.length) return end;
  const last = text.charCodeAt(end - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  if (!splits) return end;
  return end - 1 > offset ? end - 1 : end + 1;
}

function failure(message: string): SourceResult {
  return {
    kind: 'failure',
    failure: { category: 'validation', retryable: false, message, executed: 'not_executed', attempts: [] },
  };
}
