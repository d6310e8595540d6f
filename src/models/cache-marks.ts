/**
 * Where a request is cut for the prompt cache. What the cache reads is tools, system, messages, in this order; a mark has
 * everything up to it kept, and a later request that begins the same pays a tenth for it.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { arrayOf, isObject } from './json-shape.ts';

/** How long the provider keeps what was marked, from its last use. An hour costs twice the input price to write, 5 minutes 1.25 times. */
export type CacheTtl = '5m' | '1h';

/** A request may have four marks (Messages API). */
const MOST_MARKS = 4;

/** Kinds of blocks that take a mark; thinking and what the provider left there don't. */
const TAKES_MARKS: ReadonlySet<Json | undefined> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_result',
]);

/**
 * The request with marks behind its tools, its system prompt, its last user message and the one before that: in a run of
 * many turns each request then reads what the one before wrote, also when a turn has more blocks than the cache looks back.
 * Nothing of the given request is changed.
 *
 * A request that marks its messages, or asks for automatic marks, is left as it is; so are tools and a system prompt with
 * marks of their own. The messages of a request without tools that begins a conversation aren't marked: a single question
 * would pay for a cache that nobody reads.
 *
 * @param body a Messages API request
 * @param ttl how long it is to be kept; 5 minutes where the request has marks of 5 minutes already, since none of an hour
 *   may stand behind those
 */
export function withCacheMarks(body: JsonObject, ttl: CacheTtl = '5m'): JsonObject {
  const tools = arrayOf(body.tools);
  const messages = arrayOf(body.messages);
  const own = [...marksIn(tools), ...marksIn(arrayOf(body.system))];
  if (body.cache_control !== undefined || marksIn(messages).length > 0) return body;
  const mark: JsonObject = {
    type: 'ephemeral',
    ...(ttl === '1h' && own.every((one) => one.ttl === '1h') && { ttl }),
  };
  let left = MOST_MARKS - own.length;
  const take = (made: Json | undefined): Json | undefined => {
    if (left <= 0 || made === undefined) return undefined;
    left -= 1;
    return made;
  };
  const markedTools = marksIn(tools).length > 0 ? undefined : take(withMarkedTool(tools, mark));
  const markedSystem = marksIn(arrayOf(body.system)).length > 0 ? undefined : take(withMarkedSystem(body.system, mark));
  const goesOn = tools.length > 0 || messages.length > 1;
  const places = goesOn ? placesIn(messages) : [];
  const markedMessages = new Map(
    places.flatMap((at) => {
      const made = take(withMarkedMessage(messages[at], mark));
      return made === undefined ? [] : [[at, made] as const];
    }),
  );
  return {
    ...body,
    ...(markedTools !== undefined && { tools: markedTools }),
    ...(markedSystem !== undefined && { system: markedSystem }),
    ...(markedMessages.size > 0 && { messages: withMarked(messages, markedMessages) }),
  };
}

function withMarked(messages: readonly Json[], marked: ReadonlyMap<number, Json>): Json[] {
  const made = [...messages];
  for (const [at, message] of marked) made[at] = message;
  return made;
}

/** All marks on blocks, and on the blocks that stand in them. */
function marksIn(blocks: readonly Json[], marks: JsonObject[] = []): readonly JsonObject[] {
  // A whole conversation is gone through with each request, so nothing is made for blocks without a mark.
  for (const block of blocks) {
    if (!isObject(block)) continue;
    if (isObject(block.cache_control)) marks.push(block.cache_control);
    if (Array.isArray(block.content)) marksIn(block.content, marks);
  }
  return marks;
}

/** Deferred tools take no mark: they aren't in the prompt. */
function withMarkedTool(tools: readonly Json[], mark: JsonObject): Json | undefined {
  const at = tools.findLastIndex((tool) => isObject(tool) && tool.defer_loading !== true);
  const tool = tools[at];
  return isObject(tool) ? replaced(tools, at, { ...tool, cache_control: mark }) : undefined;
}

function withMarkedSystem(system: Json | undefined, mark: JsonObject): Json | undefined {
  if (typeof system === 'string') return withMarkedBlock([{ type: 'text', text: system }], mark);
  return withMarkedBlock(arrayOf(system), mark);
}

/** The last user message, and the one that was last in the request before. */
function placesIn(messages: readonly Json[]): readonly number[] {
  const lastOf = (role: string, from: number) => {
    for (let at = from; at >= 0; at -= 1) {
      const message = messages[at];
      if (isObject(message) && message.role === role) return at;
    }
    return -1;
  };
  const last = lastOf('user', messages.length - 1);
  const reply = lastOf('assistant', last);
  const before = reply > 0 ? lastOf('user', reply) : -1;
  return [last, before].filter((at) => at >= 0);
}

function withMarkedMessage(message: Json | undefined, mark: JsonObject): Json | undefined {
  if (!isObject(message)) return undefined;
  const { content } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : arrayOf(content);
  const marked = withMarkedBlock(blocks, mark);
  return marked === undefined ? undefined : { ...message, content: marked };
}

function withMarkedBlock(blocks: readonly Json[], mark: JsonObject): Json | undefined {
  const at = blocks.findLastIndex((block) => isObject(block) && TAKES_MARKS.has(block.type) && block.text !== '');
  const block = blocks[at];
  return isObject(block) ? replaced(blocks, at, { ...block, cache_control: mark }) : undefined;
}

function replaced(list: readonly Json[], at: number, value: Json): Json[] {
  return list.map((one, index) => (index === at ? value : one));
}
