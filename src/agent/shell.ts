/**
 * Rule of this file: it performs effects and reports events, and decides nothing. Whatever happens (a model that throws,
 * a call that never comes back, an abort at any moment) becomes an event, so a run always ends.
 */
import type { Json, LoopEffect, LoopEvent, ModelReply, Outcome, RunBegun } from '../contracts/index.ts';
import { readIssues } from './answer-check.ts';
import { createDeltaReader, type DeltaReader } from './deltas.ts';
import { reached } from './limits.ts';
import { abandoned, brokeOff, modelFault, refuseTooDeep, whyStopped, words } from './shell-faults.ts';
import type { ShellOptions, RunGoesOn } from './shell-options.ts';
import type { LoopState, LoopTool } from './state.ts';
import { step } from './step.ts';
import { checkAnswer } from './structured-output.ts';

interface RunningCall {
  readonly name: string;
  readonly startedAt: number;
  readonly controller: AbortController;
}

/** `setTimeout` takes no longer time than this. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** One run, from its input to its end. */
export class Shell {
  /** Resolves with the state that has an `end`. Never rejects. */
  readonly done: Promise<LoopState>;
  private state: LoopState;
  private readonly options: ShellOptions;
  private readonly inbox: LoopEvent[] = [];
  private isFeeding = false;
  private readonly calls = new Map<string, RunningCall>();
  /** The request under way; another one, or none, once its answer doesn't count any more. */
  private asking: AbortController | null = null;
  /** Why the run is stopping; a call that is given out after that is cancelled at once. */
  private stopped: string | null = null;
  private readonly timers = new Set<NodeJS.Timeout>();
  private resolveDone: (state: LoopState) => void = () => {};

  constructor(options: ShellOptions) {
    this.options = options;
    this.state = options.state;
    this.done = new Promise((resolve) => {
      this.resolveDone = resolve;
    });
  }

  /**
   * Gives the run its input. Call once.
   *
   * @param notes what the harness says with it
   * @param begun for the journal
   */
  start(content: Json, notes: readonly string[], begun?: RunBegun): void {
    const [note, ...more] = notes;
    const at = this.options.now();
    this.limitTime(this.options.state.config.limits.ms, 0);
    if (begun !== undefined) this.feed({ v: 1, at, ...begun });
    for (const each of more) this.feed({ v: 1, at, type: 'edit', detail: { note: each } });
    this.feed({ v: 1, at, type: 'input', content, ...(note !== undefined && { note }) });
  }

  /** Goes on with a run whose state was read back. Call once, in place of `start`. */
  resume({ notes, tools, resumed, ended }: RunGoesOn): void {
    if (this.state.end !== null) {
      this.close();
      return;
    }
    const at = this.options.now();
    if (tools.length > 0) this.feed(toolsEdit(at, tools, null));
    for (const note of notes) this.feed({ v: 1, at, type: 'edit', detail: { note } });
    this.feed({ v: 1, at, ...resumed });
    const { config, startedAt, end } = this.state;
    if (end === null) this.limitTime(config.limits.ms, at - (startedAt ?? at));
    for (const { callId, name, outcome } of ended) {
      this.options.emit({ type: 'outcome', callId, name, outcome, ms: 0 });
      this.feed({ v: 1, at, type: 'outcome', callId, outcome });
    }
  }

  /** @param spent of the limit, ms */
  private limitTime(ms: number, spent: number): void {
    if (ms - spent > LONGEST_TIMER) return;
    this.timer(Math.max(0, ms - spent), () => {
      const { limit, message } = reached('ms', ms);
      this.stop({ v: 1, at: this.options.now(), type: 'limit', detail: { limit, message } });
    });
  }

  /** Stops the run: cancels what is under way, and waits for it as long as `graceMs`. After the end it does nothing. */
  abort(reason: string): void {
    this.stop({ v: 1, at: this.options.now(), type: 'abort', detail: { by: 'caller', message: reason } });
  }

