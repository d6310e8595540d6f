/**
 * Rule of this file: a record is taken from a document by a tool's schema, and the call is the answer. What the model gives
 * is checked in code, what is wrong goes back to it word for word, and every attempt is kept.
 */
import type { Json, Model, Reason } from '../contracts/index.ts';
import type { InputOf, ToolSchema } from '../tools/index.ts';
import { BridleError, ownInputSchema } from '../tools/index.ts';
import type { AgentOptions, RunOptions } from './agent-options.ts';
import type { AnswerCheck, AnswerIssue } from './answer-check.ts';
import type { ToolChoice } from './choice-plan.ts';
import { createAgent } from './create-agent.ts';
import type { RunEnd, RunResult } from './events.ts';
import { attemptsOf, type ExtractionAttempt } from './extraction-attempts.ts';
import { extractionTools, hasReason, REASON } from './extraction-tools.ts';

/** A kind of record, and the documents that have one; `recordType` makes one whose check knows its record's type. */
export interface RecordType {
  /** At most 56 of the characters a-z, A-Z, 0-9, "_" and "-": the model's tool is called `extract_NAME`. */
  readonly name: string;
  /** For the model: which documents have it, and which only look as if they did; what the record holds. */
  readonly description: string;
  /** Of an object. Where a document may not say something, let it be null or leave it out of `required`. */
  readonly schema: ToolSchema;
  /** What the schema can't say: sums that must match, a date before another. */
  readonly check?: AnswerCheck<never>;
}

/** A kind of record. Returns what it is given, with the type of the record known to the check. */
export function recordType<const S extends ToolSchema>(
  type: Omit<RecordType, 'schema' | 'check'> & {
    readonly schema: S;
    readonly check?: AnswerCheck<NoInfer<InputOf<S>>>;
  },
): RecordType {
  return type;
}

export interface ExtractOptions
  extends Pick<
      AgentOptions,
      'limits' | 'maxTokens' | 'maxTokensRetry' | 'modelIdleMs' | 'name' | 'recorder' | 'trace' | 'user'
    >,
    Pick<RunOptions, 'signal' | 'onProgress'> {
  /** A model, or its name, as for `createAgent`. */
  readonly model: Model | string;
  /** The document: a text, or Messages API content blocks (document, image, text). */
  readonly input: string | Json[];
  /** One or several; the model chooses by their descriptions. */
  readonly types: readonly RecordType[];
  /** The type of the document where that is known for certain, and by whom. Then the model has only this one to fill. */
  readonly verified?: { readonly type: string; readonly by: string };
  /** What the model should know beside that, such as how amounts are written here. */
  readonly instructions?: string;
  /** How often the model is asked again, with what was wrong. Default 2. */
  readonly retries?: number;
}

export interface Extraction {
  /**
   * - `extracted`: the record fits its schema and its check.
   * - `incomplete`: the same, but the check says that the document doesn't say something; `missing` has it.
   * - `invalid`: it still doesn't hold after the retries; `attempts` says why.
   * - `none`: there is no record: no type fits (`reason`), or the run ended otherwise (`run.end`).
   */
  readonly status: 'extracted' | 'incomplete' | 'invalid' | 'none';
  /** Of the record, or of the last attempt. */
  readonly type?: string;
  /** The record, as the model gave it; with `extracted` and `incomplete`. */
  readonly value?: Json;
  readonly missing: readonly AnswerIssue[];
  /** Why this type: the model's words, or who verified it. Empty where nobody said. */
  readonly reason: string;
  /** Every call, in order, with what was wrong with it. */
  readonly attempts: readonly ExtractionAttempt[];
  /**
   * Where a schema leaves the model no way to say that something is missing (`schema_cannot_say_missing`), and that the
   * model can't be made to call a tool (`tool_choice_refused`): then it may answer without a record.
   */
  readonly warnings: readonly Reason[];
  readonly run: RunResult;
}

const RETRIES = 2;
const IN_WORDS = 'Call one of the tools before you answer.';
const NOT_FORCED: Reason = {
  room: 'agent',
  code: 'tool_choice_refused',
  text: 'The model takes no forced call, so it was asked in words: it may answer without a record.',
};

/**
 * Takes a record from a document.
 *
 * @param options see `ExtractOptions`
 * @returns the record and how it came about; whatever the model does is told there
 * @throws BridleError `extract_types_invalid`; `input_empty`; `answer_check_failed` when a check throws; the codes of `createAgent`
 *
 * @example const { status, type, value, reason } = await extract({ model, input: text, types: [invoice, contract] });
 */
