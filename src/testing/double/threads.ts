import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson } from '../../tools/index.ts';
import { arrayOf, isObject } from '../rules/shape.ts';
import type { Refusal } from './refusal.ts';

const THREADS_BETA = 'message-threads-2026-08-12';
/** What a thread takes from the request that made it, and a later one may not bring again. */
const CREATE_ONLY = ['system', 'tools'] as const;

interface Thread {
  readonly messages: readonly Json[];
  readonly fields: JsonObject;
  continued: boolean;
}

/** Conversations that the server holds between requests (beta `message-threads-2026-08-12`), by the id of a reply. */
export interface Threads {
  /** The whole conversation that a request stands for, or why it stands for none. */
  resolve(body: JsonObject, betas: readonly string[]): { readonly body: JsonObject } | { readonly refusal: Refusal };
  /** Keeps the conversation under the reply's id, where the request asked for that. */
  keep(asked: JsonObject, whole: JsonObject, reply: JsonObject): void;
}

export function createThreads(): Threads {
  const held = new Map<Json, Thread>();
  return {
    resolve(body, betas) {
      const { thread, ...rest } = body;
      if (thread === undefined || thread === null) return { body };
      if (!betas.includes(THREADS_BETA)) return { refusal: refused('thread: Extra inputs are not permitted') };
      if (!isObject(thread) || (thread.type !== 'create' && thread.type !== 'continue')) {
        return { refusal: refused('thread: Input should have a type of create or continue') };
      }
      if (thread.type === 'create') return { body: rest };
      const before = held.get(thread.previous_message_id ?? null);
      if (before === undefined) {
        return { refusal: refused('No thread was found for `previous_message_id`.', 'thread_not_found', 404) };
      }
      if (before.continued) {
        return {
          refusal: refused(
            'The response that `previous_message_id` names was continued before.',
            'thread_already_continued',
          ),
        };
      }
      const changed = CREATE_ONLY.filter(
        (field) =>
          rest[field] !== undefined && canonicalJson(rest[field]) !== canonicalJson(before.fields[field] ?? null),
      );
      if (changed.length > 0) {
        return {
          refusal: refused(
            `These fields must stay the same across a thread: ${changed.map((field) => `\`${field}\``).join(', ')}.`,
            'thread_fingerprint_mismatch',
          ),
        };
      }
      return { body: { ...before.fields, ...rest, messages: [...before.messages, ...arrayOf(rest.messages)] } };
    },
    keep({ thread }, whole, reply) {
      if (!isObject(thread)) return;
      const before = held.get(thread.previous_message_id ?? null);
      if (thread.type === 'continue' && before !== undefined) before.continued = true;
      const fields: JsonObject = {};
      for (const field of CREATE_ONLY) if (whole[field] !== undefined) fields[field] = whole[field];
      const messages = [...arrayOf(whole.messages), { role: 'assistant', content: reply.content ?? [] }];
      held.set(reply.id ?? null, structuredClone({ messages, fields, continued: false }));
    },
  };
}

function refused(message: string, code?: string, status = 400): Refusal {
  return {
    status,
    type: status === 404 ? 'not_found_error' : 'invalid_request_error',
    message,
    ...(code !== undefined && { details: { error_code: code } }),
  };
}