  private stop(event: LoopEvent): void {
    if (this.state.end !== null) return;
    this.stopped = whyStopped(event);
    // Before the event is taken: where nothing runs, it ends the run, and the end clears every timer.
    this.timer(this.options.graceMs, () => {
      for (const id of [...this.calls.keys()]) this.settle(id, abandoned(this.options.graceMs));
    });
    this.feed(event);
    this.asking?.abort();
    this.asking = null;
    for (const call of this.calls.values()) call.controller.abort(this.stopped);
  }

  private feed(event: LoopEvent): void {
    this.inbox.push(event);
    if (this.isFeeding) return;
    this.isFeeding = true;
    for (let next = this.inbox.shift(); next !== undefined; next = this.inbox.shift()) this.take(next);
    this.isFeeding = false;
  }

  private take(event: LoopEvent): void {
    quietly(() => this.options.onEvent(event));
    const wasCut = this.state.cut !== null;
    const { loaded } = this.state;
    const next = this.stepped(event);
    this.state = next.state;
    // Those of earlier runs were told of then.
    if (event.type !== 'input')
      for (const name of next.state.loaded.slice(loaded.length)) this.options.emit({ type: 'loaded', name });
    if (!wasCut && next.state.cut !== null) {
      const message = `The reply was cut at ${next.state.config.maxTokens} tokens and is asked for again with more room.`;
      this.options.emit({ type: 'limit', limit: 'max_tokens', message, retrying: true });
    }
    for (const effect of next.effects) this.perform(effect);
  }

  /** A fault of the loop itself must end the run too. What it has of the transcript is valid at any time. */
  private stepped(event: LoopEvent): ReturnType<typeof step> {
    try {
      return step(this.state, event);
    } catch (error) {
      const end = { how: 'failed', reason: 'loop_broke', message: `The loop broke off: ${words(error)}` } as const;
      return { state: { ...this.state, end }, effects: [{ type: 'end', how: end.how }] };
    }
  }

  private perform(effect: LoopEffect): void {
    switch (effect.type) {
      case 'model':
        void this.ask(effect.request);
        return;
      case 'call':
        void this.call(effect);
        return;
      case 'cancel':
        this.calls.get(effect.callId)?.controller.abort(effect.reason);
        return;
      case 'check':
        void this.check(effect);
        return;
      case 'end':
        this.close();
        return;
      default:
        unreachable(effect);
    }
  }

  private async ask(request: Json): Promise<void> {
    const controller = new AbortController();
    this.asking = controller;
    const isCurrent = () => this.asking === controller;
    const deltas = createDeltaReader();
    const silence = this.silence(() => {
      const { modelIdleMs } = this.options;
      const message = `The model "${this.options.model.id}" has sent nothing for ${modelIdleMs} ms.`;
      this.modelFailed(controller, {
        code: 'model_silent',
        message,
        hint: 'Check that it is running, then try again.',
      });
    });
    try {
      // Deferred, so that a run that is stopped in the same tick asks nothing.
      await Promise.resolve();
      if (!isCurrent()) return;
      const reply = await this.options.model.respond(request, {
        signal: controller.signal,
        onDelta: (event) => {
          if (!isCurrent()) return;
          silence.restart(0);
          for (const piece of deltas.read(event)) this.options.emit(piece);
        },
        onWait: ({ ms, reason }) => {
          if (!isCurrent()) return;
          silence.restart(ms);
          this.options.emit({ type: 'wait', ms, reason });
        },
      });
      if (isCurrent()) this.hear(reply, deltas);
    } catch (error) {
      this.modelFailed(controller, modelFault(error, this.options.model.id));
    } finally {
      silence.stop();
    }
  }

  /** @param reply of a model that may be anybody's: one that can't be read is a failure of the request */
  private hear(reply: ModelReply | undefined, deltas: DeltaReader): void {
    const { message = null, stopReason, usage = null } = reply ?? {};
    const reason = String(stopReason);
    refuseTooDeep(message);
    for (const piece of deltas.rest(message)) this.options.emit(piece);
    this.asking = null;
    this.options.emit({ type: 'message', message, stopReason: reason });
    this.feed({ v: 1, at: this.options.now(), type: 'model', message, stopReason: reason, usage });
  }

