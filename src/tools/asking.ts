/**
 * Rule of this file: whoever is asked is asked in the middle of one call, in the way that the caller's protocol has. A
 * caller that waits gets a request; one that comes back gets a result that asks, and the handler runs anew with the
 * answers. An answer counts only for exactly the question that was put.
 */
import { randomUUID } from 'node:crypto';
import type { CallContext, InputKind, Json, JsonObject, SourceResult } from '../contracts/index.ts';
import { askSchema } from './ask-schema.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import type { InputOf, ToolSchema } from './define-tool.ts';
import { ToolFailure } from './failure.ts';
import { isJsonObject, toJson } from './json-object.ts';
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

export interface QuestionOptions {
  /**
   * What the question is called where it travels; default: a name made from what is asked. A caller of revision 2026-07-28
   * that knows the name may send the answer along with its call, and isn't asked then: name none that must be put to the
   * person each time.
   */
  readonly key?: string;
}

export interface VisitOptions extends QuestionOptions {
  /**
   * The call can't be made before the visit: one of revision 2025-11-25 ends with the address, and is made again by its
   * caller (MCP, URL elicitation required error). Then look by yourself whether the visit is over. Any other is asked.
   */
  readonly first?: boolean;
  /** Fulfilled when what is done at the address is over; a caller of revision 2025-11-25 is told. `visit` doesn't wait for it. */
  readonly completed?: Promise<unknown>;
}

export type Ask = <const S extends ToolSchema>(
  message: string,
  schema: S,
  options?: QuestionOptions,
) => Promise<Answer<InputOf<S>>>;

/** MCP `CreateMessageRequestParams`; what else it has goes on as it is. */
export interface SampleParams {
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: unknown }[];
  /** Most tokens of the answer. */
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly [field: string]: unknown;
}

/** MCP `CreateMessageResult`: what the caller's model said. */
export interface Sample {
  readonly role: 'user' | 'assistant';
  /** A content block, or several. */
  readonly content: JsonObject | readonly JsonObject[];
  readonly model?: string;
  readonly stopReason?: string;
}

/** MCP `Root`: a folder that the caller lets a server work in. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/**
 * What a handler asks its caller with, in the middle of the call. Ask before anything is changed: a caller of revision
 * 2026-07-28 comes back with the answer, and the handler runs again from its beginning. Write the same question each time,
 * as an answer counts only for exactly the question that was put. What is asked together (`Promise.all`) is asked at once.
 *
 * All throw a `ToolFailure` when nobody can be asked, and when the answer is none that fits; let it pass.
 */
export interface Questions {
  /**
   * Asks the person who uses the caller, by a form (MCP, Elicitation).
   *
   * @param message what is asked, for the person
   * @param schema a flat object of texts, numbers, booleans and choices (`enum`), in any form that `input` takes
   * @returns the answer, checked; or that the person said no (`decline`), or gave none (`cancel`)
   */
  readonly ask: Ask;
  /**
   * Sends the person to an address, for what must not pass through the caller: a password, a payment (MCP, Elicitation, URL
   * mode). `accept` says that they went there, and nothing of what came of it.
   *
   * @param url a web address, without anything in it that lets its reader in
   */
  visit(message: string, url: string, options?: VisitOptions): Promise<{ readonly action: Answer<never>['action'] }>;
  /** Asks the caller's model (MCP, Sampling); the caller may show it to its person first, and change it. */
  sample(params: SampleParams, options?: QuestionOptions): Promise<Sample>;
  /** Asks which folders the caller lets a server work in (MCP, Roots). */
  roots(options?: QuestionOptions): Promise<readonly Root[]>;
  /** Whether the caller says that it can be asked this; what it can't be asked, it won't answer. */
  canAsk(what: InputKind): boolean;
}

export interface Asking {
  readonly questions: Questions;
  /** The questions that stand, as the call's result; null when the handler had all it needs. */
  pending(): SourceResult | null;
}

