import type { CallOutcomeRecord, Connection, IntentRecord, Recorder } from '../../contracts/index.ts';
import { quietly } from '../quietly.ts';
import { callAttributes, callContent, errorType, toolName } from './call-attributes.ts';
import { contextOf } from './context.ts';
import { instrumentsOf } from './instruments.ts';
import { RunSpans } from './run-spans.ts';
import { traceContextOf } from './trace-context.ts';
import {
  type Attributes,
  ERROR,
  INTERNAL,
  type TelemetryContext,
  type TelemetryMeter,
  type TelemetrySpan,
  type TelemetryTracer,
} from './types.ts';

export interface TelemetryOptions {
  /** Gets the spans. Default: none are made. */
  readonly tracer?: TelemetryTracer;
  /** Gets the metrics. Default: none are made. */
  readonly meter?: TelemetryMeter;
  /** Also record what was said: prompts, replies, arguments and results, as they are. Default false. */
  readonly content?: boolean;
  /** Servers whose spans and metrics are to name the protocol revision that they speak. */
  readonly connections?: readonly Pick<Connection, 'server' | 'era'>[];
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

/**
 * Tells OpenTelemetry of calls, replies and runs, under the names of its semantic conventions for generative AI and for
 * MCP (version 1.41, in development): spans `invoke_agent NAME`, below it `chat MODEL` and `execute_tool NAME`; histograms
 * `gen_ai.client.operation.duration`, `gen_ai.client.token.usage` and `mcp.client.operation.duration`.
 *
 * A server that gets a call is told the call's span in `_meta` (`traceparent`), where the tracer says where its spans stand.
 *
 * A recorder like others: give it to `createAgent` or a dispatcher, together with others by `allRecorders`. It keeps no
 * call waiting, and what a tracer or meter throws is dropped.
 *
 * @example createAgent({ model, tools, recorder: telemetry({ tracer: trace.getTracer('bridle') }) })
 */
export function telemetry(options: TelemetryOptions): Recorder {
  const { tracer, content = false, connections = [], now = Date.now } = options;
  const instruments = instrumentsOf(options.meter);
  /** Under which span a call belongs, from the moment its run gives it out until its end. */
  const parents = new Map<string, TelemetryContext | undefined>();
  /** When each call was about to run: what came before is a person's time, or a preview's. */
  const committed = new Map<string, number>();
  /** The run under way in each conversation: for calls that no model proposed, such as previews. */
  const runs = new Map<string, RunSpans>();

  /** Spans of calls that run now: the server that gets the call goes on from its span. */
  const begun = new Map<string, TelemetrySpan | undefined>();
  /** Of the run that gave it out, or else of the one that is under way. */
  const parentOf = (call: Pick<CallOutcomeRecord, 'callId' | 'conversation'>) =>
    parents.get(keyOf(call)) ?? runs.get(call.conversation)?.context;

  const revision = (call: CallOutcomeRecord): Attributes => {
    const server = call.ref?.server;
    if (!server || call.attempts === 0) return {};
    const { fingerprint, key } = server;
    const known = connections.find(({ server: each }) => each.key === key && each.fingerprint === fingerprint);
    return known?.era ? { 'mcp.protocol.version': known.era.revision } : {};
  };
  const begin = (name: string, startTime: number, attributes: Attributes, parent: TelemetryContext | undefined) =>
    tracer?.startSpan(name, { kind: INTERNAL, startTime, attributes: { ...attributes } }, parent);
  const span = (call: CallOutcomeRecord, committedAt: number | undefined) => {
    const key = keyOf(call);
    const attributes: Attributes = {
      ...callAttributes(call),
      ...revision(call),
      ...(committedAt !== undefined && {
        'bridle.before_run.duration': Math.max(0, committedAt - call.startedAt) / 1000,
      }),
      ...(content && callContent(call)),
    };
    const early = begun.get(key);
    early?.setAttributes({ ...attributes });
    // A name that no tool has is of the model's making, and no two need be alike.
    const name = call.ref ? spanName(call) : 'execute_tool';
    const made = early ?? begin(name, call.startedAt, attributes, parentOf(call));
    if (errorType(call.outcome) !== undefined) made?.setStatus({ code: ERROR });
    made?.end(call.startedAt + call.ms);
  };
  const measure = (call: CallOutcomeRecord, committedAt: number | undefined) => {
    // What did not run says nothing of how long the tool takes.
    if (call.attempts === 0) return;
    const from = committedAt ?? call.startedAt;
    const seconds = Math.max(0, call.startedAt + call.ms - from) / 1000;
    const error = errorType(call.outcome);
    const failed: Attributes = error === undefined ? {} : { 'error.type': error };
    const operation = { 'gen_ai.operation.name': 'execute_tool', ...failed };
    instruments.operation(seconds, { ...operation, 'gen_ai.provider.name': 'bridle', 'gen_ai.tool.name': call.name });
    if (!call.ref?.server) return;
    const mcp = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': call.ref.tool, ...revision(call) };
    instruments.mcp(seconds, { ...operation, ...mcp });
  };

  return {
    async intent(record: IntentRecord) {
      committed.set(keyOf(record), now());
    },
    trace(call) {
      const key = keyOf(call);
      if (!begun.has(key)) {
        const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': toolName(call) };
        begun.set(key, begin(spanName(call), call.startedAt, attributes, parentOf(call)));
      }
      const place = begun.get(key)?.spanContext?.();
      return place && traceContextOf(place);
    },
    outcome(record: CallOutcomeRecord) {
      const key = keyOf(record);
      const committedAt = committed.get(key);
      quietly(() => span(record, committedAt));
      quietly(() => measure(record, committedAt));
      for (const each of [committed, parents, begun]) each.delete(key);
    },
    run(record) {
      const { conversation } = record;
      const starter = record.parent && begun.get(keyOf(record.parent));
      const run: RunSpans = new RunSpans(record, {
        parent: starter && contextOf(starter),
        tracer,
        instruments,
        content,
        now,
        onCall: (callId, parent) => void parents.set(keyOf({ conversation, callId }), parent),
        onEnd() {
          if (runs.get(conversation) === run) runs.delete(conversation);
        },
      });
      runs.set(conversation, run);
      return run;
    },
  };
}

function spanName(call: Pick<CallOutcomeRecord, 'name'>): string {
  return `execute_tool ${toolName(call)}`;
}

/** Ids of calls are told apart within a conversation only. */
function keyOf({ conversation, callId }: Pick<IntentRecord, 'conversation' | 'callId'>): string {
  return JSON.stringify([conversation, callId]);
}
