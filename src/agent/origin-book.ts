import type {
  Dispatcher,
  Found,
  Json,
  JsonObject,
  Origin,
  Outcome,
  Provenance,
  ServerRef,
  ToolDefinition,
} from '../contracts/index.ts';
import {
  isHarnessNote,
  isSearchTool,
  keyAt,
  type Leaf,
  leavesOf,
  noSuchTool,
  outcomeToToolResult,
  wordsOfPromptNote,
} from '../tools/index.ts';
import { declaredKeys, freeKeysOf } from './argument-keys.ts';
import { ASK_USER } from './ask-user.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import { type SourceText, sought, sourceText, textHolds } from './source-text.ts';
import { isStartTool } from './subagents/start-tool.ts';

/** Most leaves of one call that are looked up, and most characters that one call's look-ups go through. */
const MOST_LEAVES = 500;
const MOST_WORK = 32_000_000;
/** Most characters kept of a conversation; what came after that is not looked up. */
const MOST_KEPT = 4_000_000;

type KnownOrigin = Exclude<Origin, { from: 'nowhere' }>;

interface KnownText {
  /** Null: a result of which nobody can tell whose it is. */
  readonly origin: KnownOrigin | null;
  readonly text: SourceText;
}

/** Written by somebody else, and the result of no call. */
const OTHERS: KnownOrigin = { from: 'result', callId: '', server: null };

/** Of a run of another agent of which only the answer is left. */
const UNKNOWN_RUN = ['untrusted-content', 'unknown'];

const ORDER = ['user', 'context', 'result'] as const;

/**
 * Keeps what was said in a conversation and by whom, to tell where the arguments of a call came from and whose content
 * has entered. Time and memory are linear in the conversation, and bounded; what is over a bound is not known.
 */
export class OriginBook {
  readonly #find: (name: string) => Found | undefined;
  readonly #reader: string | undefined;
  /** By whose they are, in the order in which they are looked through: the user's word counts before a result's. */
  readonly #texts: Readonly<Record<KnownOrigin['from'], KnownText[]>> = { user: [], context: [], result: [] };
  readonly #labels = new Set<string>();
  /** By the call that started it, what has entered the run of another agent. */
  readonly #startedRuns: Map<string, readonly string[]>;
  #kept = 0;
  /** False when something wasn't kept: a value that isn't found may have stood there. */
  #isWhole = true;

  /**
   * @param find by wire name: whose result it is
   * @param reader wire name of the tool that reads on in results that were cut, and so gives what others said
   * @param started by call, what has entered the runs of other agents that this conversation started before
   */
  constructor(
    find: (name: string) => Found | undefined,
    reader?: string,
    started: Map<string, readonly string[]> = new Map(),
  ) {
    this.#find = find;
    this.#reader = reader;
    this.#startedRuns = started;
  }

  /** The tool of a name as it is now: a server may take it away before what it gave is known. */
  toolOf(name: string): ToolDefinition | undefined {
    return this.#find(name)?.tool;
  }