/** What asks. `identity`: all that tells it from others, as long as it doesn't change. */
export interface Inquirer {
  readonly name: string;
  readonly identity: Json;
  /** It changes nothing, so that it may be run again with the same answers. */
  readonly onlyReads: boolean;
}

const SEAL = stateSeal();

/**
 * What a handler of this process asks with.
 *
 * @param args what it was called with
 * @throws ToolFailure when the call comes back with a state that isn't one of its own
 */
export function asking({ name, identity, onlyReads }: Inquirer, args: Json, ctx: CallContext): Asking {
  const bound = binding(identity, args, ctx);
  const { earlier, ahead } = answersOf(ctx, { bound, name, onlyReads });
  const standing = new Map<string, { readonly id: string; readonly request: JsonObject }>();
  const times = new Map<string, number>();

  /** @param now what only a caller that waits is told */
  const put = async (request: JsonObject, { key: wanted }: QuestionOptions, now: JsonObject = {}): Promise<Json> => {
    ctx.signal.throwIfAborted();
    if (ctx.input) {
      const { params } = request;
      return answerNow(ctx, isJsonObject(params) ? { ...request, params: { ...params, ...now } } : request);
    }
    if (ctx.takesQuestions !== true) throw nobody('whoever calls takes no questions');
    // The second time that the same is asked it wants another answer: the first didn't do.
    const digest = sha256(canonicalJson(request)).slice(0, 24);
    const nth = (times.get(digest) ?? 0) + 1;
    times.set(digest, nth);
    const id = `${digest}-${nth}`;
    const given = earlier.get(id) ?? (wanted === undefined ? undefined : ahead.get(wanted));
    if (given !== undefined) {
      // One name is one answer, and it is kept for the legs that follow.
      if (wanted !== undefined) ahead.delete(wanted);
      earlier.set(id, given);
      return given;
    }
    const key = wanted === undefined || standing.has(wanted) ? id : wanted;
    standing.set(key, { id, request });
    throw nobody('the answer comes with the next leg of this call');
  };

  const questions: Questions = {
    async ask(message, schema, options = {}) {
      const { form, check } = askSchema(schema, name);
      const params = { message, requestedSchema: form };
      return fitting(await put({ method: 'elicitation/create', params }, options), schema, check);
    },
    async visit(message, url, options = {}) {
      const scheme = URL.canParse(url) ? new URL(url).protocol : '';
      if (scheme !== 'https:' && scheme !== 'http:') {
        throw new ToolFailure(`"${name}" sends its person to something that is no web address, so nobody was asked.`);
      }
      const params = { mode: 'url', message, url };
      // The older revisions name each visit, to tell later that it is over.
      const elicitationId = randomUUID();
      options.completed?.then(
        () => ctx.visits?.over(elicitationId),
        () => {},
      );
      if (options.first === true && ctx.visits?.before) {
        ctx.visits.before({ ...params, elicitationId });
        throw visitsFirst(message);
      }
      const answer = await put({ method: 'elicitation/create', params }, options, { elicitationId });
      const read = readElicitResult(answer);
      if (read?.action === 'accept' || read?.action === 'decline' || read?.action === 'cancel') {
        return { action: read.action };
      }
      throw nobody('what came back is no answer');
    },
    async sample(params, options = {}) {
      const request = { method: 'sampling/createMessage', params: toJson(params) };
      const answer = await put(request, options);
      const isSaid = isJsonObject(answer) && typeof answer.content === 'object' && answer.content !== null;
      if (isSaid && (answer.role === 'assistant' || answer.role === 'user')) return answer as unknown as Sample;
      throw nobody('what came back is no message of a model');
    },
    async roots(options = {}) {
      const answer = await put({ method: 'roots/list', params: {} }, options);
      const roots = isJsonObject(answer) ? answer.roots : undefined;
      const isRoot = (one: Json) => isJsonObject(one) && typeof one.uri === 'string';
      if (Array.isArray(roots) && roots.every(isRoot)) return roots as unknown as readonly Root[];
      throw nobody('what came back is no list of folders');
    },
    canAsk(what) {
      if (!ctx.input && ctx.takesQuestions !== true) return false;
      return ctx.canAnswer === undefined || ctx.canAnswer.includes(what);
    },
  };
  return {
    questions,
    pending() {
      if (standing.size === 0) return null;
      const asked = Object.fromEntries([...standing].map(([key, { id }]) => [key, id]));
      const requests = Object.fromEntries([...standing].map(([key, { request }]) => [key, request]));
      const state = SEAL.seal({ bound: bound(), asked, answers: Object.fromEntries(earlier) });
      return { kind: 'input_required', requests: rawFrom(requests), state };
    },
  };
}

