import type { Json, Outcome } from 'bridle/contracts';
import fc from 'fast-check';
import { hostileJson, hostileObject, hostileText } from '../helpers/hostile-text.ts';
import { tableHost, text } from './table-host.ts';

/** JSON as a client might write it, members that have no place in it among it. */
type Loose = Json | undefined;

const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 4) => fc.option(arbitrary, { nil: undefined, freq });
/** Mostly the first. */
const mostly = <T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: right, weight: 9 }, { arbitrary: wrong, weight: 1 });

export const METHODS = [
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'tasks/result',
  'tasks/list',
  '__proto__',
  'constructor',
  '',
] as const;
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2099-01-01', '', '__proto__'];

const id: fc.Arbitrary<Loose> = fc.oneof(
  { arbitrary: fc.integer({ min: -3, max: 12 }), weight: 8 },
  { arbitrary: fc.constantFrom<Json>('a', '1', '__proto__', '', 'push:1'), weight: 3 },
  { arbitrary: hostileText, weight: 1 },
  {
    arbitrary: fc.constantFrom<Loose>(
      null,
      1.5,
      1e300,
      2 ** 53,
      true,
      [],
      {},
      undefined,
      'i'.repeat(1024),
      'i'.repeat(1025),
    ),
    weight: 1,
  },
);
const CAPABILITIES: Json[] = [{}, { extensions: { 'io.modelcontextprotocol/tasks': {} } }];
const strange = fc.oneof(hostileJson, hostileText as fc.Arbitrary<Json>, fc.constantFrom<Json>(null, [], {}, 0, ''));
const name = mostly(fc.constantFrom<Json>('echo', 'tells', 'asks', 'slow', 'fails'), strange);
const meta = fc.record(
  {
    'io.modelcontextprotocol/protocolVersion': mostly(
      fc.constant<Json>('2026-07-28'),
      fc.oneof(fc.constantFrom<Json>(...REVISIONS), strange),
    ),
    'io.modelcontextprotocol/clientCapabilities': mostly(fc.constantFrom<Json>(...CAPABILITIES), strange),
    'io.modelcontextprotocol/clientInfo': mostly(fc.constant<Json>({ name: 'c', version: '1' }), strange),
    'io.modelcontextprotocol/logLevel': mostly(fc.constantFrom<Json>('debug', 'error'), strange),
    progressToken: fc.oneof(fc.constantFrom<Json>(1, 't'), strange),
    traceparent: strange,
  },
  { requiredKeys: [] },
);
const modernMeta = meta.map((some) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  ...some,
}));
const params = (about: fc.Arbitrary<Json>) =>
  fc.record(
    {
      name,
      arguments: mostly(hostileObject as fc.Arbitrary<Json>, strange),
      uri: mostly(fc.constant<Json>('fuzz:///a'), strange),
      level: mostly(fc.constant<Json>('debug'), strange),
      ref: mostly(fc.constant<Json>({ type: 'ref/prompt', name: 'p' }), strange),
      argument: mostly(fc.constant<Json>({ name: 'a', value: '' }), strange),
      requestId: id as fc.Arbitrary<Json>,
      notifications: mostly(
        fc.constantFrom<Json>(
          { toolsListChanged: true, resourceSubscriptions: ['fuzz:///a'] },
          { toolsListChanged: true, taskIds: ['t'] },
        ),
        strange,
      ),
      protocolVersion: fc.constantFrom<Json>(...REVISIONS),
      capabilities: mostly(fc.constant<Json>({ roots: {} }), strange),
      clientInfo: mostly(fc.constant<Json>({ name: 'c', version: '1' }), strange),
      cursor: maybe(strange, 1) as fc.Arbitrary<Json>,
      inputResponses: maybe(strange, 1) as fc.Arbitrary<Json>,
      task: mostly(fc.constantFrom<Json>({}, { ttl: 1_000 }), strange),
      taskId: mostly(fc.constant<Json>('t'), strange),
      requestState: maybe(strange, 1) as fc.Arbitrary<Json>,
      _meta: about,
    },
    {
      requiredKeys: ['name', 'uri', 'level', 'notifications', 'protocolVersion', 'capabilities', 'clientInfo', '_meta'],
    },
  );
const message = fc.record(
  {
    jsonrpc: fc.oneof({ arbitrary: fc.constant<Json>('2.0'), weight: 30 }, { arbitrary: strange, weight: 1 }),
    id,
    method: mostly(fc.constantFrom<Json>(...METHODS), strange),
    params: fc.oneof(
      { arbitrary: params(modernMeta as fc.Arbitrary<Json>), weight: 5 },
      { arbitrary: params(meta as fc.Arbitrary<Json>), weight: 4 },
      { arbitrary: strange, weight: 1 },
    ),
    result: strange,
    error: strange,
  },
  { requiredKeys: ['jsonrpc'] },
) as fc.Arbitrary<{ readonly [name: string]: Loose }>;
/** With all that makes a request. */
const request = fc
  .tuple(message, fc.constantFrom(...METHODS), params(modernMeta as fc.Arbitrary<Json>), id)
  .map(
    ([given, method, about, own]) =>
      ({ ...given, jsonrpc: '2.0', method, params: given.params ?? about, id: given.id ?? own }) as typeof given,
  );
export const envelope: fc.Arbitrary<Json> = fc.oneof(
  { arbitrary: request as fc.Arbitrary<Json>, weight: 6 },
  { arbitrary: message as fc.Arbitrary<Json>, weight: 3 },
  { arbitrary: fc.array(message as fc.Arbitrary<Json>, { maxLength: 4 }), weight: 1 },
  { arbitrary: strange, weight: 1 },
);

