import type { ServerRef } from '../../contracts/index.ts';
import { sha256 } from '../../tools/index.ts';

/** A server reached over stdio, as configured. */
export interface StdioServer {
  /** The name under which it is configured. */
  readonly key: string;
  readonly scope: ServerRef['scope'];
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the baseline environment; see `childEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Relative to the project root; the project root itself when left out. */
  readonly cwd?: string;
  /** `auto` (default) finds out; the others are for servers that are known to need it. */
  readonly era?: 'auto' | 'legacy' | 'modern';
  /** Whether `readOnlyHint` and `idempotentHint` of this server count. Default false. */
  readonly trustAnnotations?: boolean;
  /** Longest wait for the server to start and answer, in milliseconds. Default 30,000. */
  readonly startMs?: number;
  /** Longest silence of a request without limits of its own, in milliseconds. Default 60,000. */
  readonly idleMs?: number;
  /** Longest request without limits of its own, in milliseconds. Default 600,000. */
  readonly hardMs?: number;
  /** Most characters of a result that a model is shown; stands in for the caller's. */
  readonly maxResultChars?: number;
  /** Longest line the server may send, in bytes. Default 64 MiB. */
  readonly maxFrameBytes?: number;
}

/** A server reached over HTTP, as configured. */
export interface HttpServer {
  /** The name under which it is configured. */
  readonly key: string;
  readonly scope: ServerRef['scope'];
  /** The MCP endpoint, `http:` or `https:`. */
  readonly url: string;
  /** Sent with each request to the origin of `url`, and to no other. Never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A command line for `/bin/sh` that prints more headers, as a JSON object from name to value; they go before `headers`.
   * It is run for each new link to the server, and again when the server answers 401.
   */
  readonly headersHelper?: string;
  /** `sse`: tries the old HTTP+SSE transport of 2024-11-05 first. Found out when left out. */
  readonly transport?: 'sse';
  /** `auto` (default) finds out; the others are for servers that are known to need it. */
  readonly era?: 'auto' | 'legacy' | 'modern';
  /** Whether `readOnlyHint` and `idempotentHint` of this server count. Default false. */
  readonly trustAnnotations?: boolean;
  /** Longest wait for the server to answer the first time, in milliseconds. Default 30,000. */
  readonly startMs?: number;
  /** Longest silence of a request, in milliseconds; stands in for the caller's. */
  readonly idleMs?: number;
  /** Longest request, in milliseconds; stands in for the caller's. */
  readonly hardMs?: number;
  /** Most characters of a result that a model is shown; stands in for the caller's. */
  readonly maxResultChars?: number;
  /** Longest answer or event that the server may send, in bytes. Default 64 MiB. */
  readonly maxFrameBytes?: number;
}

/** The limits of a server's entry for its calls, where it has some. */
export type CallLimits = Pick<HttpServer, 'startMs' | 'idleMs' | 'hardMs' | 'maxResultChars'>;

export function limitsOf(server: CallLimits): CallLimits {
  return {
    ...(server.startMs !== undefined && { startMs: server.startMs }),
    ...(server.idleMs !== undefined && { idleMs: server.idleMs }),
    ...(server.hardMs !== undefined && { hardMs: server.hardMs }),
    ...(server.maxResultChars !== undefined && { maxResultChars: server.maxResultChars }),
  };
}

/**
 * Who a server is: SHA-256 (hex) of command and arguments, or of a URL's origin and path. Environment, query and
 * fragment are left out: they carry secrets, and a changed secret doesn't make another server.
 */
export function serverFingerprint(command: string, args: readonly string[]): string;
export function serverFingerprint(url: URL): string;
export function serverFingerprint(where: string | URL, args: readonly string[] = []): string {
  return sha256(JSON.stringify(typeof where === 'string' ? [where, ...args] : { url: where.origin + where.pathname }));
}
