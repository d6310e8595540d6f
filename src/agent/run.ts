import type { Asker, AskReply, Json, LoopEvent, RunBegun } from '../contracts/index.ts';
import { EventStream } from './event-stream.ts';
import type { RunEvent, RunResult } from './events.ts';
import { handoff } from './handoff.ts';
import { runReport } from './run-report.ts';
import { Shell } from './shell.ts';
import type { RunGoesOn, ShellOptions } from './shell-options.ts';
import type { LoopState } from './state.ts';
import { runOutput } from './structured-output.ts';

/** A run under way. It goes on whether its events are read or not. */
export interface Run extends AsyncIterable<RunEvent> {
  /** Resolves with the end, whatever it is; never rejects. */
  readonly result: Promise<RunResult>;
  /** Stops the run; `result` then resolves as soon as what is under way has ended. */
  abort(reason?: string): void;
}

export interface RunParts extends Omit<ShellOptions, 'emit' | 'onEvent' | 'news' | 'settled' | 'dispatcher'> {
  /** The dispatcher of this run, with the run's questions going through `watch`. */
  dispatcher(watch: (asker: Asker) => Asker): ShellOptions['dispatcher'];
  readonly content: Json;
  readonly signal?: AbortSignal | undefined;
  /** What the harness says with the input. */
  readonly notes?: readonly string[];
  /** For the journal. */
  readonly begun?: RunBegun | undefined;
  /** The run goes on where it broke off: it isn't given the input again. */
  readonly goesOn?: RunGoesOn | undefined;
  /** Is given what tells the run's readers something, before anything happens. */
  listen?: ((emit: (event: RunEvent) => void) => void) | undefined;
  news?: ShellOptions['news'];
  settled?: ShellOptions['settled'];
  /** Each event as it happens. */
  onProgress?: ((event: RunEvent) => void) | undefined;
  onEvent?: (event: LoopEvent) => void;
  /** Called once, with the result, before anybody else has it. */
  onEnd?(result: RunResult): void;
}

/** Starts a run. */
export function startRun(parts: RunParts): Run {
  const {
    onProgress,
    onEvent,
    onEnd,
    signal,
    news,
    settled,
    content,
    notes = [],
    begun,
    goesOn,
    listen,
    ...rest
  } = parts;
  const stream = new EventStream();
  let isOver = false;
  const emit = (event: RunEvent) => {
    // A call that was given up may still report.
    if (isOver) return;
    isOver = event.type === 'end';
    stream.push(event);
    try {
      onProgress?.(event);
    } catch {
      // A listener's fault is not the run's.
    }
  };
  listen?.(emit);
  const shell = new Shell({
    ...rest,
    dispatcher: parts.dispatcher((asker) => watchedAsker(asker, emit)),
    emit,
    onEvent: (event) => onEvent?.(event),
    news: () => news?.() ?? { tools: [], note: null },
    settled: async () => settled?.(),
  });
  const onAbort = () => shell.abort(abortWords(signal?.reason));
  signal?.addEventListener('abort', onAbort, { once: true });
  const result = shell.done.then((state) => {
    signal?.removeEventListener('abort', onAbort);
    const end = runResult(state, parts.conversation);
    if (end.end === 'limit' && end.handoff !== undefined) {
      emit({ type: 'limit', limit: end.handoff.reason, message: end.handoff.message });
    }
    try {
      onEnd?.(end);
    } catch {
      // As above.
    }
    emit({ type: 'end', result: end });
    return end;
  });
  for (const notice of parts.state.config.notices ?? []) emit({ type: 'notice', notice });
  if (goesOn) shell.resume(goesOn);
  else shell.start(content, notes, begun);
  if (signal?.aborted) onAbort();
  return {
    result,
    abort: (reason) => shell.abort(reason ?? 'The run was stopped.'),
    [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
  };
}

/** A run that ends before it begins. */
export function failedRun(
  error: NonNullable<RunResult['error']>,
  messages: readonly Json[],
  conversation: string,
): Run {
  const result: RunResult = {
    end: 'failed',
    text: '',
    messages: [...messages],
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
    turns: 0,
    calls: 0,
    conversation,
    error,
  };
  const stream = new EventStream();
  stream.push({ type: 'end', result });
  return {
    result: Promise.resolve(result),
    abort: () => {},
    [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
  };
}

function runResult(state: LoopState, conversation: string): RunResult {
  const { end, stop } = state;
  const over = handoff(state);
  if (end === null) throw new Error('The run has not ended.');
  const report = runReport(state.answered);
  const base: RunResult = {
    end: end.how,
    text: state.question ?? state.text,
    ...(state.options.length > 0 && { options: [...state.options] }),
    ...(stop !== null && { stopReason: stop.reason }),
    ...(stop?.details !== undefined && { stopDetails: stop.details }),
    messages: [...state.transcript.messages],
    usage: state.usage,
    ...(report !== undefined && { report }),
    turns: state.turns,
    calls: state.calls,
    conversation,
    ...(state.config.output !== undefined && { output: runOutput(state) }),
    ...(state.parked.length > 0 && { parked: state.parked }),
    ...(over !== undefined && { handoff: over }),
    ...(state.container !== null && { container: state.container }),
    ...(state.config.notices && { notices: [...state.config.notices] }),
  };
  if (end.how !== 'failed') return base;
  const error = { code: end.reason, message: end.message, ...(end.hint !== undefined && { hint: end.hint }) };
  return { ...base, error };
}

/** Lets the run's readers see each question and its answer. */
function watchedAsker(asker: Asker, emit: (event: RunEvent) => void): Asker {
  return {
    async ask(question) {
      const { callId, tool, args, facts, factsMissing, decision } = question;
      const { name } = tool.ref;
      emit({
        type: 'asked',
        callId,
        name,
        args,
        decision,
        ...(facts !== undefined && { facts }),
        ...(factsMissing !== undefined && { factsMissing }),
      });
      const reply = await asker.ask(question);
      emit({ type: 'decision', callId, name, ...replied(reply) });
      return reply;
    },
  };
}

function replied(reply: AskReply) {
  if (reply.answer === 'parked') return { answer: reply.answer };
  const reason = reply.answer === 'deny' ? reply.reason : undefined;
  return { answer: reply.answer, by: reply.by, ...(reason !== undefined && { reason }) };
}

function abortWords(reason: unknown): string {
  if (typeof reason === 'string' && reason !== '') return reason;
  if (reason instanceof Error && reason.name !== 'AbortError') return reason.message;
  return 'The run was stopped.';
}
