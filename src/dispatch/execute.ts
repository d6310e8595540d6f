import type {
  CallContext,
  Failure,
  Identity,
  InputOrigin,
  IntentRecord,
  Json,
  Outcome,
  RawJson,
  SourceResult,
  StartedRun,
  ToolDefinition,
  TraceContext,
} from '../contracts/index.ts';
import { canonicalJson, SignalOnDemand, sha256, ToolFailure } from '../tools/index.ts';
import { answered, type InputAnswers } from './answer-input.ts';
import { boundDigest } from './arguments.ts';
import { askHost } from './ask-host.ts';
import type { Call, Committed, DispatchedContext, Ended, Path, Permitted, Ran } from './call-path.ts';
import { recordedArguments, recordedOrigins } from './finish.ts';
import { cancelled, ended, errorText, failed } from './outcomes.ts';
import { quietly } from './quietly.ts';
import { recordsNothing } from './recorders.ts';
import { backoffMs, failureOf, mayRepeat, withAttempts } from './retry.ts';
import { type Limited, type WorkScope, withinLimits } from './within-limits.ts';

/** Puts the intent on record before anything runs. What can't be recorded doesn't run. */
export async function commit(path: Path, call: Call, permit: Permitted): Promise<Ended | Committed> {
  if (recordsNothing(path.recorder) && !call.signal.aborted) return { stage: 'committed', permit };
  const run = await withinLimits(() => path.recorder.intent(intentOf(call, permit)), {
    signal: call.signal,
    clock: path.clock,
    hardMs: call.hardMs,
  });
  switch (run.end) {
    case 'settled':
      return { stage: 'committed', permit };
    case 'threw':
      return ended(failed(notRecorded(errorText(run.error)), 'not_executed'));
    case 'limit':
      return ended(failed(notRecorded(`no answer within ${run.ms} ms`), 'not_executed'));
    case 'cancelled':
      return ended(cancelled(call.signal, 'not_executed'));
  }
}

function notRecorded(why: string): string {
  return `The call was not run, because its intent could not be recorded: ${why}. The person who runs this has to mend that.`;
}

function intentOf(call: Call, permit: Permitted): IntentRecord {
  return {
    callId: call.ctx.callId,
    conversation: call.request.conversation,
    who: call.ctx.who,
    ref: permit.tool.ref,
    effect: permit.tool.effect,
    ...recordedArguments(call.notes),
    argsDigest: boundDigest(permit.args),
    decision: permit.decision,
    ...(permit.facts !== undefined && { facts: permit.facts, factsDigest: sha256(canonicalJson(permit.facts)) }),
    ...recordedOrigins(call),
    ...(permit.asked && { asked: permit.asked }),
  };
}

/** Hands the call to its source, once or, where it is known to be harmless, a few times. Never rejects. */
export async function execute(path: Path, call: Call, { permit }: Committed): Promise<Ran> {
  let deadline = path.clock.now() + call.hardMs;
  const attempts: string[] = [];
  const leg = (answers: InputAnswers | undefined) =>
    runOnce(path, call, permit, { hardMs: deadline - path.clock.now(), answers });
  // Between two legs nothing runs: a person's time to answer is not the tool's.
  const onWaited = (ms: number) => {
    deadline += ms;
  };
  for (let nth = 1; ; nth += 1) {
    call.notes.attempts = nth;
    const outcome = await answered(path, call, permit, { leg, onWaited });
    const said = failureOf(outcome);
    if (said === null) return ran(permit, outcome);
    attempts.push(...said.attempts, `Attempt ${nth}: ${said.message}`);
    const failure = nth === 1 ? said : withAttempts(said, attempts);
    // A result that calls itself an error goes on as it was received.
    const given: Outcome = outcome.kind === 'failed' ? { kind: 'failed', failure } : outcome;
    const wait = backoffMs(nth);
    const goesOn =
      call.request.profile === 'agent' &&
      nth <= path.limits.retries &&
      mayRepeat(failure, permit.tool) &&
      path.clock.now() + wait < deadline;
    if (!goesOn) return ran(permit, given);
    if (!(await waited(path, call, wait))) {
      return ran(permit, outcome.kind === 'ok' ? outcome : cancelled(call.signal, failure.executed));
    }
    // On a machine that slept the wait was longer: a try without time would only be started and given up.
    if (path.clock.now() >= deadline) return ran(permit, given);
  }
}

