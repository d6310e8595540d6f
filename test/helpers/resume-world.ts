import type { Agent, RunJournal } from '../../src/agent/index.ts';
import type { Json, JsonObject, Model, TraceEvent } from '../../src/contracts/index.ts';

/** Where a run breaks off: after so many lines of its journal. */
export interface BreakPoint {
  /** Lines of the journal that are written, from 1, the header not counted. */
  readonly line: number;
  /**
   * `at_once`: nothing happens any more once that line is written. `late`: the process lives on as long as nothing waits
   * for a later line to be on disk, since lines of reads and replies are written without waiting.
   */
  readonly mode: 'at_once' | 'late';
}

/** What of the library a world is made with: of the sources, or of what they are compiled to. */
export interface WorldLibrary {
  readonly createAgent: typeof import('../../src/agent/index.ts').createAgent;
  readonly defineTool: typeof import('../../src/tools/index.ts').defineTool;
}

export interface WorldOptions {
  /** Called as a call takes effect, e.g. `send 1`. */
  effect(line: string): void;
  /** Every request that the model gets. */
  request?(body: Json): void;
  /** Breaks the run off there. */
  readonly breakAt?: BreakPoint | undefined;
  /** Called when it has broken off; nothing takes effect any more. */
  broken?(): void;
}

const OBJECT = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
const NEVER = new Promise<never>(() => {});

/** What the model answers, by how often it has spoken. Ids of calls are told by the turn, so a resumed run goes on alike. */
const TURNS: readonly (readonly [name: string, n: number][])[] = [
  [
    ['look', 1],
    ['look', 2],
    ['send', 1],
  ],
  [
    ['send', 2],
    ['put', 3],
    ['look', 3],
    ['send', 3],
  ],
  [['read_long', 4]],
  [['send', 4]],
];

/** Calls that are made once at most, unless somebody says that they are to be made again. */
export const WRITES = ['send 1', 'send 2', 'send 3', 'send 4'];
export const ANSWER = 'All is done.';
export const CONVERSATION = 'c-resume';

export interface World {
  readonly model: Model;
  agent(): Promise<Agent>;
  /** The journal, up to the break. */
  journal<T extends RunJournal>(inner: T): T;
}

/** An agent whose run takes several turns with reads, writes and idempotent calls, and can be broken off anywhere. */
export function resumeWorld({ createAgent, defineTool }: WorldLibrary, options: WorldOptions): World {
  let isBroken = false;
  const breakOff = () => {
    if (isBroken) return;
    isBroken = true;
    options.broken?.();
  };
  /** Nothing that waits here goes on once the run has broken off. */
  const alive = async () => {
    if (isBroken) await NEVER;
  };
  const tool = (name: string, effect: 'read' | 'idempotent' | 'write', answer: (n: number) => unknown) =>
    defineTool({ name, description: `Does ${name}.`, input: OBJECT, effect }, async ({ n }) => {
      await alive();
      options.effect(`${name} ${n}`);
      return answer(Number(n));
    });
  const tools = [
    tool('look', 'read', (n) => ({ seen: n })),
    tool('put', 'idempotent', (n) => ({ put: n })),
    tool('send', 'write', (n) => ({ sent: n })),
    tool('read_long', 'read', () => 'long '.repeat(20_000)),
  ];
  const model: Model = {
    id: 'resumable',
    async respond(request) {
      await alive();
      options.request?.(structuredClone(request));
      const { messages } = request as unknown as { readonly messages: readonly JsonObject[] };
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      const calls = TURNS[turn];
      const content: Json = calls
        ? calls.map(([name, n], at) => ({ type: 'tool_use', id: `toolu_${turn}_${at}`, name, input: { n } }))
        : [{ type: 'text', text: ANSWER }];
      const message = { id: `msg_${turn}`, type: 'message', role: 'assistant', model: 'resumable', content };
      return { message, stopReason: calls ? 'tool_use' : 'end_turn', usage: { input_tokens: 7, output_tokens: 3 } };
    },
  };
  return {
    model,
    agent: () =>
      createAgent({
        name: 'main',
        model,
        tools,
        permissions: { allow: ['look', 'put', 'send', 'read_long'] },
        callLimits: { retries: 0 },
      }),
    journal: (inner) => (options.breakAt ? brokenJournal(inner, options.breakAt, breakOff, () => isBroken) : inner),
  };
}

/** Gives on what comes up to the break, and nothing after it. */
function brokenJournal<T extends RunJournal>(
  inner: T,
  { line, mode }: BreakPoint,
  breakOff: () => void,
  isBroken: () => boolean,
): T {
  let lines = 0;
  const write = (act: () => void) => {
    if (lines >= line || isBroken()) return;
    lines += 1;
    act();
    if (lines === line && mode === 'at_once') breakOff();
  };
  const journal: Partial<RunJournal> = {
    event: (event) => write(() => inner.event(event)),
    outcome: (call) => write(() => inner.outcome(call)),
    hook: (hook) => write(() => inner.hook?.(hook)),
    question: (question) => write(() => inner.question?.(question)),
    end: (how, detail) => {
      write(() => inner.end(how, detail));
      breakOff();
    },
    async intent(intent) {
      let written: Promise<void> | undefined;
      write(() => {
        written = inner.intent(intent);
      });
      if (written === undefined && intent.effect !== 'read') breakOff();
      if (isBroken()) await NEVER;
      await written;
    },
  };
  return Object.assign(Object.create(inner) as T, journal);
}

/** Every result that the conversation holds, by call. */
export function resultsIn(messages: readonly Json[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { content } of messages as readonly JsonObject[]) {
    if (!Array.isArray(content)) continue;
    for (const block of content as JsonObject[]) {
      if (block.type === 'tool_result') found.set(String(block.tool_use_id), JSON.stringify(block.content));
    }
  }
  return found;
}

/** A journal in memory, with each line in the form that a file has. */
export function memoryJournal(
  lineOf: (event: TraceEvent) => string,
  readLine: (line: string) => TraceEvent | undefined,
  lines: string[] = [],
) {
  const add = (event: TraceEvent) => {
    lines.push(lineOf(event));
  };
  const journal = {
    event: add,
    intent: async (intent: Extract<TraceEvent, { type: 'decided' }>['intent']) =>
      add({ v: 1, at: Date.now(), type: 'decided', intent }),
    outcome: (call: Extract<TraceEvent, { type: 'call' }>['call']) => add({ v: 1, at: Date.now(), type: 'call', call }),
    hook: (hook: Extract<TraceEvent, { type: 'hook' }>['hook']) => add({ v: 1, at: Date.now(), type: 'hook', hook }),
    end: (how: string, detail: Json) => add({ v: 1, at: Date.now(), type: 'end', how, detail }),
    events: () => lines.flatMap((line) => readLine(line) ?? []),
  };
  return { lines, journal };
}
