import type {
  AskReply,
  CallOutcomeRecord,
  DeclarationRecord,
  Decision,
  IntentRecord,
  Json,
  Outcome,
  QuestionRecord,
} from '../../contracts/index.ts';
import type { AuditedAnswer, AuditedCall, AuditedEnd, AuditedQuestion } from './audit-record.ts';
import { keyedDigest } from './keyed-digest.ts';
import type { Redactor } from './redact.ts';

/** Longest arguments or facts, as JSON text, that a record keeps, in characters; longer ones are told by their digest. */
const MOST_KEPT = 8_000;

export interface DescribeOptions {
  readonly key: Uint8Array;
  readonly redactor: Redactor;
  /** False: arguments and facts are told by their digests only. */
  readonly keepsArguments: boolean;
}

/** Everything that an audit keeps of a call, apart from its end: redacted, and with keyed digests. */
export function describeCall(record: IntentRecord | CallOutcomeRecord, options: DescribeOptions): AuditedCall {
  return described(record, options, new Set());
}

/** The same of a declaration, and why it was left out. */
export function describeDeclaration({ leftOut, ...record }: DeclarationRecord, options: DescribeOptions) {
  const removed = new Set<string>();
  const call = described({ ...record, argsDigest: '' }, options, removed);
  return { call, ...(leftOut !== undefined && { leftOut: options.redactor.scrub(leftOut, removed) }) };
}

function described(
  record: IntentRecord | CallOutcomeRecord,
  options: DescribeOptions,
  removed: Set<string>,
): AuditedCall {
  const kept = keeper(options, removed);
  // A text is what could not be read as arguments: nothing can be taken out of it by name.
  const args = typeof record.args === 'string' ? undefined : kept(record.args);
  const facts = record.facts === undefined ? undefined : kept(record.facts);
  const proposed = record.proposed === undefined ? undefined : argumentsOf(record.proposed, kept, options);
  const behind = record.behind && { ref: record.behind.ref, ...argumentsOf(record.behind.args, kept, options) };
  const asked = record.asked && answerOf(record.asked, kept, options);
  // A hook's reason may quote what it made of the arguments.
  if (record.decision?.input !== undefined) kept(record.decision.input);
  const scrub = (text: string) => options.redactor.scrub(text, removed);
  return {
    id: record.callId,
    conversation: record.conversation,
    ...(record.parent && { parent: { ...record.parent } }),
    who: record.who,
    name: 'name' in record ? record.name : record.ref.name,
    argsDigest: argsDigest(record.args, options),
    ...(record.ref && { ref: record.ref }),
    ...('effect' in record && { effect: record.effect }),
    ...(args !== undefined && { args }),
    ...(proposed && { proposed }),
    ...(behind && { behind }),
    ...(record.facts !== undefined && { factsDigest: keyedDigest(options.key, 'audit facts', record.facts) }),
    ...(facts !== undefined && { facts }),
    ...(record.origins && { origins: record.origins }),
    ...(record.labels && { labels: record.labels }),
    ...(record.decision && { decision: decisionOf(record.decision, scrub) }),
    ...(asked && {
      asked: asked.answer === 'deny' && asked.reason ? { ...asked, reason: scrub(asked.reason) } : asked,
    }),
  };
}

/** Takes out what a record isn't to have; undefined where nothing of a value is kept. `removed` gets what was taken out. */
function keeper({ redactor, keepsArguments }: DescribeOptions, removed: Set<string>) {
  return (value: Json): Json | undefined => {
    if (!keepsArguments) {
      // Nor may a reason tell what the arguments and facts were.
      redactor.takeOut(value, removed);
      return undefined;
    }
    const clean = redactor.redact(value, removed);
    return JSON.stringify(clean).length <= MOST_KEPT ? clean : undefined;
  };
}

/** Everything that an audit keeps of what a server asked: redacted, and with keyed digests. */
export function describeQuestion(record: QuestionRecord, options: DescribeOptions): AuditedQuestion {
  const { callId, conversation, who, server, tool, part, request, answer, error, ms } = record;
  const removed = new Set<string>();
  const kept = keeper(options, removed);
  const digest = (value: Json) => keyedDigest(options.key, 'audit question', value);
  const [method, action] = [textIn(request, 'method'), answer === undefined ? undefined : textIn(answer, 'action')];
  const [asked, told] = [kept(request), answer === undefined ? undefined : kept(answer)];
  return {
    id: callId,
    conversation,
    ...(who && { who }),
    server,
    tool,
    ...(part && { part }),
    method: method ?? '',
    requestDigest: digest(request),
    ...(asked !== undefined && { request: asked }),
    ...(action !== undefined && { action }),
    ...(answer !== undefined && { answerDigest: digest(answer) }),
    ...(told !== undefined && { answer: told }),
    ...(error !== undefined && { error: options.redactor.scrub(error, removed) }),
    ms,
  };
}

function textIn(value: Json, name: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const text = Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof text === 'string' ? text.slice(0, 200) : undefined;
}

function argumentsOf(args: Json, kept: (value: Json) => Json | undefined, options: DescribeOptions) {
  const clean = kept(args);
  return { argsDigest: argsDigest(args, options), ...(clean !== undefined && { args: clean }) };
}

/** Of what a call is given, keyed: to be compared with another call's, or with arguments that somebody has. */
export function argsDigest(args: Json, { key }: Pick<DescribeOptions, 'key'>): string {
  return keyedDigest(key, 'audit arguments', args);
}

/** What a hook made of the arguments is in the call's own, beside what was proposed; it isn't kept a second time. */
function decisionOf({ input: _changed, ...decision }: Decision, scrub: (text: string) => string): Decision {
  return { ...decision, reasons: decision.reasons.map((reason) => ({ ...reason, text: scrub(reason.text) })) };
}

function answerOf(
  reply: AskReply,
  kept: (value: Json) => Json | undefined,
  options: DescribeOptions,
): AuditedAnswer | undefined {
  switch (reply.answer) {
    case 'allow': {
      const { answer, by, approval, always } = reply;
      const said = { answer, by, ...(approval !== undefined && { approval }), ...(always && { always }) };
      if (reply.args === undefined) return said;
      const args = kept(reply.args);
      return { ...said, argsDigest: argsDigest(reply.args, options), ...(args !== undefined && { args }) };
    }
    case 'deny': {
      const { answer, by, reason, approval } = reply;
      return { answer, by, ...(reason !== undefined && { reason }), ...(approval !== undefined && { approval }) };
    }
    case 'parked':
      return { answer: 'parked', approval: reply.approval };
  }
}

export function describeEnd({ outcome, startedAt, ms, attempts, answeredBy }: CallOutcomeRecord): AuditedEnd {
  return { outcome: outcome.kind, ...endOf(outcome), startedAt, ms, attempts, ...(answeredBy && { answeredBy }) };
}

function endOf(outcome: Outcome): Partial<AuditedEnd> {
  switch (outcome.kind) {
    case 'ok':
      return outcome.isError ? { isError: true } : {};
    case 'input_required':
      return {};
    case 'failed':
    case 'cancelled':
      return { executed: outcome.failure.executed, category: outcome.failure.category };
    case 'unknown_tool':
    case 'invalid':
    case 'denied':
    case 'parked':
      return { reasons: outcome.reasons.map(({ code }) => code) };
  }
}