/** What may have taken effect, and would take effect twice, is never said to be worth another try. */
function ran({ tool }: Permitted, outcome: Outcome): Ran {
  const isOpen = outcome.kind === 'failed' && outcome.failure.executed === 'unknown' && tool.effect === 'write';
  if (!isOpen || !outcome.failure.retryable) return { stage: 'ran', tool, outcome };
  return { stage: 'ran', tool, outcome: { ...outcome, failure: { ...outcome.failure, retryable: false } } };
}

/** False when the call was cancelled meanwhile. */
async function waited(path: Path, call: Call, ms: number): Promise<boolean> {
  const pause = () => new Promise<void>((resolve) => void path.clock.after(ms, resolve));
  const run = await withinLimits(pause, { signal: call.signal, clock: path.clock, graceMs: 0 });
  return run.end === 'settled';
}

async function runOnce(
  path: Path,
  call: Call,
  permit: Permitted,
  { hardMs, answers }: { readonly hardMs: number; readonly answers: InputAnswers | undefined },
): Promise<Outcome> {
  const { tool, source, args } = permit;
  const run = await withinLimits(
    (scope) => {
      call.notes.handedOver = true;
      const behind = tool.narrows?.of ?? tool;
      const sent = (args.behind ?? args).value();
      return source.call(behind.ref.tool, sent, new SourceContext(path, call, { tool: behind, scope, answers }));
    },
    { signal: call.signal, clock: path.clock, idleMs: call.idleMs, hardMs },
  );
  return read(call, tool, run);
}

interface Leg {
  readonly tool: ToolDefinition;
  readonly scope: WorkScope;
  readonly answers: InputAnswers | undefined;
}

/** The caller's context, with the dispatcher's own signal, and with progress that starts the idle limit anew. */
class SourceContext extends SignalOnDemand implements DispatchedContext {
  readonly callId: string;
  readonly who: Identity;
  readonly idleMs: number;
  readonly hardMs: number;
  readonly conversation: string;
  readonly maxResultChars: number;
  readonly onEvent: NonNullable<CallContext['onEvent']>;
  // Only where there is something in them: a source looks at what is there.
  declare readonly takesQuestions?: true;
  declare readonly canAnswer?: NonNullable<CallContext['canAnswer']>;
  declare readonly disconnect?: () => void;
  declare readonly visits?: NonNullable<CallContext['visits']>;
  declare readonly answers?: InputAnswers;
  declare readonly trace?: TraceContext;
  declare readonly input?: (request: RawJson) => Promise<Json>;

  constructor(path: Path, call: Call, { tool, scope, answers }: Leg) {
    super(scope);
    const { callId, who, input, takesQuestions, canAnswer, visits, disconnect } = call.ctx;
    const trace = traceOf(path, call);
    this.callId = callId;
    this.who = who;
    this.idleMs = call.idleMs;
    this.hardMs = call.hardMs;
    this.conversation = call.request.conversation;
    this.maxResultChars = call.maxResultChars;
    // V8 puts a function that is written where a property is set among what lives long, and all that hangs on it stays until
    // the next full collection. So these stand for themselves first.
    const onEvent: typeof this.onEvent = (event) => {
      if (!scope.awaited()) return;
      if (event.kind === 'progress') scope.touch();
      quietly(() => call.ctx.onEvent?.(event));
    };
    this.onEvent = onEvent;
    if (takesQuestions) this.takesQuestions = true;
    if (canAnswer) this.canAnswer = canAnswer;
    if (disconnect) {
      const letGo = () => quietly(() => call.ctx.disconnect?.());
      this.disconnect = letGo;
    }
    if (visits) this.visits = visits;
    if (answers) this.answers = answers;
    if (trace) this.trace = trace;
    if (input) {
      const from = (): InputOrigin => ({ callId, server: tool.ref.server, tool: tool.ref.tool, signal: scope.signal });
      const ask = (request: RawJson) => whilePaused(scope, () => askHost(path, call, request, from()));
      this.input = ask;
    }
  }
}

