import type { Serve } from '../../contracts/index.ts';

/**
 * Serves the tools of a host over the Model Context Protocol, to clients of either era: those that open with
 * `initialize` (2025-11-25 and older) and those of revision 2026-07-28.
 *
 * Calls go through `host.call` with the `relay` profile: results are passed on as they are, and what goes wrong inside
 * a tool is a result with `isError` whose text is the failure as JSON. A tool that the caller may not see is answered
 * word for word like one that doesn't exist (-32602).
 *
 * @param host what is served, see `toolHost`
 * @param at `{stdio: true}`: over this process's stdin and stdout. Everything else that the process prints on stdout
 *   goes to stderr from then on, and the process ends with stdin: calls in flight are cancelled, and whatever still
 *   holds the process after two seconds is ended with it.
 *   `{http: {port, host?, identify?}}`: Streamable HTTP at `/mcp`; `port` 0 takes a free one, `host` is 127.0.0.1
 *   unless given. `identify` says who sent a request from its headers (names in lower case); null answers 401. Without
 *   it, web pages can call off loopback only by an address, not by a name that somebody may have made to mean it.
 * @returns when clients can connect; `url` is set for HTTP. `close` ends every session and call.
 * @throws BridleError `serve_address` when the address can't be listened on, `serve_stdio_taken` when this process
 *   already serves its stdin and stdout
 */
export const serve: Serve = async (host, at) => {
  if ('stdio' in at) {
    const { serveOverStdio } = await import('./stdio.ts');
    return serveOverStdio(host);
  }
  const { serveOverHttp } = await import('./http.ts');
  return serveOverHttp(host, at.http);
};
