import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Json, JsonObject } from '../contracts/index.ts';
import { ownServers, parseJsonc } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { shownEntry } from './mcp-entry.ts';
import { flag, listOption, stringOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { scopeOption, scopesShown } from './scope.ts';
import { warn } from './workspace.ts';

const TRANSPORTS = ['stdio', 'http', 'sse'] as const;
/** What can be typed, stands in rules as it is, and reads as one word. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** `bridle mcp add <name> -- <command>…` and `bridle mcp add <name> <url>`. */
export async function add(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [, name = '', first = '', ...rest] = parsed.positionals;
  const transport = transportOf(parsed, first);
  if (transport === 'stdio' && stringOption(parsed, 'transport') === undefined && parsed.hasDashes !== true)
    refuseNoCommand(first, io);
  const entry = transport === 'stdio' ? stdioEntry(parsed, first, rest) : networkEntry(parsed, transport, first, rest);
  return write(name, entry, parsed, io);
}

/** `bridle mcp add-json <name> '<json>'`. */
export async function addJson(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [, name = '', json = ''] = parsed.positionals;
  let entry: Json;
  try {
    entry = parseJsonc(json);
  } catch {
    // The text may hold a secret, so it isn't repeated.
    throw new BridleError('usage', 'The entry is no JSON object.', {
      hint: `Write it in single quotes: bridle mcp add-json ${printable(name)} '{"command": "…", "args": []}'`,
    });
  }
  return write(name, entry as JsonObject, parsed, io);
}

async function write(name: string, entry: JsonObject, parsed: ParsedCommand, io: CommandIo): Promise<number> {
  if (!NAME.test(name)) {
    throw new BridleError('usage', `'${printable(name)}' is no name for a server.`, {
      hint: 'Letters, digits, dot, underscore and hyphen; at most 64.',
    });
  }
  const scope = scopeOption(parsed) ?? 'local';
  const own = await ownServers(io);
  const { file, warnings } = await own.add(name, entry, scope, { force: flag(parsed, 'force') });
  if (flag(parsed, 'json')) printJson(io, { added: name, scope, file, ...shownEntry(entry), warnings }, 2);
  else {
    const { runs, url } = shownEntry(entry);
    io.stdout.write(printable(`Added ${name} to ${file} (${scopesShown(scope)}): ${runs ?? url ?? ''}`).concat('\n'));
    if (scope === 'project') io.stdout.write('You are asked about it when it is to be started for the first time.\n');
  }
  warn(warnings, io);
  return 0;
}

function transportOf(parsed: ParsedCommand, first: string): (typeof TRANSPORTS)[number] {
  const text = stringOption(parsed, 'transport');
  const isUrl = /^https?:\/\//i.test(first);
  const transport = TRANSPORTS.find((one) => one === text);
  if (text === undefined && !isUrl && /^[a-z][a-z0-9+.-]*:\/\//i.test(first)) {
    throw new BridleError(
      'usage',
      `'${printable(first.split('://', 1)[0] ?? '')}://' is no address of an MCP server.`,
      {
        hint: 'It begins with https:// or http://; a command is no address.',
      },
    );
  }
  if (text === undefined) return isUrl ? 'http' : 'stdio';
  if (transport === 'stdio' && isUrl) {
    throw new BridleError('usage', 'A URL is no command.', {
      hint: 'Give --transport http, or sse for an old server.',
    });
  }
  if (transport !== undefined) return transport;
  throw new BridleError('usage', `There is no transport '${printable(text)}'.`, { hint: 'It is stdio, http or sse.' });
}

/** Without a word that says what it is: what is no program here was most likely meant for an address. */
function refuseNoCommand(first: string, { cwd, env }: CommandIo): void {
  const folders = /[\\/]/.test(first) ? [''] : (env.PATH ?? '').split(':');
  const isThere = folders.some((folder) => isFile(resolve(cwd, folder, first)));
  if (isThere || first.startsWith('~') || first.includes('${')) return;
  throw new BridleError('usage', `'${printable(first)}' is no program that is there, and no address.`, {
    hint: 'An address begins with https:// or http://; for a command that comes later, put -- before it.',
  });
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function stdioEntry(parsed: ParsedCommand, command: string, args: readonly string[]): JsonObject {
  if (listOption(parsed, 'header').length > 0) {
    throw new BridleError('usage', 'A server started by a command gets no headers.', {
      hint: 'Give it --env NAME=value.',
    });
  }
  const env = pairs(listOption(parsed, 'env'), /^([A-Za-z_]\w*)=(.*)$/s, '--env takes NAME=value');
  return { command, ...(args.length > 0 && { args: [...args] }), ...(env && { env }) };
}

function networkEntry(parsed: ParsedCommand, type: 'http' | 'sse', url: string, rest: readonly string[]): JsonObject {
  if (listOption(parsed, 'env').length > 0) {
    throw new BridleError('usage', 'A server over the network gets no variables.', {
      hint: "Give it --header 'Name: value'.",
    });
  }
  if (rest.length > 0) {
    throw new BridleError('usage', 'After the URL of a server nothing more is expected.', {
      hint: 'For a command leave --transport out, and put -- before it.',
    });
  }
  if (!/^https?:\/\/[^/\s]+/i.test(url) && !url.startsWith('${')) {
    throw new BridleError('usage', `'${printable(url)}' is no URL of a server.`, {
      hint: 'It begins with https:// or http://, and a host follows.',
    });
  }
  const headers = pairs(
    listOption(parsed, 'header'),
    // A control character can't be sent in a header.
    /^([\w!#$%&'*+.^`|~-]+):\s*([^\p{Cc}]*)$/u,
    "--header takes 'Name: value'",
  );
  return { type, url, ...(headers && { headers }) };
}

/** Names and values of a repeated option. The values may be secrets, so an error names only the option. */
function pairs(given: readonly string[], form: RegExp, what: string): JsonObject | undefined {
  if (given.length === 0) return undefined;
  const found = given.map((text) => {
    const [all, name = '', value = ''] = form.exec(text) ?? [];
    if (all === undefined)
      throw new BridleError('usage', `${what}; one of those given is otherwise.`, { hint: 'Quote the whole of it.' });
    return [name, value] as const;
  });
  return Object.fromEntries(found);
}
