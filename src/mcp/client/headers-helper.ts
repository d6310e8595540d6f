import { McpError, messageOf } from './errors.ts';
import type { HttpServer } from './server.ts';
import { runShellCommand } from './shell-command.ts';

/** As long as Claude Code gives it. Milliseconds. */
const LIMIT_MS = 10_000;
/** No server takes headers that are longer. */
const MAX_BYTES = 64 * 1024;

export interface HeadersHelperOptions {
  /** For messages: which server. */
  readonly name: string;
  /** Where it runs; absolute. */
  readonly cwd: string;
  /** Environment of this process; a small baseline of it goes on, as to servers. */
  readonly own: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Milliseconds. Default 10,000. */
  readonly limitMs?: number;
}

/**
 * Runs the command of an entry that prints headers: a JSON object from name to value, as in Claude Code. It is told by
 * `CLAUDE_CODE_MCP_SERVER_NAME` and `CLAUDE_CODE_MCP_SERVER_URL` for which server. What it prints holds secrets, so that
 * no error repeats any of it.
 *
 * @throws McpError `mcp_headers_helper`
 */
export async function helperHeaders(
  server: Pick<HttpServer, 'key' | 'url'>,
  command: string,
  options: HeadersHelperOptions,
): Promise<Readonly<Record<string, string>>> {
  const { name, cwd, own, signal, limitMs = LIMIT_MS } = options;
  const failed = (why: string) =>
    new McpError('mcp_headers_helper', `${name}: its "headersHelper" gave no headers: ${why}.`, {
      executed: 'not_executed',
      hint: 'Run that command yourself in the project folder: it has to end with 0 and print {"Name": "value"}.',
    });
  const late = AbortSignal.timeout(limitMs);
  const end = await runShellCommand(command, {
    cwd,
    own,
    env: { CLAUDE_CODE_MCP_SERVER_NAME: server.key, CLAUDE_CODE_MCP_SERVER_URL: server.url },
    maxBytes: MAX_BYTES,
    signal: AbortSignal.any([signal, late]),
  }).catch((error: unknown) => {
    if (signal.aborted) throw failed('the connection was closed');
    throw failed(late.aborted ? `it took longer than ${limitMs} ms` : `it can't be started: ${messageOf(error)}`);
  });
  if (end.code !== 0) throw failed(end.code === null ? 'a signal ended it' : `it ended with ${end.code}`);
  if (end.isCut) throw failed(`it printed more than ${MAX_BYTES} bytes`);
  const headers = headersIn(end.stdout);
  if (typeof headers === 'string') throw failed(headers);
  return headers;
}

/** The headers, or what is wrong with them. */
function headersIn(stdout: string): Readonly<Record<string, string>> | string {
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch {
    return 'what it printed is no JSON';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'what it printed is no JSON object';
  const headers: Record<string, string> = Object.create(null);
  for (const [header, text] of Object.entries(value)) {
    if (typeof text !== 'string') return 'a value in what it printed is no string';
    headers[header] = text;
  }
  return headers;
}