export async function extract(options: ExtractOptions): Promise<Extraction> {
  const {
    model,
    input,
    verified,
    instructions,
    retries = RETRIES,
    signal,
    onProgress,
    types: given,
    ...rest
  } = options;
  const types = checkedTypes(given, verified);
  const stop = new AbortController();
  const made = extractionTools(types, verified === undefined, (fault) => stop.abort(fault));
  const names = made.tools.map(({ definition }) => definition.ref.tool);
  const attempts = retries + 1;
  const document = typeof input === 'string' ? documentOf(input) : input;
  if (document.length === 0) {
    throw new BridleError('input_empty', 'There is no document to take a record from: the input is empty.', {
      hint: 'Give its text, or content blocks.',
    });
  }
  const ask = async (forced: ToolChoice | null): Promise<RunResult> => {
    const agent = await createAgent({
      ...rest,
      model,
      tools: made.tools,
      permissions: { allow: names },
      answer: { tools: names, attempts },
      ...(forced !== null && { toolChoice: { first: Array.from({ length: attempts }, () => forced) } }),
      limits: { turns: attempts + 1, ...rest.limits },
      system: [systemOf(names, verified !== undefined), ...(instructions === undefined ? [] : [instructions])].join(
        '\n\n',
      ),
    });
    const wish = forced === null ? [{ type: 'text', text: IN_WORDS }] : [];
    const { result } = agent.run([...document, ...wish], {
      signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
      ...(onProgress !== undefined && { onProgress }),
    });
    const ended = await result;
    await agent.close();
    return ended;
  };
  const choice = verified === undefined ? ({ type: 'any' } as const) : ({ type: 'tool', name: `${names[0]}` } as const);
  let run = await ask({ ...choice, disable_parallel_tool_use: true });
  // Some models take no forced call, and refuse the request before anything is read: then it is wished for in words.
  const isRefused = run.turns === 0 && run.error?.code === 'model_request_refused';
  if (isRefused) run = await ask(null);
  const inWords = isRefused || run.notices?.some(({ code }) => code === 'tool_choice_in_words') === true;
  if (made.fault() !== null) throw made.fault();
  const tried = attemptsOf(run.messages, made);
  const last = tried.at(-1);
  const reason = verified === undefined ? (last?.reason ?? '') : `verified by ${verified.by}`;
  const base = { reason, attempts: tried, warnings: inWords ? [...made.warnings, NOT_FORCED] : made.warnings, run };
  if (made.declined() !== null) return { ...base, status: 'none', missing: [], reason: made.declined() ?? '' };
  const good = tried.find(({ isTaken }) => isTaken);
  if (good !== undefined) {
    const { type, value, issues: missing } = good;
    const status = missing.length === 0 ? 'extracted' : 'incomplete';
    return { ...base, status, type, value, missing, reason: verified === undefined ? good.reason : reason };
  }
  if (last === undefined || BROKEN_OFF.has(run.end)) return { ...base, status: 'none', missing: [] };
  return { ...base, status: 'invalid', type: last.type, missing: [] };
}

/** Ends of a run that say nothing of the record: its calls may not even have been looked at. */
const BROKEN_OFF: ReadonlySet<RunEnd> = new Set(['aborted', 'failed', 'refused', 'truncated']);

function checkedTypes(types: readonly RecordType[], verified: ExtractOptions['verified']): readonly RecordType[] {
  const wrong = (message: string, hint: string) => new BridleError('extract_types_invalid', message, { hint });
  if (types.length === 0) throw wrong('There is no type of record to extract.', 'Give at least one in "types".');
  const names = types.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw wrong(`Two types are called "${twice}".`, 'Give each its own name.');
  if (verified === undefined) {
    const own = types.find(({ name, schema }) => hasReason(ownInputSchema(schema, name)));
    if (own === undefined) return types;
    throw wrong(
      `The type "${own.name}" has a member "${REASON}", in which the model says why it chose the type.`,
      'Give the member another name, or verify the type.',
    );
  }
  const known = types.filter(({ name }) => name === verified.type);
  if (known.length === 1) return known;
  throw wrong(`The verified type "${verified.type}" is none of the types.`, `Name one of: ${names.join(', ')}.`);
}

function documentOf(text: string): Json[] {
  if (text.trim() === '') return [];
  return [
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } },
    { type: 'text', text: 'Record what this document says.' },
  ];
}

function systemOf(names: readonly string[], isVerified: boolean): string {
  const which = isVerified
    ? [`Record what the document in the user's message says, by one call of ${names[0]}.`]
    : [
        "Record what the document in the user's message says, by one call of the tool that fits it.",
        'Choose by what the document is for, and not by single words in it: an agreement that speaks of invoices is an agreement.',
      ];
  return [
    ...which,
    'Give each value as the document has it. Where it does not say something, give null or leave it out; never guess it.',
    'When a call is answered with what is wrong with it, look at the document again and call once more with that put right.',
  ].join('\n');
}
