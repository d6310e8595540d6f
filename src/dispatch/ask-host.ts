import type { InputOrigin, Json, QuestionRecord, RawJson } from '../contracts/index.ts';
import type { Call, Path } from './call-path.ts';
import { errorText } from './outcomes.ts';
import { quietly } from './quietly.ts';

/** Puts what a tool asks for in the middle of its call to the host, and records question and answer. */
export async function askHost(path: Path, call: Call, request: RawJson, from: InputOrigin): Promise<Json> {
  const ask = call.ctx.input;
  if (!ask) throw new Error('This host takes no requests from servers.');
  const startedAt = path.clock.now();
  const record = (end: Pick<QuestionRecord, 'answer' | 'error'>) =>
    quietly(() =>
      path.recorder.question?.({
        callId: call.ctx.callId,
        conversation: call.request.conversation,
        server: from.server?.key ?? null,
        tool: from.tool,
        request: withoutQueries(request.parse() ?? null),
        ms: path.clock.now() - startedAt,
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
