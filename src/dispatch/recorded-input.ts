import type { CallContext, Identity, Json, QuestionRecord, Recorder } from '../contracts/index.ts';
import { errorText } from './outcomes.ts';
import { quietly } from './quietly.ts';

/** What lies deeper is not recorded: questions and answers are short, and a record is gone through by recursion. */
const MOST_DEPTH = 200;
/** Most lists and objects of one question or answer that are gone through. */
const MOST_PARTS = 100_000;
const TOO_DEEP = `[not kept: nested more than ${MOST_DEPTH} levels deep]`;
const TOO_MUCH = '[not kept: there is too much of it]';

export interface RecordedInputOptions {
  readonly recorder: Pick<Recorder, 'question'>;
  /** For whom is asked. */
  readonly who: Identity;
  readonly conversation: string;
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

/**
 * A host's `input` that records each question with its answer, or with why there is none. A request that belongs to
 * nothing that was asked for is passed on without a record.
 */
export function recordedInput(
  ask: NonNullable<CallContext['input']>,
  { recorder, who, conversation, now = Date.now }: RecordedInputOptions,
): NonNullable<CallContext['input']> {
  return async (request, from) => {
    if (from === undefined) return ask(request);
    const startedAt = now();
    const record = (end: () => Pick<QuestionRecord, 'answer' | 'error'>) =>
      quietly(() =>
        recorder.question?.({
          callId: from.callId,
          conversation,
          who,
          server: from.server?.key ?? null,
          tool: from.tool,
          ...(from.part && { part: from.part }),
          request: withoutQueries(request.parse() ?? null),
          ms: now() - startedAt,
          ...end(),
        }),
      );
    let answer: Json;
    try {
      answer = await ask(request, from);
    } catch (error) {
      record(() => ({ error: errorText(error) }));
      throw error;
    }
    record(() => ({ answer: withoutQueries(answer ?? null) }));
    return answer;
  };
}

/**
 * The value with each address in it cut after its path: what follows is where one-time codes and tokens stand. Where
 * something is nested too deeply to be kept, that is said in its place.
 */
function withoutQueries(whole: Json): Json {
  let left = MOST_PARTS;
  const walk = (value: Json, depth: number): Json => {
    if (typeof value === 'string') return withoutQuery(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MOST_DEPTH) return TOO_DEEP;
    left -= 1;
    if (left < 0) return TOO_MUCH;
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member, depth + 1)]));
  };
  return walk(whole, 1);
}

function withoutQuery(text: string): string {
  return text.replace(
    /(\bhttps?:\/\/)([^\s/?#@]*@)?([^\s?#]*)([?#]\S*)?/gi,
    (_, scheme: string, secret: string | undefined, place: string, rest: string | undefined) =>
      `${scheme}${secret === undefined ? '' : '…@'}${place}${rest === undefined ? '' : '?…'}`,
  );
}
