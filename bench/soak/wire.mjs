/** A client of HTTP that hides nothing: one request, its status, its headers and its body, whole or as events. */
import { Agent, request as httpRequest } from 'node:http';

export const MODERN = '2026-07-28';
export const LEGACY = '2025-11-25';

/** @param {string} url */
export function wire(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  /**
   * @param {{ method?: string, headers?: Record<string, string>, body?: string, signal?: AbortSignal, alone?: boolean }} options
   *   `alone`: over a connection of its own
   */
  function open({ method = 'POST', headers = {}, body, signal, alone = false }) {
    return new Promise((resolve, reject) => {
      const accept = 'application/json, text/event-stream';
      const sent = httpRequest(url, {
        method,
        agent: alone ? new Agent() : agent,
        headers: { 'content-type': 'application/json', accept, ...headers },
        ...(signal && { signal }),
      });
      sent.once('error', reject);
      sent.once('response', (response) => {
        response.setEncoding('utf8');
        // Whoever cuts a stream has no interest in how it ended.
        response.on('error', () => {});
        resolve({ response, status: response.statusCode ?? 0, headers: response.headers, cut: () => sent.destroy() });
      });
      sent.end(body);
    });
  }

  return {
    open,
    async send(options) {
      const { response, status, headers } = await open(options);
      let text = '';
      for await (const chunk of response) text += chunk;
      return { status, headers, text };
    },
    close: () => agent.destroy(),
  };
}

/** The messages of an answer, whichever form it came in. */
export function messagesOf({ headers, text }) {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return text === '' ? [] : [JSON.parse(text)];
  return eventsIn(text);
}

export function eventsIn(text) {
  return text.split('\n\n').flatMap((event) => {
    const data = event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
    return data.length === 0 || data[0] === '' ? [] : [JSON.parse(data.join('\n'))];
  });
}

/** Reads a stream until one of its messages is the one that is looked for. */
export async function until({ response }, isIt) {
  let text = '';
  for await (const chunk of response.iterator({ destroyOnReturn: false })) {
    text += chunk;
    const found = eventsIn(text.slice(0, text.lastIndexOf('\n\n') + 2)).find(isIt);
    if (found) return { found, text };
  }
  throw new Error(`the stream ended before it was said: ${text.slice(-300)}`);
}

export const modernHeaders = (method, name) => ({
  'mcp-protocol-version': MODERN,
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

export function modernBody(id, method, params, capabilities = {}) {
  const _meta = {
    ...params._meta,
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } });
}

export const legacyBody = (id, method, params = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params });
