import type { CallContext, Identity, Json, QuestionRecord, Recorder } from '../contracts/index.ts';
import { errorText } from './outcomes.ts';
import { quietly } from './quietly.ts';

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
    const record = (end: Pick<QuestionRecord, 'answer' | 'error'>) =>
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
          ...end,
        }),
      );
    try {
      const answer = await ask(request, from);
      record({ answer: withoutQueries(answer ?? null) });
      return answer;
    } catch (error) {
      record({ error: errorText(error) });
      throw error;
    }
  };
}

/** The value with each address in it cut after its path: what follows is where one-time codes and tokens stand. */
function withoutQueries(value: Json): Json {
  if (typeof value === 'string') {
    return value.replace(
      /(\bhttps?:\/\/)([^\s/?#@]*@)?([^\s?#]*)([?#]\S*)?/gi,
      (_, scheme: string, secret: string | undefined, place: string, rest: string | undefined) =>
        `${scheme}${secret === undefined ? '' : '…@'}${place}${rest === undefined ? '' : '?…'}`,
    );
  }
  if (Array.isArray(value)) return value.map(withoutQueries);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutQueries(member)]));
}
