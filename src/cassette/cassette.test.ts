import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AgentOptions, createAgent } from '../agent/index.ts';
import type { Asker, Connection, Json, JsonObject, Model } from '../contracts/index.ts';
import { McpError, mcpSource } from '../mcp/client/index.ts';
import { type ScriptedTurn, scriptedModel } from '../testing/index.ts';
import { rawFrom } from '../tools/index.ts';
import { playCassette, recordCassette } from './index.ts';

let dir: string;
let file: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-cassette-'));
  file = join(dir, 'run.cassette.jsonl');
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const KEY = 'hunter2-is-no-password';

/** A server that knows one customer by two tools, and says its key when it is asked how it is. */
function shop(answer: (tool: string, args: Json) => Json | Error): Connection & { readonly calls: string[] } {
  const calls: string[] = [];
  const tool = (name: string, more: JsonObject = {}) => ({
    name,
    description: `Does ${name}.`,
    inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
    ...more,
  });
  return {
    calls,
    server: { key: 'shop', scope: 'code', fingerprint: 'f', trustAnnotations: true },
    era: null,
    async request(method, params) {
      if (method === 'tools/list') {
        return rawFrom({ tools: [tool('look', { annotations: { readOnlyHint: true } }), tool('refund')] });
      }
      const { name, arguments: args } = params as { name: string; arguments: Json };
      calls.push(name);
      const result = answer(name, args);
      if (result instanceof Error) throw result;
      return rawFrom({ content: [{ type: 'text', text: JSON.stringify(result) }] });
    },
    onNotification: () => () => {},
    status: () => ({ state: 'ready', reasons: [] }),
    close: async () => {},
  };
}

const yes: Asker = { ask: async () => ({ answer: 'allow', by: 'somebody' }) };

function turns(): ScriptedTurn[] {
  return [
    {
      calls: [
        { name: 'mcp__shop__look', input: { id: 'a' } },
        { name: 'mcp__shop__look', input: { id: 'b' } },
      ],
    },
    { text: 'I pay it back.', calls: [{ name: 'mcp__shop__refund', input: { id: 'b' } }] },
    'Done.',
  ];
}

interface Parts {
  readonly model: Model;
  readonly connection: Connection;
  readonly asker: Asker;
  readonly conversation?: string;
  readonly system?: string;
  readonly siblings?: AgentOptions['siblings'];
}

async function runWith({ model, connection, asker, conversation, system, siblings }: Parts) {
  const agent = await createAgent({
    model,
    sources: [mcpSource(connection)],
    asker,
    permissions: { allow: ['mcp__shop__look'] },
    ...(system !== undefined && { system }),
    ...(siblings !== undefined && { siblings, callLimits: { retries: 0 } }),
  });
  const result = await agent.run('Refund what is due.', conversation === undefined ? {} : { conversation }).result;
  await agent.close();
  return result;
}

/** Records a run with a server that says its key. */
async function recorded(system?: string) {
  const tape = await recordCassette(file, {
    model: 'scripted',
    conversation: 'c1',
    task: 'Refund what is due.',
    secrets: [KEY],
    paths: { project: '/home/me/shop' },
  });
  const server = shop((name, args) => ({
    ...(args as object),
    name,
    key: KEY,
    password: 'abc',
    path: '/home/me/shop/x',
  }));
  const result = await runWith({
    model: tape.model(scriptedModel(turns())),
    connection: tape.connection(server),
    asker: tape.asker(yes),
    conversation: 'c1',
    ...(system !== undefined && { system }),
  });
  await tape.close();
  expect(tape.lost()).toBe(0);
  return { result, calls: server.calls };
}

