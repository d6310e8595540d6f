import { type LogLevel, META } from '../wire/index.ts';
import type { Negotiated } from './era.ts';
import { isObject } from './message.ts';
import type { Session } from './session.ts';

/** How long an answer to `logging/setLevel` is waited for; nothing depends on it. */
const SET_LEVEL_MS = 10_000;

/**
 * Asks a server for its log messages from this level on: with each request of revision 2026-07-28, once before. A server
 * that has no log, or doesn't want to, is left alone.
 */
export function askForLogs(session: Session, negotiated: Negotiated, level: LogLevel): void {
  if (session.meta !== null) {
    session.meta = { ...session.meta, [META.logLevel]: level };
    return;
  }
  if (!isObject(negotiated.capabilities.logging)) return;
  session.request('logging/setLevel', { level }, { hardMs: SET_LEVEL_MS }, { housekeeping: true }).catch(() => {});
}