/**
 * What a state belongs to. Most calls ask nothing, so the digest is made when one is needed; the arguments are kept as they
 * are now, as a handler may change its own.
 */
function binding(identity: Json, args: Json, { who, takesQuestions }: CallContext): () => string {
  const text = takesQuestions === true ? JSON.stringify(args) : 'null';
  let digest: string | undefined;
  return () => {
    digest ??= sha256(canonicalJson([identity, JSON.parse(text) as Json, { ...who }] as Json));
    return digest;
  };
}

/** Where nobody may be asked, with the reason. */
export function noQuestions(why: string): Questions {
  const refuse = async () => {
    throw new ToolFailure(why);
  };
  return { ask: refuse, visit: refuse, sample: refuse, roots: refuse, canAsk: () => false };
}

interface Answers {
  /** To questions that were put, by what they ask. */
  readonly earlier: Map<string, Json>;
  /** To none that was put, by the name that the caller gave them. */
  readonly ahead: Map<string, Json>;
}

/** Only what was asked is answered: the rest of what the caller sends is left alone. */
function answersOf(
  { answers, takesQuestions }: CallContext,
  { bound, name, onlyReads }: { readonly bound: () => string; readonly name: string; readonly onlyReads: boolean },
): Answers {
  const { state, responses } = answers ?? {};
  const given = new Map<string, Json>(isJsonObject(responses ?? null) ? Object.entries(responses as JsonObject) : []);
  if (takesQuestions !== true) return { earlier: new Map(), ahead: new Map() };
  if (state === undefined) return { earlier: new Map(), ahead: given };
  const opened = SEAL.open(state, bound(), onlyReads);
  if (!opened) throw stateRefused(name);
  const earlier = new Map<string, Json>(Object.entries(opened.answers));
  for (const [key, id] of Object.entries(opened.asked)) {
    const answer = given.get(key);
    if (answer !== undefined) earlier.set(id, answer);
  }
  return { earlier, ahead: new Map() };
}

/** The request is wrong as one of the protocol (MCP 2026-07-28, Multi Round-Trip Requests): whoever made it can't mend it. */
function stateRefused(name: string): ToolFailure {
  const refused = new ToolFailure(
    `The request state that came with this call of "${name}" doesn't belong to it, was used before, or is too old. ` +
      'Nothing was done. Make the call again without a state, and answer what it asks.',
    { category: 'validation' },
  );
  return Object.assign(refused, { failure: { ...refused.failure, badRequest: true } });
}

async function answerNow(ctx: CallContext, request: JsonObject): Promise<Json> {
  try {
    return (await ctx.input?.(rawFrom(request))) ?? null;
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

function visitsFirst(message: string): ToolFailure {
  return new ToolFailure(`Somebody has to go to an address first, and the call has to be made again: ${message}`, {
    category: 'permission',
    executed: 'not_executed',
  });
}

function unfit(why: string): ToolFailure {
  return new ToolFailure(`The person's answer doesn't fit what was asked: ${why}`, { category: 'validation' });
}
