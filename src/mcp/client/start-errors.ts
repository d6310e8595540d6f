import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Executed } from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';
import { McpError } from './errors.ts';
import type { Launch, ProcessEnd } from './stdio-process.ts';

/** What was seen of a server that failed. */
export interface Evidence {
  /** Which server, by key and command line. */
  readonly name: string;
  readonly launch: Launch;
  readonly phase: 'starting' | 'running';
  readonly stderr: readonly string[];
  /** How many lines of stdout were no MCP messages, and the first of them. */
  readonly noise: number;
  readonly noiseLines: readonly string[];
}

/** The server's last words, for the end of a message; empty when it said nothing. */
function lastWords({ stderr, noise, noiseLines }: Evidence): string {
  const parts: string[] = [];
  if (noise > 0) {
    parts.push(`It wrote ${noise} line(s) to stdout that are no MCP messages, the first: ${noiseLines[0] ?? ''}`);
  }
  if (stderr.length > 0) parts.push(`Its last lines on stderr:\n  ${stderr.join('\n  ')}`);
  return parts.length === 0 ? '' : `\n${parts.join('\n')}`;
}

function exitText(end: Extract<ProcessEnd, { how: 'exited' }>): string {
  return end.signal ? `was ended by ${end.signal}` : `exited with code ${end.code}`;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether the command is a path, and something is there. */
function isFile({ command, cwd }: Launch): boolean {
  return command.includes('/') && existsSync(resolve(cwd, command));
}

function notStarted(evidence: Evidence, error: NodeJS.ErrnoException): McpError {
  const { name } = evidence;
  const command = printable(evidence.launch.command, { maxLength: 300 });
  const cwd = printable(evidence.launch.cwd, { maxLength: 300 });
  const options = { executed: 'not_executed' as const, cause: error };
  if (!isDirectory(evidence.launch.cwd)) {
    const why = existsSync(evidence.launch.cwd) ? 'is no directory' : "doesn't exist";
    return new McpError('mcp_cwd_missing', `${name} can't start: its working directory ${cwd} ${why}.`, {
      ...options,
      hint: 'Correct "cwd" of its entry, or create the directory.',
    });
  }
  if (error.code === 'ENOENT' && isFile(evidence.launch)) {
    return new McpError('mcp_command_not_found', `${name} can't start: the interpreter of ${command} isn't there.`, {
      ...options,
      hint: 'Install the program that the first line of the file names, or correct that line.',
    });
  }
  if (error.code === 'ENOENT') {
    return new McpError('mcp_command_not_found', `${name} can't start: there is no command ${command}.`, {
      ...options,
      hint: 'Install it, or correct "command" of its entry; commands are looked up in PATH.',
    });
  }
  if (error.code === 'EACCES' || error.code === 'ENOEXEC') {
    return new McpError('mcp_not_executable', `${name} can't start: ${command} is not executable.`, {
      ...options,
      hint: 'Make it executable, or name the interpreter as "command" and the file as its first argument.',
    });
  }
  return new McpError('mcp_start_failed', `${name} can't start: ${error.message}.`, {
    ...options,
    hint: 'Check "command", "args" and "env" of its entry.',
  });
}

/** Why a child can't answer any more, with its last words. */
export function endError(end: ProcessEnd, evidence: Evidence): McpError {
  const { name, phase } = evidence;
  const words = lastWords(evidence);
  const executed: Executed = phase === 'starting' ? 'not_executed' : 'unknown';
  switch (end.how) {
    case 'not_started':
      return notStarted(evidence, end.error);
    case 'exited':
      return phase === 'starting'
        ? new McpError('mcp_exited_at_start', `${name} ${exitText(end)} before it was ready.${words}`, {
            executed,
            hint: 'Run its command by hand to see why.',
          })
        : new McpError('mcp_server_exited', `${name} ${exitText(end)}.${words}`, {
            executed,
            passing: true,
            hint: 'It is started again on the next use.',
          });
    case 'frame_too_large':
      return new McpError(
        'mcp_frame_too_large',
        `${name} sent a message over the size limit and was stopped.${words}`,
        {
          executed,
          hint: 'Ask the server for less at once, or raise the limit for messages of its entry.',
        },
      );
    case 'stream_closed':
      return new McpError('mcp_stream_closed', `${name} closed its input or output but kept running.${words}`, {
        executed,
        passing: true,
        hint: 'It is started again on the next use.',
      });
    case 'stopped':
      return new McpError('mcp_closed', `${name} was closed.`, { executed });
  }
}

/** Nothing usable was heard within the start deadline. */
export function startTimeout(evidence: Evidence, ms: number): McpError {
  const words = lastWords(evidence);
  return evidence.noise > 0
    ? new McpError('mcp_no_protocol', `${evidence.name} wrote to stdout for ${ms} ms, but no MCP message.${words}`, {
        executed: 'not_executed',
        hint: 'Is this command an MCP server over stdio? Its logs belong on stderr.',
      })
    : new McpError('mcp_start_timeout', `${evidence.name} gave no answer within ${ms} ms of its start.${words}`, {
        executed: 'not_executed',
        hint: 'Run its command by hand to see what it waits for; a slow start needs a longer startMs.',
      });
}
