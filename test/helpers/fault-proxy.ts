import { Agent, type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import { listening } from './http-servers.ts';

/**
 * What happens to a call on its way: `silent`, it runs and its answer never comes; `503`, it doesn't reach the server;
 * `502`, it runs and its answer is lost; `dropped`, the connection breaks within the answer; `404`, it is refused.
 */
export type Fault = 'silent' | '503' | '502' | 'dropped' | '404';

/**
 * What stands before a server at an address that stays, does to calls what a test wants, and counts them.
 *
 * @param first where requests go to, until `moveTo`
 */
export async function faultProxy(first: string) {
  let target = new URL(first);
  let fault: { readonly what: Fault; left: number } | undefined;
  let seen = 0;
  let ran = 0;

  const meets = (): Fault | undefined => {
    if (!fault || fault.left === 0) return undefined;
    fault.left -= 1;
    return fault.what;
  };

  const server = await listening(async (request, response) => {
    const body = await wholeOf(request);
    const isCall = body.includes('"method":"tools/call"');
    const met = isCall ? meets() : undefined;
    if (isCall) seen += 1;
    response.on('error', () => {});
    if (met === '503') return void response.writeHead(503).end('busy');
    if (met === '404') return void response.writeHead(404).end('not found');
    const { method, headers } = request;
    // No connection is kept: the next request may go to another server.
    const agent = new Agent({ keepAlive: false });
    const to = { method, headers: { ...headers, host: target.host, connection: 'close' }, agent };
    const onward = ask(new URL(request.url ?? '', target), to, (answer) => {
      if (isCall && answer.statusCode === 200) ran += 1;
      void passOn(answer, response, met).catch(() => response.destroy());
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => met === undefined && onward.destroy());
    onward.end(body);
  });

  return {
    ...server,
    /** The next calls, one if nothing else is said, meet this. */
    next(what: Fault, calls = 1) {
      fault = { what, left: calls };
    },
    heal() {
      fault = undefined;
    },
    moveTo(url: string) {
      target = new URL(url);
    },
    /** Calls that came here. */
    seen: () => seen,
    /** Calls that a server took. */
    ran: () => ran,
  };
}

async function passOn(answer: IncomingMessage, response: ServerResponse, met: Fault | undefined): Promise<void> {
  if (met === undefined) {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    response.flushHeaders();
    for await (const part of answer) response.write(part);
    response.end();
    return;
  }
  const text = await wholeOf(answer);
  if (met === 'silent') return;
  if (met === '502') return void response.writeHead(502).end('<html>Bad gateway</html>');
  const { 'content-length': _, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 500, headers);
  // A first event that says where to go on arrives whole; the answer itself doesn't.
  const event = text.slice(0, text.indexOf('\n\n') + 2);
  const whole = event.includes('id:') && !event.includes('"result"');
  response.write(whole ? event : text.slice(0, 10), () => response.destroy());
}

async function wholeOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
