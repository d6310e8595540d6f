import type { Json, JsonObject, LoopEvent, RunFollower, RunRecord } from '../../contracts/index.ts';
import { isJsonObject } from '../../tools/index.ts';
import { quietly } from '../quietly.ts';
import { messageText } from './content.ts';
import { contextOf } from './context.ts';
import type { Instruments } from './instruments.ts';
import { modelAttributes, replyAttributes, tokensOf } from './model-attributes.ts';
import {
  type Attributes,
  CLIENT,
  ERROR,
  INTERNAL,
  type TelemetryContext,
  type TelemetrySpan,
  type TelemetryTracer,
} from './types.ts';

interface RunSpanOptions {
  readonly tracer: TelemetryTracer | undefined;
  readonly instruments: Instruments;
  readonly content: boolean;
  /** Of the call that started the run; absent: whatever context the program is in, a request that it serves, say. */
  readonly parent: TelemetryContext | undefined;
  now(): number;
  /** A call of this run was given out: it belongs below the run. */
  onCall(callId: string, parent: TelemetryContext | undefined): void;
  onEnd(): void;
}

/** The span of one run, and below it one for each reply of its model. */
export class RunSpans implements RunFollower {
  readonly context: TelemetryContext | undefined;
  readonly #record: RunRecord;
  readonly #options: RunSpanOptions;
  readonly #model: Attributes;
  #span: TelemetrySpan | undefined;
  /** Since when the model is being asked; null while calls run. */
  #askedAt: number | null = null;
  #running = 0;

  constructor(record: RunRecord, options: RunSpanOptions) {
    this.#record = record;
    this.#options = options;
    this.#model = modelAttributes(record.model);
    quietly(() => {
      this.#span = options.tracer?.startSpan(
        `invoke_agent ${record.who.agent}`,
        {
          kind: INTERNAL,
          startTime: record.at,
          attributes: {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': record.who.agent,
            'gen_ai.conversation.id': record.conversation,
            ...this.#model,
          },
        },
        options.parent,
      );
    });
    this.context = this.#span && contextOf(this.#span);
  }

  event(event: LoopEvent): void {
    switch (event.type) {
      case 'input':
        this.#askedAt = event.at;
        if (this.#options.content) this.#set({ 'gen_ai.input.messages': messageText('user', event.content) });
        return;
      case 'model':
        this.#replied(event);
        // If calls follow they say so at once; else the model is asked for more.
        this.#askedAt = event.at;
        return;
      case 'intent':
        this.#running += 1;
        this.#askedAt = null;
        this.#options.onCall(event.callId, this.context);
        return;
      case 'outcome':
        this.#running -= 1;
        if (this.#running === 0) this.#askedAt = event.at;
        return;
      case 'limit':
      case 'abort':
        this.#gaveUp(event);
        return;
      case 'checked':
      case 'resume':
        this.#askedAt = event.at;
        return;
      case 'begin':
      case 'edit':
        return;
    }
  }

  end(how: string, detail: Json): void {
    const ms = Math.max(0, this.#options.now() - this.#record.at);
    const { usage, turns, calls, error, text } = object(detail);
    const { inputTokens, outputTokens } = object(usage);
    const code = how === 'failed' ? object(error).code : undefined;
    const failed = how === 'failed' ? { 'error.type': typeof code === 'string' ? code : '_OTHER' } : {};
    this.#set({
      'bridle.run.end': how,
      ...(typeof turns === 'number' && { 'bridle.run.turns': turns }),
      ...(typeof calls === 'number' && { 'bridle.run.calls': calls }),
      ...(typeof inputTokens === 'number' && { 'gen_ai.usage.input_tokens': inputTokens }),
      ...(typeof outputTokens === 'number' && { 'gen_ai.usage.output_tokens': outputTokens }),
      ...failed,
      ...(this.#options.content &&
        typeof text === 'string' && { 'gen_ai.output.messages': messageText('assistant', text, how) }),
    });
    if (how === 'failed') quietly(() => this.#span?.setStatus({ code: ERROR }));
    quietly(() => this.#span?.end(this.#record.at + ms));
    this.#options.instruments.operation(ms / 1000, {
      'gen_ai.operation.name': 'invoke_agent',
      ...this.#model,
      ...failed,
    });
    this.#options.onEnd();
  }

  #replied({ at, message, stopReason, usage }: Extract<LoopEvent, { type: 'model' }>): void {
    const tokens = tokensOf(usage);
    const { model } = object(message);
    const answered = typeof model === 'string' ? { 'gen_ai.response.model': model } : {};
    this.#chat(at, answered, {
      ...replyAttributes(message, stopReason),
      ...tokens?.attributes,
      ...(this.#options.content && {
        'gen_ai.output.messages': messageText('assistant', object(message).content ?? null, stopReason),
      }),
    });
    if (!tokens) return;
    const spent = (type: string, count: number) =>
      this.#options.instruments.tokens(count, {
        'gen_ai.operation.name': 'chat',
        'gen_ai.token.type': type,
        ...this.#model,
        ...answered,
      });
    spent('input', tokens.input);
    spent('output', tokens.output);
  }

  /** The run stops. If the model was being asked, that is over too. */
  #gaveUp({ at, type, detail }: Extract<LoopEvent, { type: 'limit' | 'abort' | 'edit' }>): void {
    const { by, code } = object(detail);
    const byModel = type === 'abort' && by === 'model';
    // What stopped in the moment in which the model would have been asked, asked nothing.
    if (this.#askedAt === null || (!byModel && at === this.#askedAt)) return;
    this.#chat(at, { 'error.type': !byModel ? 'cancelled' : typeof code === 'string' ? code : '_OTHER' });
    this.#askedAt = null;
  }

  /** @param of the metric too; `more` is the span's alone */
  #chat(at: number, of: Attributes, more: Attributes = {}): void {
    const since = this.#askedAt ?? at;
    const common = { 'gen_ai.operation.name': 'chat', ...this.#model, ...of };
    const { model, conversation } = this.#record;
    quietly(() => {
      const span = this.#options.tracer?.startSpan(
        `chat ${this.#model['gen_ai.request.model']}`,
        {
          // The offline planner is no service that is called.
          kind: model === 'offline' ? INTERNAL : CLIENT,
          startTime: since,
          attributes: { ...common, 'gen_ai.conversation.id': conversation, ...more },
        },
        this.context,
      );
      if ('error.type' in of) span?.setStatus({ code: ERROR });
      span?.end(at);
    });
    this.#options.instruments.operation(Math.max(0, at - since) / 1000, common);
  }

  #set(attributes: Attributes): void {
    quietly(() => this.#span?.setAttributes({ ...attributes }));
  }
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
