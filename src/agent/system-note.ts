/**
 * Rule of this file: what the harness itself has to say to the model stands where the model can tell it from the user's
 * words and from results: in a system message of its own where the model takes one in the middle of a conversation,
 * else in a user message of its own. The API takes a system message only behind a user message, only at the end or
 * before the assistant, and never two in a row (Messages API, "Mid-conversation system messages").
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import { modelFacts, modelTraits } from '../models/index.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';

/** The role of the harness's own messages. */
export type NoteRole = 'system' | 'user';

/** What is known of a model by its name. One that isn't known gets user messages, which every model takes. */
export function noteRoleOf(modelId: string): NoteRole {
  const isKnown = modelFacts(modelId) !== undefined;
  return isKnown && modelTraits(modelId)?.systemMessages === true ? 'system' : 'user';
}

/** Whether the model is next to speak: the last message is the user's, or the harness's behind it. */
export function awaitsReply(messages: readonly Json[]): boolean {
  const last = messages.at(-1);
  return isObject(last) && (last.role === 'user' || last.role === 'system');
}

/** The messages with a note at their end. */
export function withNote(messages: readonly Json[], text: string, role: NoteRole): readonly Json[] {
  const last = messages.at(-1);
  if (role === 'system' && isSystem(last)) {
    const content = [...contentBlocks(last.content), { type: 'text', text }];
    return [...messages.slice(0, -1), { ...last, content }];
  }
  const fits = role === 'system' && isObject(last) && last.role === 'user';
  if (fits) return [...messages, { role: 'system', content: [{ type: 'text', text }] }];
  return [...messages, { role: 'user', content: text }];
}

/** The messages with what the user says at their end: a note that stood there comes behind it. */
export function withUserMessage(messages: readonly Json[], content: Json): readonly Json[] {
  const said = { role: 'user', content };
  const last = messages.at(-1);
  return isSystem(last) ? [...messages.slice(0, -1), said, last] : [...messages, said];
}

/** The same conversation for a model whose notes have this role: one that takes no system messages gets none. */
export function withNoteRole(messages: readonly Json[], role: NoteRole): readonly Json[] {
  if (role === 'system' || !messages.some(isSystem)) return messages;
  return messages.flatMap((message) => {
    if (!isSystem(message)) return [message];
    const texts = contentBlocks(message.content).filter((block) => isBlock(block, 'text'));
    return texts.length === 0 ? [] : [{ role: 'user', content: [...texts] }];
  });
}

function isSystem(message: Json | undefined): message is JsonObject {
  return isObject(message) && message.role === 'system';
}
