import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createCatalog } from '../src/catalog/index.ts';
import type { Policy, Source, ToolDefinition } from '../src/contracts/index.ts';
import { createDispatcher, memoryRecorder } from '../src/dispatch/index.ts';
import { closeAll, connectHttp, mcpSource } from '../src/mcp/client/index.ts';
import { compilePolicy } from '../src/policy/index.ts';
import { rawFrom } from '../src/tools/index.ts';
import { type Fault, faultProxy } from './helpers/fault-proxy.ts';
import { entry, everything, listening, type Running, sdkV1, sdkV2 } from './helpers/http-servers.ts';
import { eventually, never } from './helpers/mcp.ts';
import { MAIN } from './helpers/tool-world.ts';

const LONG = 240_000;

const running: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await closeAll();
  for (const one of running.splice(0)) await one.close();
});

async function up<R extends { close(): Promise<unknown> }>(server: Promise<R>): Promise<R> {
  const one = await server;
  running.push(one);
  return one;
}

type Server = Running & {
  /** How often its tool ran, where it says so. */
  added?(): number;
};

/** Ends before its test does. */
async function leaves(server: Server): Promise<void> {
  running.splice(running.indexOf(server), 1);
  await server.close();
}

interface Kind {
  readonly era: 'modern' | 'legacy';
  /** Its tool that adds. */
  readonly tool: 'add' | 'get-sum';
  /** Of its own accord it lets a stream that broke be gone on with. */
  readonly resumes?: true;
  start(): Promise<Server>;
}

const V2_LEGACY = 'official SDK, version 2, legacy';
const KINDS: Readonly<Record<string, Kind>> = {
  'official SDK, version 1': { era: 'legacy', tool: 'add', start: () => sdkV1() },
  [V2_LEGACY]: { era: 'legacy', tool: 'add', start: () => sdkV2() },
  'official SDK, version 2, modern': { era: 'modern', tool: 'add', start: () => sdkV2({ modernOnly: true }) },
  'published everything server': {
    era: 'legacy',
    tool: 'get-sum',
    resumes: true,
    start: () => everything('streamableHttp'),
  },
};

function allowing(): Policy {
  const layer = { scope: 'user', file: 'bridle.json', permissions: { allow: ['mcp__net'] }, trusted: true } as const;
  return compilePolicy([layer], { mode: 'default' }).policy;
}

/** A server behind the proxy, and calls of its tool as an agent makes them, told to be a read or a write. */
async function behindProxy(server: Server, effect: ToolDefinition['effect'], era: 'auto' | 'legacy' = 'auto') {
  const proxy = await up(faultProxy(server.url));
  const connection = connectHttp(entry(proxy.url, { era, startMs: 60_000 }));
  const plain = mcpSource(connection);
  const source: Source = {
    ...plain,
    async list(signal) {
      const { tools, setAside } = await plain.list(signal);
      return { tools: tools.map((tool) => ({ ...tool, effect })), setAside };
    },
  };
  const policy = allowing();
  const catalog = createCatalog({ sources: [source], policy });
  const refresh = () => catalog.refresh(never());
  await refresh();
  const dispatcher = createDispatcher({
    find: (name) => catalog.find(name),
    policy,
    asker: { ask: () => Promise.reject(new Error('nothing is asked here')) },
    recorder: memoryRecorder(),
  });
  let calls = 0;
  return {
    proxy,
    connection,
    refresh,
    /** 2 + 3, by a call of its own. */
    async add(tool: Kind['tool'], idleMs = 120_000) {
      calls += 1;
      const ctx = { callId: `call-${calls}`, who: MAIN, signal: never(), idleMs, hardMs: 120_000 };
      const name = `mcp__net__${tool}`;
      const args = rawFrom({ a: 2, b: 3 });
      return dispatcher.call({ name, args, profile: 'agent', conversation: 'c', ctx });
    },
  };
}

