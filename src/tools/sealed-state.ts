import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';

/** How long an answer is waited for, in milliseconds. */
const LIFETIME_MS = 30 * 60_000;
/** Questions that may stand at once; the oldest gives way. */
const MOST_OPEN = 10_000;

/** What is kept between two legs of one call. */
export interface AskState {
  /** Digest of what asks, its arguments and its caller. */
  readonly bound: string;
  /** What each question that stands asks, by the key under which it travels. */
  readonly asked: Readonly<Record<string, string>>;
  /** Answers of earlier legs, by what their question asked. */
  readonly answers: JsonObject;
}

/**
 * Seals the state of a call that asks (MCP 2026-07-28, Multi Round-Trip Requests, `requestState`), which travels through
 * the caller: signed with a key of this process (HMAC-SHA-256), good for half an hour, and for one use unless it is kept.
 */
export interface StateSeal {
  seal(state: AskState): string;
  /**
   * What was sealed; null for anything else, without a word on why.
   *
   * @param keep it may come again: of what only reads, a leg that is sent once more is worth an answer
   */
  open(sealed: string, bound: string, keep?: boolean): AskState | null;
}

export function stateSeal(now: () => number = Date.now): StateSeal {
  const key = randomBytes(32);
  /** Until when each state that was given out counts, oldest first. */
  const open = new Map<string, number>();
  const sign = (body: string) => createHmac('sha256', key).update(body).digest();
  const prune = () => {
    for (const [nonce, until] of open) {
      if (until > now() && open.size < MOST_OPEN) return;
      open.delete(nonce);
    }
  };
  return {
    seal({ bound, asked, answers }) {
      prune();
      const nonce = randomBytes(16).toString('base64url');
      open.set(nonce, now() + LIFETIME_MS);
      const body = Buffer.from(JSON.stringify({ nonce, bound, asked, answers })).toString('base64url');
      return `${body}.${sign(body).toString('base64url')}`;
    },
    open(sealed, bound, keep = false) {
      const [body = '', signature = '', ...rest] = sealed.split('.');
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(body);
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
      const state = JSON.parse(Buffer.from(body, 'base64url').toString()) as AskState & { readonly nonce: string };
      if (state.bound !== bound) return null;
      const until = open.get(state.nonce);
      if (!keep) open.delete(state.nonce);
      return until !== undefined && until > now() ? state : null;
    },
  };
}

/** An MCP `ElicitResult` as far as it can be relied on. */
export function readElicitResult(answer: Json | undefined): { action: string; content: JsonObject } | null {
  if (!isJsonObject(answer) || typeof answer.action !== 'string') return null;
  return { action: answer.action, content: isJsonObject(answer.content) ? answer.content : {} };
}