  private modelFailed(controller: AbortController, error: { code: string; message: string; hint?: string }): void {
    if (this.asking !== controller) return;
    this.asking = null;
    controller.abort();
    this.feed({ v: 1, at: this.options.now(), type: 'abort', detail: { by: 'model', ...error } });
  }

  private async call(effect: Extract<LoopEffect, { type: 'call' }>): Promise<void> {
    const { type: _, callId, name, args, ...origin } = effect;
    const { options } = this;
    const controller = new AbortController();
    this.calls.set(callId, { name, controller, startedAt: options.now() });
    if (this.stopped !== null) controller.abort(this.stopped);
    this.feed({ v: 1, at: options.now(), type: 'intent', callId, name, args: args.parse(), ...origin });
    options.emit({ type: 'call', callId, name, args: args.parse(), ...origin });
    try {
      await Promise.resolve();
      const outcome = await options.dispatcher.call({
        name,
        args,
        profile: 'agent',
        conversation: options.conversation,
        ctx: {
          callId,
          who: options.who,
          signal: controller.signal,
          idleMs: options.idleMs,
          hardMs: options.hardMs,
          onEvent: (event) => options.emit({ type: 'progress', callId, ...event }),
          ...(options.input !== undefined && { input: options.input }),
        },
      });
      const at = options.now();
      if (!controller.signal.aborted) await options.settled();
      const said = await options.after?.({ callId, name, args: args.parse(), outcome }, controller.signal);
      this.settle(callId, outcome, at, said?.notes);
      if (said?.stop !== undefined) this.abort(said.stop);
    } catch (error) {
      // The contract says that a dispatcher never throws; one that does must not hang the run.
      this.settle(callId, brokeOff(error));
    }
  }

  private settle(callId: string, outcome: Outcome, endedAt = this.options.now(), notes: readonly string[] = []): void {
    const call = this.calls.get(callId);
    if (call === undefined) return;
    this.calls.delete(callId);
    this.options.emit({ type: 'outcome', callId, name: call.name, outcome, ms: endedAt - call.startedAt });
    const at = this.options.now();
    const { tools = [], gone = [], note = null } = quietly(() => this.options.news()) ?? {};
    if (tools.length > 0 || gone.length > 0 || note !== null) this.feed(toolsEdit(at, tools, note, gone));
    for (const said of notes) this.feed({ v: 1, at, type: 'edit', detail: { note: said } });
    this.feed({ v: 1, at, type: 'outcome', callId, outcome });
  }

  private async check({ text, attempt }: Extract<LoopEffect, { type: 'check' }>): Promise<void> {
    const checked = await checkAnswer(this.options.check, text, attempt);
    if (this.state.end !== null) return;
    this.options.emit({ type: 'checked', issues: readIssues(checked.issues), retrying: checked.again !== undefined });
    this.feed({ v: 1, at: this.options.now(), type: 'checked', ...checked });
  }

  private close(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers.clear();
    this.asking?.abort();
    this.asking = null;
    this.resolveDone(this.state);
  }

  private timer(ms: number, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(act, Math.min(ms, LONGEST_TIMER));
    this.timers.add(timer);
    return timer;
  }

  private silence(act: () => void) {
    let timer = this.timer(this.options.modelIdleMs, act);
    const stop = () => {
      clearTimeout(timer);
      this.timers.delete(timer);
    };
    return {
      stop,
      restart: (extraMs: number) => {
        stop();
        timer = this.timer(this.options.modelIdleMs + extraMs, act);
      },
    };
  }
}

function toolsEdit(
  at: number,
  tools: readonly LoopTool[],
  note: string | null,
  gone: readonly string[] = [],
): LoopEvent {
  const detail = {
    tools: tools.map((tool) => ({ ...tool })),
    ...(gone.length > 0 && { gone: [...gone] }),
    ...(note !== null && { note }),
  };
  return { v: 1, at, type: 'edit', detail };
}

/** Whatever a callback of the caller throws is the caller's; the run goes on. */
function quietly<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

function unreachable(effect: never): never {
  throw new Error(`Unhandled effect: ${JSON.stringify(effect)}`);
}