/** JSON text, sometimes broken. `json` is what it says, where it says anything. */
export interface Written {
  readonly text: string;
  readonly json?: Json;
}
const brokenText = fc
  .tuple(envelope, fc.nat(), fc.constantFrom('', '}', '"', '\\', '[', '\u0000', '\ud800', '__proto__'))
  .map(([json, at, piece]) => {
    const text = JSON.stringify(json);
    const cut = at % (text.length + 1);
    return text.slice(0, cut) + piece + text.slice(piece === '' ? text.length : cut);
  });
export const written: fc.Arbitrary<Written> = fc
  .oneof(
    { arbitrary: envelope.map((json) => JSON.stringify(json)), weight: 12 },
    { arbitrary: brokenText, weight: 2 },
    { arbitrary: fc.constantFrom('[', '{"a":').map((open) => open.repeat(2_000)), weight: 1 },
  )
  .map((written) => {
    // Half a character can't be sent: its place is taken as the bytes are made.
    const text = Buffer.from(written).toString();
    try {
      return { text, json: JSON.parse(text) as Json };
    } catch {
      return { text };
    }
  });

/** What can be sent as a header by a client that checks what it sends. */
const headerText = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('=?base64??=', '=?base64?%?=', '=?base64?YQ==?=', 'a, b', '*/*', '\u00e9'),
);
export const oddHeaders = fc.dictionary(
  fc.constantFrom(
    'accept',
    'origin',
    'content-type',
    'last-event-id',
    'mcp-method',
    'mcp-name',
    'mcp-param-x',
    'mcp-protocol-version',
    'mcp-session-id',
    'x-odd',
  ),
  fc.oneof(
    headerText,
    fc.constantFrom(
      'application/json',
      'text/event-stream',
      'http://localhost',
      'http://evil.example',
      ...REVISIONS,
      ...METHODS,
    ),
  ),
  { maxKeys: 3 },
);

/** A request by what JSON-RPC and MCP say it is; the answer has to have its id. */
export function idOfRequest(value: Json | undefined): string | number | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { jsonrpc, method, params: about, id: own } = value;
  if (jsonrpc !== '2.0' || typeof method !== 'string') return undefined;
  if (about !== undefined && (typeof about !== 'object' || about === null || Array.isArray(about))) return undefined;
  if (typeof own === 'string') return own.length <= 1024 ? own : undefined;
  return typeof own === 'number' && Number.isSafeInteger(own) ? own : undefined;
}

/** What a JSON-RPC answer has to be, whoever it is for. */
export function isAnswer(value: Json): value is { readonly [name: string]: Json } {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value.jsonrpc !== '2.0') return false;
  if (!Object.hasOwn(value, 'id')) return false;
  const { result, error, id: own } = value;
  if (own !== null && typeof own !== 'string' && !Number.isInteger(own)) return false;
  if (result !== undefined) return error === undefined && own !== null && typeof result === 'object' && result !== null;
  if (typeof error !== 'object' || error === null || Array.isArray(error)) return false;
  return Number.isInteger(error.code) && typeof error.message === 'string';
}

/** A host with something of everything, that counts what it has begun and not ended. */
export function countingHost() {
  const count = { running: 0 };
  const log = (value: Json) => ({ kind: 'log', raw: { text: '', parse: () => value } }) as const;
  const raw = (value: Json) => ({ text: JSON.stringify(value), parse: () => value });
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const execution = { taskSupport: 'optional' } as const;
  const answers: Parameters<typeof tableHost>[0] = {
    echo: ({ args }) => text(args.text),
    async tells({ ctx }) {
      ctx.onEvent?.({ kind: 'progress', raw: raw({ progress: 1 }) });
      await turn();
      ctx.onEvent?.(log({ level: 'error', data: 'x' }));
      return text('told');
    },
    async asks({ ctx }) {
      if (!ctx.input) return { kind: 'input_required', requests: raw({ a: { method: 'roots/list' } }), state: 's' };
      await ctx.input(raw({ method: 'elicitation/create', params: {} }));
      return text('asked');
    },
    async slow({ ctx }) {
      for (let turns = 0; turns < 5 && !ctx.signal.aborted; turns += 1) await turn();
      return text('slow');
    },
    fails: () => Promise.reject(new Error('as it is meant to')),
  };
  const table = tableHost(answers, { tells: { execution }, slow: { execution }, fails: { execution } });
  const counted = async (run: () => Promise<Outcome>) => {
    count.running += 1;
    try {
      return await run();
    } finally {
      count.running -= 1;
    }
  };
  const read = { kind: 'result', raw: raw({ contents: [] }), isError: false } as const;
  const failure = {
    kind: 'failure',
    failure: { category: 'validation', retryable: false, message: 'Unknown', executed: 'not_executed', attempts: [] },
  } as const;
  const host = {
    ...table,
    hasTasks: () => true,
    call: (call: Parameters<typeof table.call>[0]) => counted(() => table.call(call)),
    content: {
      list: () => ({ resources: [], templates: [], prompts: [], setAside: [] }),
      read: async (uri: string) => (uri === 'fuzz:///a' ? read : failure),
      prompt: async () => failure,
      complete: async () => ({ values: [] }),
      has: (uri: string) => uri === 'fuzz:///a',
      subscribe: () => () => {},
      onChange: () => () => {},
    },
  };
  return { host, count };
}

/** What a header would repeat of a body's member, if that were a text. */
export function asHeader(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
