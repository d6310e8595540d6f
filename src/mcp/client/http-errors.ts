import { printable } from '../../tools/index.ts';
import { McpError } from './errors.ts';
import type { HttpProxy } from './proxy.ts';

/** For error texts: which server, and how to take its secrets out of what it said. */
export interface HttpSubject {
  readonly name: string;
  clean(text: string): string;
  /** A command of its entry makes headers. */
  readonly hasHelper?: boolean;
}

/** What of an answer is told when it isn't the one that was hoped for. */
export interface Came {
  readonly status: number;
  readonly type: string | undefined;
  /** The beginning of its body. */
  readonly text: string;
}

const CERTIFICATE =
  /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH|EPROTO)/;
const SHOWN = 200;
const EXAMPLE = `"Authorization": "Bearer \${TOKEN}"`;

/** The network failed. `sent`: whether the request was on its way. */
export function networkError(subject: HttpSubject, cause: NodeJS.ErrnoException, sent: boolean): McpError {
  const { name } = subject;
  const code = cause.code ?? '';
  // What OpenSSL says of itself around its reason helps nobody.
  const said = 'reason' in cause && typeof cause.reason === 'string' ? cause.reason : cause.message;
  const why = printable(subject.clean(said), { maxLength: 300 });
  if (CERTIFICATE.test(code)) {
    return new McpError('mcp_tls', `${name}: no secure connection: ${why} (${code}).`, {
      executed: sent ? 'unknown' : 'not_executed',
      hint:
        code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER'
          ? 'Does this port speak https? Correct "url" of its entry.'
          : 'Mend its certificate; for a certification authority of your own set NODE_EXTRA_CA_CERTS.',
      cause,
    });
  }
  if (code.startsWith('HPE_')) {
    return new McpError('mcp_no_mcp_answer', `${name} answered with something that isn't HTTP (${code}).`, {
      executed: sent ? 'unknown' : 'not_executed',
      hint: 'Correct "url" of its entry: host, port, and http or https.',
      cause,
    });
  }
  if (!sent) {
    return new McpError('mcp_unreachable', `${name} can't be reached: ${why || code}.`, {
      executed: 'not_executed',
      passing: code === 'ETIMEDOUT' || code === 'ECONNRESET' || code === 'EAI_AGAIN',
      hint:
        code === 'ENOTFOUND' || code === 'EAI_AGAIN'
          ? 'Check the host name in "url" of its entry, and your network.'
          : 'Check that it runs, and "url" of its entry.',
      cause,
    });
  }
  return lost(subject, why || code, cause);
}

/** The proxy itself isn't there, or broke before it made a way. */
export function proxyUnreachable({ name }: HttpSubject, { shown }: HttpProxy, cause: NodeJS.ErrnoException): McpError {
  const why = printable(cause.message || cause.code || 'it gave no answer', { maxLength: 300 });
  return new McpError('mcp_proxy', `${name} can't be reached: its proxy, ${shown}, can't be used: ${why}.`, {
    executed: 'not_executed',
    passing: true,
    hint: 'Check that variable and the proxy, or put the host of the server into NO_PROXY.',
    cause,
  });
}

/** The proxy won't let anything through. */
export function proxyRefused({ name }: HttpSubject, { shown }: HttpProxy, status: number): McpError {
  return new McpError('mcp_proxy', `${name} can't be reached: its proxy, ${shown}, refuses it (HTTP ${status}).`, {
    executed: 'not_executed',
    passing: status >= 500,
    hint:
      status === 407
        ? 'It wants to know who is asking: write user and password into that variable (http://user:password@host:port).'
        : 'Ask whoever runs the proxy, or put the host of the server into NO_PROXY.',
  });
}

/** The connection broke when the request was already on its way. */
export function lost({ name }: HttpSubject, why: string, cause?: unknown): McpError {
  return new McpError('mcp_connection_lost', `${name}: the connection broke before the answer: ${why}.`, {
    executed: 'unknown',
    passing: true,
    hint: 'Check whether the call took effect before making it again.',
    ...(cause !== undefined && { cause }),
  });
}

