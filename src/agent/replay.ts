import type { Json, LoopEvent, RunBegun, TraceEvent } from '../contracts/index.ts';
import { costOf } from '../models/index.ts';
import { BridleError } from '../tools/index.ts';
import { ASK_USER } from './ask-user.ts';
import { isObject } from './blocks.ts';
import { effectiveLimits } from './limits.ts';
import { readMessages } from './read-messages.ts';
import { configOfJournal } from './resume/journal-config.ts';
import { LOST, NOT_RUN } from './resume/open-calls.ts';
import { initialState, type LoopConfig, type LoopState, type LoopTool } from './state.ts';
import { step } from './step.ts';
import type { ReadyTranscript } from './transcript.ts';

/** A conversation as its journal tells it. */
export interface Replayed {
  /** What was said, fit to be gone on from. */
  readonly messages: readonly Json[];
  /** The conversation's id in the records, where a call was recorded. */
  readonly conversation?: string;
}

const ENDLESS = Number.POSITIVE_INFINITY;

/**
 * Reads a conversation back from its journal: the loop is a fold, so its events give its messages again. A run that
 * broke off is closed as one that was stopped; its open calls count as not answered.
 *
 * @param events of a trace, in order; runs of one conversation follow one another
 * @throws BridleError `messages_invalid` when the events give none, as they were changed
 */
export async function replay(events: AsyncIterable<TraceEvent> | Iterable<TraceEvent>): Promise<Replayed> {
  const player = new Player();
  let conversation: string | undefined;
  for await (const event of events) {
    if (event.type === 'begin') conversation ??= event.conversation;
    if (event.type === 'call') conversation ??= event.call.conversation;
    if (event.type === 'decided') conversation ??= event.intent.conversation;
    player.take(event);
  }
  return { messages: player.messages(), ...(conversation !== undefined && { conversation }) };
}

class Player {
  #before: readonly Json[] = [];
  #state: LoopState | null = null;
  /** Calls that were begun. */
  #begun = new Set<string>();
  /** Whether the journal says which tools the run had, and so which of its calls waited for which. */
  #isKnown = false;

  take(event: TraceEvent): void {
    switch (event.type) {
      case 'begin':
        this.#close(event.at, 'broken_off');
        if (Array.isArray(event.before)) this.#before = event.before;
        this.#isKnown = isObject(event.config) && Array.isArray(event.config.tools);
        this.#state = initialState(configOf(event, this.#isKnown), this.#transcript());
        return;
      case 'input':
        // A run of an older journal begins with its input.
        if (this.#state?.waitingFor !== 'input') {
          this.#close(event.at, 'broken_off');
          this.#isKnown = false;
          this.#state = initialState(CONFIG, this.#transcript());
        }
        this.#step(this.#state, event);
        return;
      case 'end':
        this.#close(event.at, event.how);
        return;
      case 'model':
        this.#step(this.#isKnown ? this.#state : withCallsKnown(this.#state, event.message), event);
        return;
      case 'intent':
        this.#begun.add(event.callId);
        return;
      case 'outcome':
      case 'checked':
      case 'limit':
      case 'abort':
      case 'edit':
      case 'resume':
        this.#step(this.#state, event);
        return;
      case 'run':
      case 'decided':
      case 'call':
        return;
    }
  }

  messages(): readonly Json[] {
    this.#close(0, 'broken_off');
    return this.#before;
  }

  #step(state: LoopState | null, event: LoopEvent): void {
    if (state !== null) this.#state = step(state, event).state;
  }

  /** A run that the log leaves open ended by a limit that is in no event of the fold, or broke off. */
  #close(at: number, how: string): void {
    if (this.#state === null || this.#state.waitingFor === 'input') {
      // Nothing was said in it.
      this.#state = null;
      return;
    }
    const detail = { by: 'caller', message: how };
    if (this.#state.end === null) {
      this.#step(this.#state, { v: 1, at, type: how === 'limit' ? 'limit' : 'abort', detail });
    }
    // What is still out doesn't come back; what was never begun had no effect.
    for (const call of this.#state?.running ?? []) {
      const outcome = this.#begun.has(call.id) ? LOST : NOT_RUN;
      this.#step(this.#state, { v: 1, at, type: 'outcome', callId: call.id, outcome });
    }
    this.#before = this.#state?.transcript.messages ?? this.#before;
    this.#state = null;
  }

  #transcript(): ReadyTranscript {
    const read = readMessages(this.#before);
    if ('problem' in read) {
      throw new BridleError('messages_invalid', `This journal gives no conversation: ${read.problem}.`, {
        hint: 'Its file was changed, or is of another version: begin a new conversation.',
      });
    }
    return read;
  }
}

/** For a journal that doesn't hold what the run was held to: nothing may be refused a second time, or in another order. */
const CONFIG: LoopConfig = {
  tools: [],
  limits: effectiveLimits({
    turns: ENDLESS,
    toolCalls: ENDLESS,
    ms: ENDLESS,
    identicalFailures: ENDLESS,
    pauses: ENDLESS,
  }),
  maxTokens: 1,
  maxTokensRetry: 2,
  parallel: ENDLESS,
  askTool: ASK_USER,
};

/**
 * What of a run's own configuration has a say in its messages. Where the journal has it, the fold is the run's own, limits
 * included: what the model was told is told in the same words, which its signed thinking is bound to.
 */
function configOf({ config, model }: RunBegun, isKnown: boolean): LoopConfig {
  const { askTool, ...always } = CONFIG;
  if (!isKnown) {
    const { tools, limits, parallel } = always;
    return { ...configOfJournal(config, CONFIG).config, tools, limits, parallel, askTool: askTool ?? ASK_USER };
  }
  return configOfJournal(config, { ...always, costOf: (usage) => costOf(model, usage) }).config;
}

/** In a journal that doesn't say which calls ran side by side, all did as far as the fold is concerned. */
function withCallsKnown(state: LoopState | null, message: Json): LoopState | null {
  if (state === null) return null;
  const content = typeof message === 'object' && message !== null && !Array.isArray(message) ? message.content : null;
  const names = (Array.isArray(content) ? content : []).flatMap((block) =>
    typeof block === 'object' && block !== null && !Array.isArray(block) && typeof block.name === 'string'
      ? [block.name]
      : [],
  );
  const tools: LoopTool[] = names.map((name) => ({ name, entry: null, effect: 'read' }));
  return { ...state, tools };
}
