import type { CallOutcomeRecord, Json, Narrowing, Outcome, RawJson, ToolDefinition } from '../contracts/index.ts';
import { compileSchema, cutAt, modelContent, rawFrom, type SchemaCheck } from '../tools/index.ts';
import type { Call, Notes, Path, Ran } from './call-path.ts';
import { errorText, failed, issueReasons } from './outcomes.ts';
import { quietly } from './quietly.ts';

/** Longest line, in characters, that says what was tried or what could be tried instead. */
const MOST_LINE = 1_000;

type Ok = Extract<Outcome, { kind: 'ok' }>;

/**
 * What the caller gets of what ran. For the relay, and for previews, that is the result as received; but a tool of this
 * process is held to its output schema also there: nobody else stands for it.
 */
export async function finish(path: Path, call: Call, { tool, outcome: given }: Ran): Promise<Outcome> {
  const outcome = tool.narrows?.result ? narrowed(tool.narrows.result, given) : given;
  if (call.request.profile === 'relay') {
    if (outcome.kind !== 'ok' || outcome.isError || tool.ref.server !== null) return outcome;
    return (await outputMismatch(call, tool, outcome.raw)) ?? outcome;
  }
  if (outcome.kind !== 'ok') return bounded(path, call, outcome);
  const mismatch = outcome.isError ? undefined : await outputMismatch(call, tool, outcome.raw);
  if (mismatch) return bounded(path, call, mismatch);
  return call.previewFor ? outcome : shape(path, call, tool, outcome);
}

/** What a view keeps of a result, in both profiles. What isn't as the view expects is refused, never handed on. */
function narrowed(keep: NonNullable<Narrowing['result']>, outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'ok': {
      const { content: _, ...rest } = outcome;
      const kept = keep(outcome.raw, outcome.isError);
      if ('raw' in kept) return { ...rest, raw: kept.raw };
      const text =
        `The tool ran, but its result isn't what this view of it expects (${kept.refused}), so it is not shown. ` +
        "Don't repeat the call because of this.";
      return failed(text, 'executed', { category: 'validation' });
    }
    case 'failed':
    case 'cancelled': {
      const { category, retryable, executed } = outcome.failure;
      const message =
        `The tool failed (${category}${executed === 'executed' ? '' : `, ${executed.replace('_', ' ')}`}). ` +
        'Its words are not shown, as only some of its results are.';
      return { ...outcome, failure: { category, retryable, executed, message, attempts: [] } };
    }
    default:
      return outcome;
  }
}

/** A failure is for a model too: its words and its partial results keep to the budget that results have. */
function bounded(path: Path, call: Call, outcome: Outcome): Outcome {
  if (outcome.kind !== 'failed' && outcome.kind !== 'cancelled') return outcome;
  const { failure } = outcome;
  const most = call.maxResultChars;
  const { message, attempts, alternatives } = failure;
  const partial =
    failure.partial && failure.partial.text.length > most ? shortened(path, call, failure.partial) : undefined;
  return {
    ...outcome,
    failure: {
      ...failure,
      message: cut(message, most),
      attempts: attempts.map((line) => cut(line, MOST_LINE)),
      ...(alternatives && { alternatives: alternatives.map((line) => cut(line, MOST_LINE)) }),
      ...(partial && { partial }),
    },
  };
}

function cut(text: string, most: number): string {
  return text.length > most ? `${cutAt(text, most)}…` : text;
}

function shortened(path: Path, call: Call, partial: RawJson): RawJson {
  const owner = { who: call.ctx.who, conversation: call.request.conversation };
  return rawFrom(
    modelContent(partial, { maxChars: call.maxResultChars, keep: (full) => path.results.keep(owner, full) }),
  );
}

