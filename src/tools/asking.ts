/**
 * Rule of this file: whoever is asked is asked in the middle of one call, in the way that the caller's protocol has. A
 * caller that waits gets a request; one that comes back gets a result that asks, and the handler runs anew with the
 * answers. An answer counts only for exactly the question that was put.
 */
import type { CallContext, Json, JsonObject, SourceResult, ToolRef } from '../contracts/index.ts';
import { askSchema } from './ask-schema.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import type { InputOf, ToolSchema } from './define-tool.ts';
import { ToolFailure } from './failure.ts';
import { rawFrom } from './raw-json.ts';
import { compileSchema } from './schema-check.ts';
import { issuesText } from './schema-issues.ts';
import { readElicitResult, stateSeal } from './sealed-state.ts';
import { standardIssues } from './standard-issues.ts';
import { isStandardSchema } from './standard-schema.ts';

/** How a question ended: with an answer that fits its schema, with a no, or without an answer. */
export type Answer<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

export type Ask = <const S extends ToolSchema>(message: string, schema: S) => Promise<Answer<InputOf<S>>>;

export interface Asking {
  readonly ask: Ask;
  /** The questions that stand, as the call's result; null when the handler had all it needs. */
  pending(): SourceResult | null;
}

const SEAL = stateSeal();

/**
 * What a call's handler asks with.
 *
 * @throws ToolFailure when the call comes back with a state that isn't one of its own
 */
export function asking(tool: ToolRef, args: Json, ctx: CallContext): Asking {
  const bound = sha256(canonicalJson([tool.name, tool.fingerprint, args, { ...ctx.who }] as Json));
  const earlier = answersOf(ctx, bound, tool.tool);
  const standing = new Map<string, Json>();
  const times = new Map<string, number>();
  return {
    async ask(message, schema) {
      const { form, check } = askSchema(schema, tool.tool);
      const request: JsonObject = { method: 'elicitation/create', params: { message, requestedSchema: form } };
      ctx.signal.throwIfAborted();
      if (ctx.input) return fitting(await answerNow(ctx, request), schema, check);
      if (ctx.takesQuestions !== true) throw nobody('whoever calls takes no questions');
      // The second time that the same is asked it wants another answer: the first didn't do.
      const digest = sha256(canonicalJson(request)).slice(0, 24);
      const nth = (times.get(digest) ?? 0) + 1;
      times.set(digest, nth);
      const key = `${digest}-${nth}`;
      const answer = earlier.get(key);
      if (answer !== undefined) return fitting(answer, schema, check);
      standing.set(key, request);
      throw nobody('the answer comes with the next leg of this call');
    },
    pending() {
      if (standing.size === 0) return null;
      const state = SEAL.seal({ bound, asked: [...standing.keys()], answers: Object.fromEntries(earlier) });
      return { kind: 'input_required', requests: rawFrom(Object.fromEntries(standing)), state };
    },
  };
}

/** Only what was asked is answered: the rest of what the caller sends is left alone. */
function answersOf({ answers, takesQuestions }: CallContext, bound: string, tool: string): Map<string, Json> {
  const { state, responses } = answers ?? {};
  if (takesQuestions !== true || state === undefined) return new Map();
  const opened = SEAL.open(state, bound);
  if (!opened) {
    throw new ToolFailure(
      `The request state that came with this call of "${tool}" doesn't belong to it, was used before, or is too old. ` +
        'Nothing was done. Make the call again without a state, and answer what it asks.',
      { category: 'validation' },
    );
  }
  const given = new Map(Object.entries(typeof responses === 'object' && responses !== null ? responses : {}));
  const found = new Map<string, Json>(Object.entries(opened.answers));
  for (const key of opened.asked) {
    const answer = given.get(key);
    if (answer !== undefined) found.set(key, answer);
  }
  return found;
}

async function answerNow(ctx: CallContext, request: JsonObject): Promise<Json | undefined> {
  try {
    return await ctx.input?.(rawFrom(request));
  } catch (cause) {
    ctx.signal.throwIfAborted();
    throw nobody(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

async function fitting<S extends ToolSchema>(
  answer: Json | undefined,
  schema: S,
  check: JsonObject,
): Promise<Answer<InputOf<S>>> {
  const read = readElicitResult(answer);
  if (read?.action === 'decline' || read?.action === 'cancel') return { action: read.action };
  if (read?.action !== 'accept') throw nobody('what came back is no answer');
  const { content } = read;
  const issues = (await compileSchema(check, { origin: 'own' })).check(content);
  if (issues.length > 0) throw unfit(issuesText(issues));
  if (!isStandardSchema(schema)) return { action: 'accept', content: content as InputOf<S> };
  const parsed = await schema['~standard'].validate(content);
  if (parsed.issues) throw unfit(issuesText(standardIssues(parsed.issues)));
  return { action: 'accept', content: parsed.value as InputOf<S> };
}

function nobody(why: string, cause?: unknown): ToolFailure {
  return new ToolFailure(`The tool has to ask the person who uses it, and nobody could be asked: ${why}.`, { cause });
}

function unfit(why: string): ToolFailure {
  return new ToolFailure(`The person's answer doesn't fit what was asked: ${why}`, { category: 'validation' });
}