describe('a cassette', () => {
  test('plays a run again without its model, its server and whoever was asked', async () => {
    const { result } = await recorded();
    const tape = await playCassette(file);
    const again = await runWith({
      model: tape.model(),
      connection: tape.connection('shop'),
      asker: tape.asker(),
      conversation: tape.header.conversation ?? '',
    });
    expect(tape.divergence()).toBeUndefined();
    expect(again).toMatchObject({ end: 'answered', text: 'Done.', turns: 3, calls: 3 });
    expect(again.messages).toHaveLength(result.messages.length);
    expect(tape.left()).toBe(0);
  });

  test('holds no secret, and only its owner can read it', async () => {
    await recorded();
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('"abc');
    expect(text).toContain('<secret>');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('tells the first thing that is otherwise, with where and what, and asks nobody else', async () => {
    await recorded('Be kind.');
    const tape = await playCassette(file);
    const { end, error } = await runWith({
      model: tape.model(),
      connection: tape.connection('shop'),
      asker: tape.asker(),
      conversation: 'c1',
      system: 'Be brief.',
    });
    expect(end).toBe('failed');
    expect(error?.code).toBe('cassette_diverged');
    expect(error?.message).toMatch(
      /^Request 1 to the model is not as it was recorded:\n {2}at \/system\n {4}recorded: "Be kind\..*\n {4}now: {6}"Be brief\./,
    );
  });

  test('tells a request to a server that is otherwise, also to the model that would be asked next', async () => {
    await recorded();
    const tape = await playCassette(file);
    const request = (params: Json) =>
      tape
        .connection('shop')
        .request('tools/call', params, { signal: new AbortController().signal, idleMs: 1, hardMs: 1 });
    await request({ name: 'look', arguments: { id: 'b' }, _meta: { progressToken: 7 } });
    await expect(request({ name: 'look', arguments: { id: 'c' } })).rejects.toMatchObject({
      code: 'cassette_diverged',
      message: expect.stringContaining('at /params/arguments/id\n    recorded: "a"\n    now:      "c"'),
    });
    await expect(tape.model().respond({}, { signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'cassette_diverged',
      message: expect.stringContaining('tools/call'),
    });
    expect(tape.divergence()?.message).toContain('tools/call to the server "shop"');
  });

  test('plays folders, ids and times of another run as the same', async () => {
    const tape = await recordCassette(file, { model: 'm', paths: { project: '/home/me/shop' } });
    const ask = (model: Model, text: string) =>
      model.respond({ messages: [{ role: 'user', content: text }] }, { signal: new AbortController().signal });
    const text = (place: string, id: string, at: string) =>
      `In ${place}/a: ${id} and ${id}, not res_000000000000, at ${at}.`;
    const first = text('/home/me/shop', '0f8fad5b-d9cb-469f-a165-70867728950e', '2026-11-30T23:59:01Z');
    await ask(tape.model(scriptedModel(['Yes.'], { id: 'm', check: false })), first);
    await tape.close();
    const paths = { project: '/srv/ci/build-7' };
    const play = async (now: string) => ask((await playCassette(file, { paths })).model(), now);
    const other = text('/srv/ci/build-7', '7c9e6679-7425-40de-944b-e07fc1f90ae7', '2027-01-01T00:00:00.5Z');
    expect(await play(other)).toMatchObject({ stopReason: 'end_turn' });
    // Two ids where there was one.
    const split = other.replace('7c9e6679-7425-40de-944b-e07fc1f90ae7 and', '00000000-0000-4000-8000-000000000000 and');
    await expect(play(split)).rejects.toMatchObject({ code: 'cassette_diverged' });
  });

  test('plays errors of a server as what they were', async () => {
    const tape = await recordCassette(file, { model: 'm' });
    const rpc = { code: -32601, message: 'no such method' };
    const ctx = { signal: new AbortController().signal, idleMs: 1, hardMs: 1 };
    const connection = tape.connection(
      shop(() => new McpError('mcp_error_answer', 'It said no.', { executed: 'not_executed', rpc })),
    );
    await expect(connection.request('prompts/get', { name: 'x' }, ctx)).rejects.toThrow('It said no.');
    await tape.close();
    const played = (await playCassette(file)).connection('shop');
    const error: unknown = await played.request('prompts/get', { name: 'x' }, ctx).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({ code: 'mcp_error_answer', executed: 'not_executed', rpc });
  });

  test('plays a person who broke off, and calls that were given up before they were answered', async () => {
    const three: ScriptedTurn[] = [
      {
        calls: [
          { name: 'mcp__shop__look', input: { id: 'gone' } },
          { name: 'mcp__shop__look', input: { id: 'never' } },
        ],
      },
      { calls: [{ name: 'mcp__shop__refund', input: { id: 'b' } }] },
      'Done.',
    ];
    const asker: Asker = {
      ask: async () => {
        throw new Error('The terminal is gone.');
      },
    };
    const server = shop(() => new McpError('mcp_failed', 'Gone.', { executed: 'not_executed' }));
    const { request } = server;
    // The first call fails, and the rule for its sibling gives that one up.
    server.request = async (method, params, ctx) => {
      if (!JSON.stringify(params ?? null).includes('never')) return request(method, params, ctx);
      return new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason), { once: true });
      });
    };
    const tape = await recordCassette(file, { model: 'scripted', conversation: 'c1' });
    const first = await runWith({
      model: tape.model(scriptedModel(three)),
      connection: tape.connection(server),
      asker: tape.asker(asker),
      conversation: 'c1',
      siblings: 'cancel',
    });
    await tape.close();
    const played = await playCassette(file);
    const again = await runWith({
      model: played.model(),
      connection: played.connection('shop'),
      asker: played.asker(),
      conversation: 'c1',
      siblings: 'cancel',
    });
    expect(first).toMatchObject({ end: 'answered', text: 'Done.' });
    expect(again).toMatchObject({ end: 'answered', text: 'Done.', turns: 3 });
    expect(again.messages).toEqual(first.messages);
    expect(played.left()).toBe(0);
  });

  test('plays a model that broke off with the same end', async () => {
    const tape = await recordCassette(file, { model: 'scripted', conversation: 'c1' });
    const parts = { connection: shop(() => null), asker: yes, conversation: 'c1' };
    const first = await runWith({ ...parts, model: tape.model(scriptedModel([new Error('The socket hung up.')])) });
    await tape.close();
    const played = await playCassette(file);
    const again = await runWith({ ...parts, model: played.model() });
    expect(first.error?.code).toBe('model_failed');
    expect(again.error).toEqual(first.error);
  });

  test('a torn last line is left out; another kind of file, or another version, is told', async () => {
    await recorded();
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, `${text}{"v":1,"n":99,"ty`);
    expect((await playCassette(file)).left()).toBeGreaterThan(0);
    for (const wrong of ['', '{"v":1,"type":"run"}\n', text.replaceAll('"v":1', '"v":2'), `no json\n${text}`]) {
      writeFileSync(file, wrong);
      await expect(playCassette(file)).rejects.toMatchObject({ code: 'cassette_not_readable' });
    }
    await expect(playCassette(join(dir, 'nope'))).rejects.toMatchObject({ code: 'cassette_not_readable' });
    await expect(recordCassette(join(dir, 'no', 'folder'), { model: 'm' })).rejects.toMatchObject({
      code: 'cassette_not_writable',
    });
  });
});