function shape(path: Path, call: Call, { hints }: ToolDefinition, outcome: Ok): Outcome {
  const owner = { who: call.ctx.who, conversation: call.request.conversation };
  try {
    const content = modelContent(outcome.raw, {
      maxChars: call.maxResultChars,
      keep: (full) => path.results.keep(owner, full),
      isError: outcome.isError,
      browserState: hints?.toolset?.name === 'browser',
    });
    return { ...outcome, content };
  } catch (error) {
    const text = `The tool ran, but its answer can't be read: ${errorText(error)}. Don't repeat the call because of this.`;
    return failed(text, 'executed', { category: 'validation', partial: asPartial(outcome.raw) });
  }
}

/** A result that breaks the tool's own promise has run all the same: its data is kept, and it isn't to be repeated. */
async function outputMismatch(call: Call, tool: ToolDefinition, raw: RawJson): Promise<Outcome | undefined> {
  if (tool.outputSchema === undefined) return undefined;
  const own = tool.ref.server === null || tool.ref.server.scope === 'code';
  let check: SchemaCheck;
  let structured: Json | undefined;
  try {
    check = await compileSchema(tool.outputSchema, { origin: own ? 'own' : 'outside' });
  } catch (error) {
    return tellUnusable(call, error);
  }
  try {
    structured = structuredContent(raw.parse());
  } catch {
    return undefined;
  }
  const issues = structured === undefined ? [NO_STRUCTURED] : check.check(structured);
  if (issues.length === 0) return undefined;
  const named = issueReasons(issues).map(({ text }) => text);
  const text =
    `The tool ran, but its result doesn't match its output schema. ${named.join(' ')} ` +
    "The data is kept as received; don't repeat the call because of this.";
  return failed(text, 'executed', { category: 'validation', partial: asPartial(raw) });
}

const NO_STRUCTURED = { path: '', message: 'the result has no structuredContent, which the output schema promises' };

/** An output schema that can't be compiled costs the check, never the result. */
function tellUnusable(call: Call, error: unknown): undefined {
  const data = `The output schema can't be used, so the result was not checked: ${errorText(error)}`;
  quietly(() => call.ctx.onEvent?.({ kind: 'log', raw: rawFrom({ level: 'warning', data }) }));
  return undefined;
}

function structuredContent(result: Json): Json | undefined {
  return typeof result === 'object' && result !== null && !Array.isArray(result) ? result.structuredContent : undefined;
}

/** As JSON, even if what came isn't. */
function asPartial(raw: RawJson): RawJson {
  try {
    raw.parse();
    return raw;
  } catch {
    return rawFrom(raw.text);
  }
}

/** The arguments of a call as records hold them. */
export function recordedArguments({
  args,
  proposed,
  behind,
}: Notes): Pick<CallOutcomeRecord, 'args' | 'proposed' | 'behind'> {
  return {
    args: args.value(),
    ...(proposed && { proposed: proposed.value() }),
    ...(behind && { behind: { ref: behind.ref, args: behind.args.value() } }),
  };
}

/** What is known of where the arguments came from, as records hold it. */
export function recordedOrigins({ notes, request }: Call): Pick<CallOutcomeRecord, 'origins' | 'labels'> {
  return {
    ...(notes.origins && { origins: Object.fromEntries(notes.origins) }),
    ...(request.provenance && { labels: [...request.provenance.labels] }),
  };
}

/** The record of a finished call, from whatever stage it ended at. */
export function recordOf(path: Pick<Path, 'clock'>, call: Call, outcome: Outcome): CallOutcomeRecord {
  const { request, notes } = call;
  return {
    callId: call.ctx.callId,
    conversation: request.conversation,
    who: call.ctx.who,
    name: request.name,
    ...recordedArguments(notes),
    startedAt: notes.startedAt,
    ms: path.clock.now() - notes.startedAt,
    attempts: notes.attempts,
    outcome,
    ...(notes.tool && { ref: notes.tool.ref }),
    ...(notes.facts !== undefined && { facts: notes.facts }),
    ...recordedOrigins(call),
    ...(notes.decision && { decision: notes.decision }),
    ...(notes.asked && { asked: notes.asked }),
    ...(notes.answeredBy && { answeredBy: notes.answeredBy }),
  };
}