const UNKNOWN = { kind: 'failed', failure: { executed: 'unknown' } };
const FIVE = { kind: 'ok', isError: false, raw: { text: expect.stringMatching(/"(The sum of 2 and 3 is )?5\b/) } };

interface Row {
  readonly fault: Fault;
  readonly what: string;
  /** What came of a write and of a read, how often they came to the proxy, and how often they ran. */
  readonly write: readonly [outcome: object, seen: number, ran: number];
  readonly read: readonly [outcome: object, seen: number, ran: number];
}

const ROWS: readonly Row[] = [
  {
    fault: '503',
    what: 'refused before the server saw it (503): nobody can know that, so only a read is made again',
    write: [UNKNOWN, 1, 0],
    read: [FIVE, 2, 1],
  },
  {
    fault: '502',
    what: 'whose answer was lost on its way (502) has run: only a read is made again',
    write: [UNKNOWN, 1, 1],
    read: [FIVE, 2, 2],
  },
  {
    fault: 'dropped',
    what: 'whose answer broke off has run: only a read is made again',
    write: [UNKNOWN, 1, 1],
    read: [FIVE, 2, 2],
  },
  {
    fault: '404',
    what: 'refused as not found (404), as when its session is over, is known not to have run, and is made again',
    write: [FIVE, 2, 1],
    read: [FIVE, 2, 1],
  },
];
/** Where a stream can be gone on with, an answer that broke off is fetched, and the call is made once. */
const RESUMED: Row['write'] = [FIVE, 1, 1];

describe.each(Object.entries(KINDS))('%s: a call', (_, kind) => {
  const era = kind.era === 'legacy' ? 'legacy' : 'auto';
  let server: Server;
  beforeAll(async () => {
    server = await kind.start();
  }, LONG);
  afterAll(() => server.close());

  describe.each(ROWS)('$what', ({ fault, ...row }) => {
    test.each(['write', 'read'] as const)(
      '(%s)',
      async (effect) => {
        const { proxy, add } = await behindProxy(server, effect, era);
        const [outcome, seen, ran] = fault === 'dropped' && kind.resumes ? RESUMED : row[effect];
        const before = server.added?.() ?? 0;
        proxy.next(fault);
        expect(await add(kind.tool)).toMatchObject(outcome);
        expect([proxy.seen(), proxy.ran()]).toEqual([seen, ran]);
        if (server.added) expect(server.added() - before).toBe(ran);
        expect(await add(kind.tool)).toMatchObject(FIVE);
        expect([proxy.seen(), proxy.ran()]).toEqual([seen + 1, ran + 1]);
      },
      LONG,
    );
  });

  test.each(['write', 'read'] as const)(
    'that is not answered in time may have run, and is made again by itself only if a read (%s)',
    async (effect) => {
      const { proxy, add } = await behindProxy(server, effect, era);
      proxy.next('silent', Number.POSITIVE_INFINITY);
      const outcome = await add(kind.tool, 300);
      expect(outcome).toMatchObject(UNKNOWN);
      const said = { write: { message: expect.stringMatching(/took effect|taken effect/) }, read: { retryable: true } };
      expect(outcome).toMatchObject({ failure: said[effect] });
      // On a busy machine the time may be over before the call was sent.
      if (effect === 'write') expect(proxy.seen()).toBeLessThanOrEqual(1);
      proxy.heal();
      expect(await add(kind.tool)).toMatchObject(FIVE);
    },
    LONG,
  );

  test(
    'after its server was started anew is made once, by the new one',
    async () => {
      const old = await up(kind.start());
      const { proxy, add } = await behindProxy(old, 'write', era);
      expect(await add(kind.tool)).toMatchObject(FIVE);
      const before = server.added?.() ?? 0;
      proxy.moveTo(server.url);
      await leaves(old);
      expect(await add(kind.tool)).toMatchObject(FIVE);
      expect(proxy.ran()).toBe(2);
      if (server.added) expect(server.added() - before).toBe(1);
    },
    LONG,
  );
});

const names = Object.keys(KINDS);
const otherEra = names.flatMap((from) =>
  names.filter((to) => KINDS[from]?.era !== KINDS[to]?.era).map((to) => [from, to] as const),
);
// Made with one SDK for both eras, it is of the modern one for whoever doesn't insist.
const SWITCHES = otherEra.filter((pair) => !pair.includes(V2_LEGACY));

test.each(SWITCHES)(
  'where a server (%s) is replaced by one of the other era (%s), the next call is made once, by that one',
  async (from, to) => {
    const [before, after] = [KINDS[from], KINDS[to]];
    if (!before || !after) throw new Error('no such kind');
    const [old, next] = await Promise.all([up(before.start()), up(after.start())]);
    const { proxy, connection, add, refresh } = await behindProxy(old, 'write');
    expect(await add(before.tool)).toMatchObject(FIVE);
    const revision = connection.era?.revision;
    proxy.moveTo(next.url);
    await leaves(old);
    // Tools of another name are to be listed first.
    if (before.tool !== after.tool) await refresh();
    expect(await add(after.tool)).toMatchObject(FIVE);
    expect(proxy.ran()).toBe(2);
    if (next.added) expect(next.added()).toBe(1);
    expect(connection.era?.revision).not.toBe(revision);
    expect(await add(after.tool)).toMatchObject(FIVE);
    expect(proxy.ran()).toBe(3);
  },
  LONG,
);

test(
  'a server that was down when tools were listed is listed by itself as soon as something reaches it',
  async () => {
    const server = await up(sdkV2());
    const gone = await listening(() => {});
    await gone.close();
    const proxy = await up(faultProxy(gone.url));
    const connection = connectHttp(entry(proxy.url));
    const catalog = createCatalog({ sources: [mcpSource(connection)], policy: allowing() });
    await catalog.refresh(never());
    expect(catalog.readiness()).toMatchObject([{ state: 'failed' }]);
    proxy.moveTo(server.url);
    await connection.connect();
    expect(await eventually(() => catalog.find('mcp__net__add') !== undefined)).toBe(true);
    expect(catalog.readiness()).toMatchObject([{ state: 'ready' }]);
  },
  LONG,
);
