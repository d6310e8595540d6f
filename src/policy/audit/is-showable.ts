import type { AuditRecord } from './audit-record.ts';

interface Members {
  readonly [name: string]: unknown;
}

/** The last moment that a date can be (ECMA-262, time values). */
const LAST_TIME = 8.64e15;

/** Whether a record has what those who show it rely on: files are edited, and sent by others. */
export function isShowable(record: AuditRecord): boolean {
  const { at, type } = record as unknown as Members;
  if (!isTime(at)) return false;
  const { call, end, question } = record as unknown as Members;
  if (type === 'question') return isObject(question) && hasTexts(question, 'id', 'conversation', 'method');
  if (type === 'intent' || type === 'declaration') return isCall(call);
  if (type === 'call') return isCall(call) && isEnd(end);
  return type !== 'end' || isEnd(end);
}

function isCall(call: unknown): boolean {
  if (!isObject(call) || !hasTexts(call, 'id', 'name', 'argsDigest')) return false;
  const { who, ref, decision, asked, origins, labels } = call;
  return (
    isObject(who) &&
    hasTexts(who, 'agent', 'via') &&
    (ref === undefined || (isObject(ref) && hasTexts(ref, 'fingerprint') && isServer(ref.server))) &&
    (decision === undefined || isDecision(decision)) &&
    (asked === undefined || (isObject(asked) && hasTexts(asked, asked.answer === 'parked' ? 'approval' : 'by'))) &&
    (origins === undefined || (isObject(origins) && Object.values(origins).every(isObject))) &&
    (labels === undefined || Array.isArray(labels))
  );
}

function isServer(server: unknown): boolean {
  return server === null || (isObject(server) && hasTexts(server, 'key', 'scope'));
}

function isDecision(decision: unknown): boolean {
  if (!isObject(decision) || !hasTexts(decision, 'effect', 'policyVersion')) return false;
  return (
    Array.isArray(decision.reasons) && decision.reasons.every((one) => isObject(one) && hasTexts(one, 'code', 'text'))
  );
}

function isEnd(end: unknown): boolean {
  if (!isObject(end) || !hasTexts(end, 'outcome') || typeof end.ms !== 'number') return false;
  const { answeredBy } = end;
  if (answeredBy !== undefined && !(isObject(answeredBy) && hasTexts(answeredBy, 'callId') && isTime(answeredBy.at)))
    return false;
  return end.reasons === undefined || Array.isArray(end.reasons);
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) <= LAST_TIME;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

function hasTexts(members: Members, ...names: readonly string[]): boolean {
  return names.every((name) => typeof members[name] === 'string');
}
