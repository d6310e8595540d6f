import { canonicalJson } from '../../tools/index.ts';
import { helperHeaders } from './headers-helper.ts';
import { type HttpTarget, headerSecrets, httpTarget } from './http-target.ts';
import type { HttpServer } from './server.ts';

/** How many results of a helper are taken out of messages: a server may repeat one that was renewed meanwhile. */
const REMEMBERED = 4;

/** The headers that go with each request of a connection, which a helper may make anew. */
export interface HttpCredentials {
  /** What is sent now. */
  readonly headers: Readonly<Record<string, string>>;
  /** Takes them, and those before, out of a text. */
  clean(text: string): string;
  /**
   * Reads the entry and runs its helper, for a new link.
   *
   * @throws McpError `mcp_bad_url`, `mcp_bad_header`, `mcp_headers_helper`
   */
  target(): Promise<HttpTarget>;
  /** Ends a helper that runs; no other is started. */
  close(): void;
}

export interface HttpCredentialsOptions {
  /** For messages: which server. */
  readonly name: string;
  /** Where a helper runs; absolute. */
  readonly cwd: string;
  /** Told when others are sent from now on. */
  changed(): void;
}

export function httpCredentials(server: HttpServer, options: HttpCredentialsOptions): HttpCredentials {
  const { name, cwd } = options;
  const cleaners = [headerSecrets(server)];
  const closing = new AbortController();
  let made: Readonly<Record<string, string>> = {};
  let current: HttpTarget | undefined;
  let running: Promise<boolean> | null = null;

  const make = async (command: string): Promise<boolean> => {
    const headers = await helperHeaders(server, command, { name, cwd, own: process.env, signal: closing.signal });
    if (current && canonicalJson(headers) === canonicalJson(made)) return false;
    cleaners.push(headerSecrets({ url: '', headers }));
    if (cleaners.length > REMEMBERED + 1) cleaners.splice(1, 1);
    current = httpTarget(server, name, headers);
    made = headers;
    options.changed();
    return true;
  };
  /** One at a time: calls that are refused together want the same. */
  const run = (command: string) => {
    running ??= make(command).finally(() => {
      running = null;
    });
    return running;
  };
  const { headersHelper } = server;

  return {
    get headers() {
      return current?.headers ?? {};
    },
    clean: (text) => cleaners.reduceRight((cleaned, clean) => clean(cleaned), text),
    async target() {
      const plain = httpTarget(server, name);
      if (headersHelper === undefined) {
        current = plain;
        return plain;
      }
      await run(headersHelper);
      return {
        url: plain.url,
        get headers() {
          return (current ?? plain).headers;
        },
        async renew(used) {
          if (closing.signal.aborted) return false;
          return current?.headers !== used || run(headersHelper);
        },
      };
    },
    close: () => closing.abort(),
  };
}
