/** Fakes for the tests of this folder. */
import type {
  Asker,
  CallContext,
  Decision,
  Found,
  Json,
  JsonObject,
  Outcome,
  Policy,
  ServerRef,
  Source,
  SourceResult,
  ToolDefinition,
} from '../contracts/index.ts';
import { rawFrom, rawJson, wireName } from '../tools/index.ts';
import type { DispatchRequest } from './call-path.ts';
import type { Clock } from './clock.ts';
import { createDispatcher, type DispatcherOptions } from './dispatcher.ts';
import { memoryRecorder } from './recorders.ts';

export const SERVER: ServerRef = {
  key: 'shop',
  scope: 'project',
  fingerprint: 'f'.repeat(64),
  trustAnnotations: false,
};

export function definition(
  tool: string,
  more: Partial<ToolDefinition> = {},
  server: ServerRef | null = SERVER,
): ToolDefinition {
  return {
    ref: { server, tool, name: wireName(server?.key ?? null, tool), fingerprint: `fingerprint of ${tool}` },
    description: `The tool ${tool}.`,
    inputSchema: { type: 'object' },
    raw: rawFrom({ name: tool }),
    effect: 'write',
    ...more,
  };
}

export type Handler = (args: Json, ctx: CallContext) => Promise<SourceResult> | SourceResult;

export interface FakeSource extends Source {
  readonly calls: { readonly tool: string; readonly args: Json; readonly ctx: CallContext }[];
}

export function fakeSource(
  handlers: { readonly [tool: string]: Handler },
  more: Partial<Pick<Source, 'preview' | 'server' | 'limits'>> = {},
): FakeSource {
  const calls: FakeSource['calls'] = [];
  return {
    server: SERVER,
    calls,
    list: async () => ({ tools: [], setAside: [] }),
    async call(tool, args, ctx) {
      calls.push({ tool, args, ctx });
      const handler = handlers[tool];
      if (!handler) throw new Error(`no handler for ${tool}`);
      return handler(args, ctx);
    },
    onChange: () => () => {},
    ...more,
  };
}

export function ok(text: string, more: JsonObject = {}): SourceResult {
  return { kind: 'result', raw: rawFrom({ content: [{ type: 'text', text }], ...more }), isError: false };
}

export function decision(effect: Decision['effect'], code = `${effect}_rule`): Decision {
  const reasons = [{ room: 'policy', code, text: `Because of ${code}.` }];
  return { effect, reasons, policyVersion: 'p1' };
}

/** Every tool may be seen; `decide` answers by tool name. */
export function policyOf(decide: Policy['decide'] | Decision['effect']): Policy {
  return {
    view: () => decision('allow'),
    decide: typeof decide === 'string' ? () => decision(decide) : decide,
  };
}

/** Answers in turn; the last answer stands. Keeps the questions. */
export function askerOf(...replies: Awaited<ReturnType<Asker['ask']>>[]) {
  const questions: Parameters<Asker['ask']>[0][] = [];
  const asker: Asker = {
    async ask(question) {
      questions.push(question);
      return replies[Math.min(questions.length, replies.length) - 1] ?? { answer: 'deny', by: 'test' };
    },
  };
  return { asker, questions };
}

export interface Bench {
  readonly recorder: ReturnType<typeof memoryRecorder>;
  call(
    name: string,
    args?: Json | string,
    more?: Partial<Omit<DispatchRequest, 'ctx'>> & { ctx?: Partial<CallContext> },
  ): Promise<Outcome>;
}

/** A dispatcher over some tools of one source. A string as arguments is JSON text. */
export function bench(
  tools: readonly ToolDefinition[],
  source: Source,
  options: Partial<DispatcherOptions> = {},
): Bench {
  const found = new Map<string, Found>(tools.map((tool) => [tool.ref.name, { tool, source }]));
  const recorder = memoryRecorder();
  const dispatcher = createDispatcher({
    find: (name) => found.get(name),
    policy: policyOf('allow'),
    asker: askerOf().asker,
    recorder,
    ...options,
  });
  return {
    recorder,
    call: (name, args = {}, { ctx, ...more } = {}) =>
      dispatcher.call({
        name: name.includes('__') ? name : wireName('shop', name),
        args: typeof args === 'string' ? rawJson(args) : rawFrom(args),
        profile: 'agent',
        conversation: 'c1',
        ...more,
        ctx: {
          callId: 'call-1',
          who: { agent: 'tester', via: 'library' },
          signal: new AbortController().signal,
          idleMs: 10_000,
          hardMs: 60_000,
          ...ctx,
        },
      }),
  };
}

export interface ManualClock extends Clock {
  /** Lets time pass: timers that fall due run in order, with everything that they set off. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until the promise settles. */
  until<T>(promise: Promise<T>): Promise<T>;
}

export function manualClock(): ManualClock {
  let time = 1_000_000;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const advance = async (ms: number): Promise<void> => {
    const end = time + ms;
    await settle();
    for (;;) {
      const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      timers = timers.filter((timer) => timer !== next);
      time = Math.max(time, next.at);
      next.run();
      await settle();
    }
    time = end;
  };
  return {
    now: () => time,
    after(ms, run) {
      const timer = { at: time + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance,
    async until(promise) {
      let pending = true;
      const watched = promise.finally(() => {
        pending = false;
      });
      watched.catch(() => {});
      await settle();
      while (pending) await advance(1_000);
      return watched;
    },
  };
}

/** Work that never ends and takes no notice of being told to stop. */
export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
