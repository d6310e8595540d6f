/**
 * Rule of this file: every `tool_use` is answered exactly once, results first, in one user message, nothing in between.
 *
 * A transcript is `ready` or `open`. A request can only be made of a ready one; while it is open, the only thing that
 * can be done to it is to answer its calls, and it becomes ready with the last answer. So there is no order of
 * operations that ends in a list of messages which the Messages API refuses.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isBlank, isBlock, isObject, unfinishedAfter } from './blocks.ts';
import { toSendBack, withoutUnfinished } from './close-messages.ts';
import { type PendingCall, soundReply } from './reply.ts';
import { type NoteRole, withNote, withUserMessage } from './system-note.ts';

interface Common {
  /** Always acceptable to the API as it stands; an open transcript's reply isn't in it yet. */
  readonly messages: readonly Json[];
  /** Every `tool_use` id so far: the API wants them unique over the whole conversation. */
  readonly ids: ReadonlySet<string>;
  /** Ids of provider-run calls that have no result yet: the next user message may hold results only. */
  readonly unfinished: readonly string[];
}

export interface ReadyTranscript extends Common {
  readonly state: 'ready';
}

export interface OpenTranscript extends Common {
  readonly state: 'open';
  readonly reply: JsonObject;
  /** In source order. */
  readonly calls: readonly PendingCall[];
  readonly answers: ReadonlyMap<string, JsonObject>;
}

export type Transcript = ReadyTranscript | OpenTranscript;

/** A conversation in which nothing has been said. */
export function emptyTranscript(): ReadyTranscript {
  return { state: 'ready', messages: [], ids: new Set(), unfinished: [] };
}

/**
 * Adds what the user says, as a user message of its own. Provider-run calls that never got their result are taken out
 * first: a user's word can't stand between such a call and its result.
 *
 * @param content text, or Messages API content blocks; blank text is left out, and nothing is added when nothing is left
 */
export function addInput(transcript: ReadyTranscript, content: Json): ReadyTranscript {
  const blocks = contentBlocks(content).filter(isSayable);
  if (blocks.length === 0) return transcript;
  const closed = closeTranscript(transcript);
  const sent: Json = typeof content === 'string' ? content : [...blocks];
  return { ...closed, messages: withUserMessage(closed.messages, sent) };
}

/**
 * Adds a note of our own to the model, in a message of its own: a result is the tool's word, and the model is right not to
 * follow instructions in it. Nothing is noted on a conversation in which nothing was said.
 *
 * @param role of the message, where it can stand there; see `NoteRole`
 */
export function addNote(transcript: ReadyTranscript, text: string, role: NoteRole = 'user'): ReadyTranscript {
  if (transcript.messages.length === 0 || text.trim() === '') return transcript;
  const closed = closeTranscript(transcript);
  return { ...closed, messages: withNote(closed.messages, text, role) };
}

/**
 * Adds the model's reply. Its blocks go back as they came, but for what the API itself would refuse: blank text, and
 * calls whose id, name or input isn't fit to be repeated.
 *
 * @param content the reply's content blocks
 * @returns an open transcript when there are calls to answer
 */
export function addReply(transcript: ReadyTranscript, content: readonly Json[]): Transcript {
  const sound = soundReply(content, transcript.ids);
  if (sound.content.length === 0) return transcript;
  const reply: JsonObject = { role: 'assistant', content: [...sound.content] };
  const unfinished = unfinishedAfter(transcript.unfinished, sound.content);
  if (sound.calls.length === 0) {
    return { ...transcript, messages: [...transcript.messages, reply], unfinished };
  }
  const ids = new Set(transcript.ids);
  for (const call of sound.calls) ids.add(call.id);
  return {
    state: 'open',
    messages: transcript.messages,
    ids,
    unfinished,
    reply,
    calls: sound.calls,
    answers: new Map(),
  };
}

/**
 * Answers one call. The first answer counts: one for a call that has its answer, or for no call of this reply, changes
 * nothing.
 *
 * @param result a `tool_result` block; its `tool_use_id` is set here
 * @returns ready, with all results in source order in one user message, once this was the last answer
 */
export function answerCall(transcript: OpenTranscript, id: string, result: JsonObject): Transcript {
  if (transcript.answers.has(id) || !transcript.calls.some((call) => call.id === id)) return transcript;
  const answers = new Map(transcript.answers).set(id, soundResult(id, result));
  if (answers.size < transcript.calls.length) return { ...transcript, answers };
  const results = transcript.calls.flatMap((call) => answers.get(call.id) ?? []);
  return {
    state: 'ready',
    messages: [...transcript.messages, transcript.reply, { role: 'user', content: results }],
    ids: transcript.ids,
    unfinished: transcript.unfinished,
  };
}

/** A turn that paused, ready to go back to the provider; null when there is nothing in it that could be gone on with. */
export function resumeTurn(transcript: ReadyTranscript): ReadyTranscript | null {
  const messages = toSendBack(transcript.messages);
  return messages === null ? null : { ...transcript, messages };
}

/** The calls of an open transcript that have no answer yet, in source order. */
export function unanswered(transcript: Transcript): readonly PendingCall[] {
  if (transcript.state === 'ready') return [];
  return transcript.calls.filter((call) => !transcript.answers.has(call.id));
}

/** Makes the end fit for a user message to follow. */
export function closeTranscript(transcript: ReadyTranscript): ReadyTranscript {
  return { ...transcript, messages: withoutUnfinished(transcript.messages, transcript.unfinished), unfinished: [] };
}

/** Results are never input: only `answerCall` gives one. */
function isSayable(block: Json): boolean {
  return isObject(block) && !isBlank(block) && !isBlock(block, 'tool_result');
}

/** The API refuses blank text blocks inside results too. */
function soundResult(id: string, result: JsonObject): JsonObject {
  const sound: JsonObject = { ...result, type: 'tool_result', tool_use_id: id };
  if (!Array.isArray(sound.content)) return sound;
  const kept = sound.content.filter((block) => !isBlank(block));
  if (kept.length > 0) return { ...sound, content: kept };
  delete sound.content;
  return sound;
}
