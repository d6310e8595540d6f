import * as sdk from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import type { Identity, Json, Outcome, ToolHost } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { type LegacySessions, legacySessions } from './legacy-sessions.ts';

const open: LegacySessions[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sessions) => sessions.close()));
});

const done: Outcome = { kind: 'ok', isError: false, raw: rawFrom({ content: [] }) };
const untilCancelled = (signal: AbortSignal) =>
  new Promise<Outcome>((resolve) => signal.addEventListener('abort', () => resolve(done), { once: true }));

function start(maxSessions?: number) {
  const host: ToolHost = {
    list: () => [],
    call: async ({ name, ctx }) => (name === 'wait' ? untilCancelled(ctx.signal) : done),
    onChange: () => () => {},
  };
  const sessions = legacySessions(sdk, host, maxSessions);
  open.push(sessions);
  const post = async (who: Identity, body: Json, id?: string) => {
    const headers = new Headers({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-03-26',
      ...(id !== undefined && { 'mcp-session-id': id }),
    });
    return (await sessions.handle(new Request('http://localhost/mcp', { method: 'POST', headers }), body, who))
      .response;
  };
  const initialize = async (who: Identity) => {
    const clientInfo = { name: 'c', version: '1' };
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
    const response = await post(who, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  const status = async (who: Identity, id: string) => {
    const response = await post(who, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, id);
    await response.text();
    return response.status;
  };
  return { post, initialize, status };
}

const caller = (agent: string, ...scopes: string[]): Identity => ({ agent, via: 'gateway', scopes });
const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const cancel = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

describe('a session of the older revisions', () => {
  test('is another one for a caller with other scopes, in whatever order they are given', async () => {
    const { initialize, status } = start();
    const id = await initialize(caller('ada', 'read', 'write'));
    expect(await status(caller('ada', 'write', 'read'), id)).toBe(200);
    expect(await status(caller('ada', 'read'), id)).toBe(404);
    expect(await status(caller('ada', 'read', 'write', 'admin'), id)).toBe(404);
    expect(await status({ agent: 'ada', via: 'gateway' }, id)).toBe(404);
  });

  test('ends the stream of a call that was cancelled, which gets no answer', async () => {
    const { post, initialize } = start();
    const ada = caller('ada');
    const id = await initialize(ada);
    const waiting = await post(ada, call(1, 'wait'), id);
    await post(ada, cancel(1), id);
    expect(await waiting.text()).not.toContain('"id":1');
  });

  test('keeps the stream of a batch of which one call was cancelled', async () => {
    const { post, initialize } = start();
    const ada = caller('ada');
    const id = await initialize(ada);
    const both = await post(ada, [call(1, 'wait'), call(2, 'wait')], id);
    await post(ada, cancel(1), id);
    const alone = await post(ada, call(3, 'quick'), id);
    expect(await alone.text()).toContain('"id":3');
    const reader = both.body?.getReader();
    const first = await Promise.race([reader?.read(), new Promise((resolve) => setTimeout(resolve, 50, 'open'))]);
    expect(first).toBe('open');
    await reader?.cancel();
  });

  test('makes room for a new one of the same caller before it costs anybody else theirs', async () => {
    const { initialize, status } = start(3);
    const [ada, eve] = [caller('ada'), caller('eve')];
    const hers = await initialize(ada);
    const first = await initialize(eve);
    for (let i = 0; i < 5; i += 1) await initialize(eve);
    expect(await status(ada, hers)).toBe(200);
    expect(await status(eve, first)).toBe(404);
  });
});