  /** What is known here so far, to go on from in a conversation of its own: what is learned there stays there. */
  fork(): OriginBook {
    const book = new OriginBook(this.#find, this.#reader);
    for (const from of ORDER) for (const text of this.#texts[from]) book.#texts[from].push(text);
    for (const label of this.#labels) book.#labels.add(label);
    book.#kept = this.#kept;
    book.#isWhole = this.#isWhole;
    return book;
  }

  addContext(text: string): void {
    this.#add({ from: 'context' }, [text]);
  }

  /**
   * One message of the user. Their own words are text; documents and the like, notes of the harness and the text of a
   * server's prompt were written by others.
   */
  addInput(content: Json): void {
    let isPrompt = false;
    for (const block of contentBlocks(content)) {
      if (isBlock(block, 'text') && typeof block.text === 'string') {
        const called = wordsOfPromptNote(block.text);
        if (called) {
          isPrompt = true;
          this.#add({ from: 'user' }, [...called]);
        } else if (isPrompt) this.#addOthers(block.text);
        // Names of servers and of what they have stand in notes, so these are nobody's word to rely on.
        else if (isHarnessNote(block.text)) this.#add(OTHERS, [block.text]);
        else this.#add({ from: 'user' }, [block.text]);
      } else if (isBlock(block, 'document') || isBlock(block, 'search_result')) this.#addOthers(block);
    }
  }

  /** Messages of earlier runs, as the Messages API has them. */
  addMessages(messages: readonly Json[]): void {
    const names = new Map<string, string>();
    for (const message of messages) {
      if (!isObject(message)) continue;
      if (message.role === 'user') this.addInput(message.content ?? null);
      if (message.role === 'system') this.#addSystem(contentBlocks(message.content));
      for (const block of contentBlocks(message.content)) {
        if (!isObject(block)) continue;
        if (block.type === 'tool_use') names.set(String(block.id), String(block.name));
        else if (block.type === 'tool_result') {
          const callId = String(block.tool_use_id);
          const name = names.get(callId) ?? '';
          // Our own words, and none but the name: a tool that the model made up has told nobody anything.
          if (!isNoSuchTool(name, block)) this.#addResult(callId, name, [block.content ?? null]);
        }
      }
      this.addReply(message);
    }
  }

  /** What the model's provider ran stands, with its results, in the message of the model itself. */
  addReply(message: Json): void {
    if (!isObject(message) || message.role === 'user') return;
    for (const block of contentBlocks(message.content)) {
      if (!isObject(block) || typeof block.type !== 'string' || !block.type.endsWith('_tool_result')) continue;
      // It names tools of this agent, and says nothing else.
      if (block.type === 'tool_search_tool_result') continue;
      this.#labels.add('untrusted-content');
      this.#add({ from: 'result', callId: String(block.tool_use_id), server: null }, [block]);
    }
  }

  /** @param tool as it was when it was called; default: as it is now */
  addOutcome(callId: string, name: string, outcome: Outcome, tool?: ToolDefinition): void {
    if ('run' in outcome && outcome.run) {
      // An id may come twice: what entered with either call has entered.
      const known = this.#startedRuns.get(callId) ?? [];
      this.#startedRuns.set(callId, [...new Set([...known, ...outcome.run.labels])]);
    }
    if (outcome.kind === 'ok') this.#addResult(callId, name, [parsed(outcome.raw.text)], tool);
    if (outcome.kind !== 'failed' && outcome.kind !== 'cancelled') return;
    const { message, partial } = outcome.failure;
    this.#addResult(callId, name, [message, ...(partial ? [parsed(partial.text)] : [])], tool);
  }

  /** As things stand now: what comes later doesn't change it. */
  provenance(): Provenance {
    // What is known only grows, so as much as there is of it now is told by its length.
    const texts = ORDER.map((from) => ({ texts: this.#texts[from], count: this.#texts[from].length }));
    const isWhole = this.#isWhole;
    return { labels: new Set(this.#labels), origins: (args, schema) => originsOf(args, schema, texts, isWhole) };
  }

  /** In the middle of a conversation: notes of the harness, which may name what servers have, and the caller's own words. */
  #addSystem(blocks: readonly Json[]): void {
    for (const block of blocks) {
      if (!isBlock(block, 'text') || typeof block.text !== 'string') continue;
      this.#add(isHarnessNote(block.text) ? OTHERS : { from: 'context' }, [block.text]);
    }
  }

  #addOthers(value: Json): void {
    this.#labels.add('untrusted-content');
    this.#add(OTHERS, [value]);
  }

  #addResult(callId: string, name: string, values: readonly Json[], before?: ToolDefinition): void {
    if (name === ASK_USER) {
      this.#add({ from: 'result', callId, server: null }, values);
      return;
    }
    const tool = before ?? this.toolOf(name);
    // It names tools of this agent, and says nothing else.
    if (tool && isSearchTool(tool)) return;
    if (tool && isStartTool(tool)) {
      // What the other agent has read speaks through its answer. Where that isn't known any more, it may be anything.
      for (const label of this.#startedRuns.get(callId) ?? UNKNOWN_RUN) this.#labels.add(label);
      this.#add({ from: 'result', callId, server: null }, values);
      return;
    }
    const server = tool?.ref.server ?? null;
    if (server) this.#labels.add(`server:${server.key}`);
    if (!tool || isOutside(server, tool.annotations)) this.#labels.add('untrusted-content');
    // Whose a tool was that is gone isn't known: a server may not lose its label by taking a tool away.
    if (!tool) this.#labels.add('unknown');
    const isKnown = tool !== undefined && name !== this.#reader;
    this.#add(isKnown ? { from: 'result', callId, server: server?.key ?? null } : null, values);
  }

  #add(origin: KnownText['origin'], values: readonly Json[]): void {
    const { text, whole } = sourceText(values, MOST_KEPT - this.#kept);
    if (!whole) this.#isWhole = false;
    this.#kept += text.words.length;
    if (text.words !== '' || text.numbers.size > 0) this.#texts[origin?.from ?? 'result'].push({ origin, text });
  }
}

function isNoSuchTool(name: string, { content, is_error }: JsonObject): boolean {
  const said = outcomeToToolResult('', noSuchTool(name)).content;
  const [only, ...more] = contentBlocks(content);
  return is_error === true && more.length === 0 && isBlock(only, 'text') && only.text === said;
}

/** Adds to each call where its arguments came from, and to the book what it gives back. */
export function tracingDispatcher(inner: Dispatcher, book: OriginBook): Dispatcher {
  return {
    async call(request) {
      const tool = book.toolOf(request.name);
      const outcome = await inner.call({ ...request, provenance: book.provenance() });
      book.addOutcome(request.ctx.callId, request.name, outcome, tool);
      return outcome;
    },
  };
}

/** A server that isn't trusted, or an own tool that says that it reads from the world (MCP `openWorldHint`). */
function isOutside(server: ServerRef | null, annotations: Json | undefined): boolean {
  if (server) return !server.trustAnnotations;
  return isObject(annotations) && annotations.openWorldHint === true;
}

function originsOf(
  args: Json,
  schema: Json | undefined,
  known: readonly { readonly texts: readonly KnownText[]; readonly count: number }[],
  isWhole: boolean,
): ReadonlyMap<string, Origin> {
  const origins = new Map<string, Origin>();
  let work = 0;
  const originOf = (value: Leaf['value']): Origin | undefined => {
    const wanted = sought(value);
    if (wanted === undefined) return isWhole ? { from: 'nowhere' } : undefined;
    for (const { texts, count } of known) {
      for (const { origin, text } of texts.slice(0, count)) {
        work += text.words.length;
        if (work > MOST_WORK) return undefined;
        if (textHolds(text, wanted)) return origin ?? undefined;
      }
    }
    return isWhole ? { from: 'nowhere' } : undefined;
  };
  const free = schema === undefined ? { keys: [], whole: true } : freeKeysOf(args, declaredKeys(schema), MOST_LEAVES);
  const { keys, whole } = free;
  // What stands under keys that can't all be looked up isn't known either.
  if (!whole) return origins;
  /** What stands under a key of which nobody can tell where it is from. */
  const unknown: string[] = [];
  const isUnknown = (pointer: string) => unknown.some((above) => `${pointer}/`.startsWith(`${above}/`));
  for (const { pointer, key } of keys) {
    const origin = originOf(key);
    if (origin) origins.set(keyAt(pointer), origin);
    else unknown.push(pointer);
  }
  const { leaves } = leavesOf(args, MOST_LEAVES);
  // Such a key above nothing would be missed by whoever looks at the origins that there are.
  const isAboveSome = (pointer: string) => leaves.some((leaf) => `${leaf.pointer}/`.startsWith(`${pointer}/`));
  if (!unknown.every(isAboveSome)) return new Map();
  for (const { pointer, value } of leaves) {
    const origin = isUnknown(pointer) ? undefined : originOf(value);
    if (origin) origins.set(pointer, origin);
  }
  return origins;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