function traceOf(path: Path, { request, notes }: Call): TraceContext | undefined {
  const { conversation, name } = request;
  if (!path.recorder.trace) return request.ctx.trace;
  let trace: TraceContext | undefined;
  quietly(() => {
    trace = path.recorder.trace?.({ callId: request.ctx.callId, conversation, name, startedAt: notes.startedAt });
  });
  // Where nobody here traces, the caller's own span is what the server goes on from.
  return trace ?? request.ctx.trace;
}

/** While the server waits for the host's answer, it isn't the server that is silent. */
async function whilePaused<T>(scope: WorkScope, work: () => Promise<T>): Promise<T> {
  const resume = scope.pause();
  try {
    return await work();
  } finally {
    resume();
  }
}

function read(call: Call, tool: ToolDefinition, run: Limited<SourceResult>): Outcome {
  switch (run.end) {
    case 'settled':
      return outcomeOf(run.value);
    case 'threw':
      return thrown(run.error);
    case 'limit':
      return limitReached(call, tool, run);
    case 'cancelled':
      return run.started ? cancelledLate(call, run.late?.value) : cancelled(call.signal, 'not_executed');
  }
}

/** The type says what a source answers; what foreign code really answers is looked at. */
function outcomeOf(answer: SourceResult): Outcome {
  switch (answer?.kind) {
    case 'result':
      if (typeof answer.raw?.text !== 'string') break;
      return { kind: 'ok', raw: answer.raw, isError: answer.isError === true, ...runOf(answer) };
    case 'input_required': {
      const { requests, state } = answer;
      return { kind: 'input_required', requests, ...(state !== undefined && { state }) };
    }
    case 'failure':
      if (typeof answer.failure?.message !== 'string') break;
      return {
        kind: 'failed',
        failure: { ...answer.failure, attempts: answer.failure.attempts ?? [] },
        ...runOf(answer),
      };
  }
  return failed(
    'The tool gave an answer that is neither a result nor a failure. Whether it took effect is not known.',
    'unknown',
  );
}

function runOf({ run }: { readonly run?: StartedRun }): { readonly run?: StartedRun } {
  return run ? { run } : {};
}

function thrown(error: unknown): Outcome {
  if (ToolFailure.is(error)) return { kind: 'failed', failure: error.failure };
  const text = `The tool broke off: ${errorText(error)}. Whether it took effect is not known.`;
  return failed(text, 'unknown');
}

function limitReached(
  call: Call,
  tool: ToolDefinition,
  run: Extract<Limited<SourceResult>, { end: 'limit' }>,
): Outcome {
  const late = run.late && outcomeOf(run.late.value);
  if (late && late.kind !== 'failed') return late;
  const executed = late?.failure.executed ?? 'unknown';
  // The hard limit covers all attempts: what is left of it for the last one says nothing to a reader.
  const ms = run.which === 'hard' ? call.hardMs : run.ms;
  const what = { idle: 'was silent for', hard: 'took longer than' }[run.which];
  const harmless = executed === 'not_executed' || tool.effect !== 'write';
  const effect = harmless
    ? 'It may be called again.'
    : 'It may have taken effect all the same: find out before you call it again.';
  const text = `The tool ${what} ${ms} ms, its ${run.which} limit, and was stopped. ${effect}`;
  return {
    ...failed(text, executed, { retryable: harmless, timedOut: true, ...pick(late?.failure) }),
    ...(late && runOf(late)),
  };
}

/** From a failure that came late: what it adds, apart from its own words. */
function pick(late: Failure | undefined): Partial<Failure> {
  if (!late) return {};
  return {
    attempts: late.attempts,
    ...(late.alternatives && { alternatives: late.alternatives }),
    ...(late.partial && { partial: late.partial }),
  };
}

function cancelledLate(call: Call, late: SourceResult | undefined): Outcome {
  const outcome = late && outcomeOf(late);
  if (outcome?.kind === 'ok') return { ...cancelled(call.signal, 'executed', outcome.raw), ...runOf(outcome) };
  if (outcome?.kind === 'failed') {
    const { executed, partial } = outcome.failure;
    return { ...cancelled(call.signal, executed, partial), ...runOf(outcome) };
  }
  return cancelled(call.signal, 'unknown');
}
