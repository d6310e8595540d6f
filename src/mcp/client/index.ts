/**
 * Rule of this folder: relay, don't re-type. Of what a server sends, the envelope is read and the rest is passed on as
 * received; request ids, progress, cancellation and limits of this hop are our own, and what a server did to a request is
 * never claimed beyond what is known.
 */

export { LOG_LEVELS, type LogLevel } from '../wire/index.ts';
export { McpError, type RpcError } from './errors.ts';
export { connectHttp, type HttpConnection, type HttpOptions } from './http-connection.ts';
export { listAll } from './list-all.ts';
export { type ContentConnection, mcpContent } from './mcp-content.ts';
export { type McpSourceOptions, mcpSource } from './mcp-source.ts';
export { installExitHooks } from './process-group.ts';
export { commandLine, shortSecrets } from './secrets.ts';
export { type HttpServer, type StdioServer, serverFingerprint } from './server.ts';
export { runShellCommand, type ShellCommandEnd, type ShellCommandOptions } from './shell-command.ts';
export { connectStdio, type StdioConnection, type StdioOptions } from './stdio-connection.ts';
export { closeAll } from './supervisor.ts';
