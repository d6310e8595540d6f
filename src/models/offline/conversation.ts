import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, isHarnessNote } from '../../tools/index.ts';
import { type GivenDocument, givenDocuments } from './documents.ts';

/** What came back for a call: JSON documents, texts, and a line for each block that is neither. */
export interface CallAnswer {
  readonly isError: boolean;
  readonly documents: readonly Json[];
  readonly texts: readonly string[];
  readonly others: readonly string[];
}

export interface PastCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly answer: CallAnswer;
}

/** What the user said and gave with it, the calls made since, and the last words said in return. */
export interface Turn {
  readonly text: string;
  readonly documents: readonly GivenDocument[];
  readonly calls: readonly PastCall[];
  readonly reply: string;
}

/** Reads `messages` of a Messages API request into turns; calls without a result are left out. */
export function readTurns(messages: Json | undefined): Turn[] {
  const turns: { text: string; documents: readonly GivenDocument[]; calls: PastCall[]; reply: string }[] = [];
  const open = new Map<string, { name: string; input: JsonObject }>();
  for (const message of list(messages)) {
    if (!isObject(message)) continue;
    const blocks: readonly Json[] =
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : list(message.content);
    if (message.role === 'assistant') {
      const turn = turns.at(-1);
      if (turn) turn.reply = textOf(blocks);
      for (const block of blocks) {
        if (!isObject(block) || block.type !== 'tool_use' || typeof block.id !== 'string') continue;
        open.set(block.id, { name: String(block.name), input: isObject(block.input) ? block.input : {} });
      }
    } else if (message.role === 'user') {
      for (const block of blocks) {
        if (!isObject(block) || block.type !== 'tool_result' || typeof block.tool_use_id !== 'string') continue;
        const call = open.get(block.tool_use_id);
        if (call) turns.at(-1)?.calls.push({ id: block.tool_use_id, ...call, answer: readAnswer(block) });
      }
      const text = textOf(blocks.filter(isSaid));
      const documents = givenDocuments(blocks);
      if (text.trim() !== '' || documents.length > 0) turns.push({ text, documents, calls: [], reply: '' });
    }
  }
  return turns;
}

/** What the harness notes is no task. */
function isSaid(block: Json): boolean {
  return !(isObject(block) && typeof block.text === 'string' && isHarnessNote(block.text));
}

/** Reads a `tool_result` block. Text that is JSON becomes a document; what only repeats a part of another is dropped. */
export function readAnswer(block: JsonObject): CallAnswer {
  const documents: Json[] = [];
  const texts: string[] = [];
  const others: string[] = [];
  const blocks: readonly Json[] =
    typeof block.content === 'string' ? [{ type: 'text', text: block.content }] : list(block.content);
  for (const part of blocks) {
    if (!isObject(part)) continue;
    if (part.type === 'text' && typeof part.text === 'string') {
      const parsed = parseDocument(part.text);
      if (parsed === undefined) texts.push(part.text);
      else documents.push(parsed);
    } else {
      others.push(typeof part.title === 'string' ? `${part.type}: ${part.title}` : `${part.type}`);
    }
  }
  const unwrapped: Json[] = [];
  for (const document of documents) {
    const only = onlyText(document);
    if (only === undefined) unwrapped.push(document);
    else if (!texts.includes(only)) texts.push(only);
  }
  const told = new Set(
    unwrapped.flatMap((document) => (isObject(document) ? Object.values(document) : [])).map(canonicalJson),
  );
  return {
    isError: block.is_error === true,
    documents: unwrapped.filter((document) => !told.has(canonicalJson(document))),
    texts: texts.filter((text) => !told.has(canonicalJson(text))),
    others,
  };
}

function parseDocument(text: string): JsonObject | Json[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a document that does nothing but wrap one. */
function onlyText(document: Json): string | undefined {
  if (!isObject(document)) return undefined;
  const [entry, second] = Object.entries(document);
  return entry && !second && typeof entry[1] === 'string' && /^(?:content|text|result|output)$/.test(entry[0])
    ? entry[1]
    : undefined;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textOf(blocks: readonly Json[]): string {
  return blocks
    .flatMap((block) =>
      isObject(block) && block.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
    )
    .join('\n');
}
