import { createCatalog } from '../../src/catalog/index.ts';
import type {
  AskQuestion,
  AskReply,
  Identity,
  Json,
  JsonObject,
  Policy,
  ServerRef,
  Source,
} from '../../src/contracts/index.ts';
import { createDispatcher, memoryRecorder } from '../../src/dispatch/index.ts';
import {
  approvals,
  compilePolicy,
  type Mode,
  type Permissions,
  pins,
  type View,
  withPins,
} from '../../src/policy/index.ts';
import { memoryStore } from '../../src/store/index.ts';
import { definitionFromMcp, rawFrom, sha256, toApiTool } from '../../src/tools/index.ts';

export const MAIN: Identity = { agent: 'main', user: 'mina', via: 'terminal' };

interface WorldOptions {
  readonly permissions?: Permissions;
  readonly mode?: Mode;
  readonly root?: string;
  /** False: tools aren't pinned. */
  readonly pinned?: boolean;
  readonly views?: readonly View[];
  /** What every tool answers. */
  readonly says?: string;
  /** Who is asked in place of the inbox. */
  readonly onAsk?: (world: World, question: AskQuestion) => Promise<AskReply>;
}

export type World = Awaited<ReturnType<typeof world>>;

/**
 * Servers with tools, a catalog, pins, rules, stored approvals and a dispatcher, wired as a host wires them. Nothing is
 * trusted, and a call that no rule names waits in the inbox.
 *
 * @param given the tools of each server by its key, as in `tools/list`, beside the options
 */
export async function world(given: WorldOptions & Readonly<Record<string, unknown>> = {}) {
  const {
    permissions = {},
    mode = 'default',
    root,
    pinned = true,
    views = [],
    says = 'done',
    onAsk,
    ...servers
  } = given;
  const tools = new Map(Object.entries(servers as Record<string, readonly JsonObject[]>));
  const ran: string[] = [];
  const sent: Json[] = [];
  const sources = [...tools.keys()].map((key): Source => {
    const server: ServerRef = { key, scope: 'project', fingerprint: sha256(key), trustAnnotations: false };
    return {
      server,
      async list() {
        const read = (tools.get(key) ?? []).map((entry) => definitionFromMcp(server, rawFrom(entry)));
        return { tools: read.flatMap((each) => ('tool' in each ? [each.tool] : [])), setAside: [] };
      },
      async call(tool, args) {
        ran.push(`${key} ${tool}`);
        sent.push(args);
        return { kind: 'result', raw: rawFrom({ content: [{ type: 'text', text: says }] }), isError: false };
      },
      onChange: () => () => {},
    };
  });

  let time = 1_800_000_000_000;
  const now = () => time;
  const store = memoryStore();
  const known = await pins({ store, place: '/project', now });
  const compile = (wanted: Permissions) => {
    const layer = { scope: 'user', file: 'bridle.json', permissions: wanted, trusted: true } as const;
    return compilePolicy([layer], { mode, ...(root !== undefined && { root }) }).policy;
  };
  let ruled = compile(permissions);
  const rules: Policy = { view: (...asked) => ruled.view(...asked), decide: (...asked) => ruled.decide(...asked) };
  const policy = pinned ? withPins(rules, known) : rules;
  const inbox = approvals({ store, key: 'a key for tests, of enough bytes', place: '/project', now });
  const catalog = createCatalog({ sources, policy, views });
  const recorder = memoryRecorder();
  const stored = inbox.asker();
  const dispatcher = createDispatcher({
    find: (name) => catalog.find(name),
    policy,
    asker: { ask: (question) => (onAsk ? onAsk(self, question) : stored.ask(question)) },
    recorder,
  });
  const refresh = () => catalog.refresh(new AbortController().signal);
  let calls = 0;

  const self = {
    sources,
    inbox,
    known,
    recorder,
    /** `server tool` of each call that reached a server. */
    ran,
    /** Their arguments. */
    sent,
    refresh,
    /** The names that the agent sees. */
    list: () => catalog.list(MAIN).map(({ ref }) => ref.name),
    /** What a model gets of the tools. */
    shown: () => catalog.list(MAIN).map(toApiTool),
    /** From here on the server has these tools. */
    async define(key: string, entries: readonly JsonObject[]) {
      tools.set(key, entries);
      await refresh();
    },
    /** From here on these are the rules. */
    rules(wanted: Permissions) {
      ruled = compile(wanted);
    },
    passes(ms: number) {
      time += ms;
    },
    call(name: string, args: Json, who: Identity = MAIN) {
      calls += 1;
      const { signal } = new AbortController();
      const ctx = { callId: `call-${calls}`, who, signal, idleMs: 600_000, hardMs: 600_000 };
      return dispatcher.call({ name, args: rawFrom(args), profile: 'relay', conversation: 'c', ctx });
    },
  };
  await refresh();
  return self;
}
