import type { Identity, JsonObject, ServeHttp, ToolHost } from 'bridle/contracts';
import { serve } from 'bridle/server';
import { afterEach } from 'vitest';

/** What a test opened, closed after it. */
export const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

export const JSON_RPC = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
export const rpc = (id: number, method: string, params: JsonObject = {}) => ({ jsonrpc: '2.0', id, method, params });
export const call = (id: number, name: string) => rpc(id, 'tools/call', { name, arguments: {} });

/** A server of sessions, and a client of it that knows nothing but HTTP. */
export async function start(host: ToolHost, options: Partial<ServeHttp> = {}) {
  const identify = async (headers: ReadonlyMap<string, string>): Promise<Identity> => {
    const [agent = '?', ...scopes] = (headers.get('x-who') ?? '?').split(' ');
    return { agent, via: 'gateway', scopes };
  };
  const handle = await serve(host, { http: { port: 0, identify, ...options } });
  open.push(handle);
  const url = handle.url ?? '';
  const send = (who: string, body: unknown, session?: string, more: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...JSON_RPC, 'x-who': who, ...(session !== undefined && { 'mcp-session-id': session }), ...more },
      body: JSON.stringify(body),
    });
  const initialize = async (who = 'ada', protocolVersion = '2025-11-25') => {
    const clientInfo = { name: 'c', version: '1' };
    const answer = await send(who, rpc(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo }));
    await answer.text();
    return answer.headers.get('mcp-session-id') ?? '';
  };
  const status = async (who: string, session: string) => {
    const answer = await send(who, rpc(1, 'tools/list'), session);
    await answer.text();
    return answer.status;
  };
  const listen = (session: string, last?: string) =>
    fetch(url, {
      headers: {
        accept: 'text/event-stream',
        'x-who': 'ada',
        'mcp-session-id': session,
        ...(last !== undefined && { 'last-event-id': last }),
      },
    });
  return { url, send, initialize, status, listen };
}

/** Reads events as they come. */
export function eventsOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  return {
    async until(part: string): Promise<string> {
      while (!seen.includes(part)) {
        const next = await reader?.read();
        if (!next || next.done) throw new Error(`the stream ended without ${part}: ${seen}`);
        seen += next.value;
      }
      return seen;
    },
    async rest(): Promise<string> {
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) seen += next.value;
      return seen;
    },
    cancel: () => reader?.cancel(),
  };
}
