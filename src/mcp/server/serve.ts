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
 *   `{socket: {path}}`: a Unix socket with the lines of stdio, for nobody but the owner of its file.
 *   `{http: {port, host?, token?, identify?, …}}`: Streamable HTTP at `/mcp`, on 127.0.0.1 unless `host` says otherwise.
 *   Clients send the token as `Authorization: Bearer …`: the one that is given, else a new one that the handle tells;
 *   `token: false` lets everybody call who reaches the server. `identify` stands in place of the token: it says who sent
 *   a request from its headers (names in lower case); null answers 401.
 * @returns when clients can connect; `url` is set for HTTP, and `token` where clients need one. `close` ends every session
 *   and call.
 * @throws BridleError `serve_address` when the address can't be listened on, `serve_stdio_taken` when this process
 *   already serves its stdin and stdout
 */
export const serve: Serve = async (host, at) => {
  if ('stdio' in at) {
    const { serveOverStdio } = await import('./stdio.ts');
    return serveOverStdio(host, at.who);
  }
  if ('socket' in at) {
    const { serveOverSocket } = await import('./socket.ts');
    return serveOverSocket(host, at.socket);
  }
  const { serveOverHttp } = await import('./http.ts');
  return serveOverHttp(host, at.http);
};