/** A redirect that isn't followed: nothing ran. */
export function redirected({ name }: HttpSubject, status: number, to: string, why: string): McpError {
  return new McpError('mcp_redirect', `${name} answered with a redirect (HTTP ${status}) to ${to}, ${why}.`, {
    executed: 'not_executed',
    status,
    hint: 'If you trust that address, write it into "url" of its entry.',
  });
}

/** An answer packed in a way that was never offered. */
export function unknownEncoding({ name }: HttpSubject, encoding: string): McpError {
  const shown = printable(encoding, { maxLength: 80 });
  return new McpError(
    'mcp_no_mcp_answer',
    `${name} answered in the content encoding "${shown}", which is unknown here.`,
    {
      executed: 'unknown',
      hint: 'This is a fault of the server, or of what stands before it: it was not offered that encoding.',
    },
  );
}

/** One answer, or one event of a stream, that is longer than may be held. */
export function answerTooLarge({ name }: HttpSubject, limit: number): McpError {
  return new McpError('mcp_frame_too_large', `${name} sent an answer over the limit of ${limit} bytes.`, {
    executed: 'unknown',
    hint: 'Ask the server for less at once, or raise the limit for messages of its entry.',
  });
}

/** What came back, in words: status, content type, the first characters. */
function described(subject: HttpSubject, { status, type, text }: Came): string {
  const shown = printable(subject.clean(text), { maxLength: SHOWN }).trim();
  return `HTTP ${status}, ${type === undefined ? 'no content type' : printable(type, { maxLength: 80 })}${shown === '' ? ', empty' : `: ${shown}`}`;
}

/** An answer with a status of success that holds no MCP answer. */
export function noMcpAnswer(subject: HttpSubject, method: string, came: Came): McpError {
  return new McpError(
    'mcp_no_mcp_answer',
    `${subject.name} answered ${method} with something that is no MCP message (${described(subject, came)}).`,
    {
      executed: 'unknown',
      status: came.status,
      hint: 'Is this the address of an MCP endpoint? Many end in /mcp or /sse. Correct "url" of its entry.',
    },
  );
}

/** A status that says that the request came to nothing, without an MCP error beside it. */
export function statusError(
  subject: HttpSubject,
  method: string,
  came: Came,
  authenticate: string | undefined,
): McpError {
  const { name } = subject;
  const { status } = came;
  const text = `${name} answered ${method} with ${described(subject, came)}`;
  if (status === 401) {
    const wants =
      authenticate === undefined
        ? ''
        : ` It asks for: ${printable(subject.clean(authenticate), { maxLength: SHOWN })}.`;
    return new McpError('mcp_unauthorized', `${name} wants to know who is asking (HTTP 401).${wants}`, {
      executed: 'not_executed',
      status,
      hint: subject.hasHelper
        ? 'It refuses what "headersHelper" of its entry prints: run that command yourself and look at its output.'
        : `Put what it wants into "headers" of its entry, such as ${EXAMPLE}, and set that variable.`,
    });
  }
  if (status === 403) {
    return new McpError('mcp_forbidden', `${text}: what its entry's headers say is not enough.`, {
      executed: 'not_executed',
      status,
      hint: `Use a token that may do this, in "headers" of its entry, such as ${EXAMPLE}.`,
    });
  }
  const health = status === 408 || status === 429 || status >= 500;
  const refused = status < 500 && status !== 408;
  return new McpError('mcp_http_status', `${text}.`, {
    executed: refused ? 'not_executed' : 'unknown',
    passing: health,
    status,
    hint: health
      ? 'Try again later; if it goes on, look at the server or at what stands before it.'
      : 'Check "url" of its entry: is this the address of an MCP endpoint?',
  });
}

export function sessionExpired({ name }: HttpSubject, status: number): McpError {
  return new McpError('mcp_session_expired', `${name} no longer knows the session (HTTP ${status}).`, {
    executed: 'not_executed',
    passing: true,
    status,
    hint: 'A new session was opened and refused as well: look at the server, or at a balancer before it.',
  });
}
