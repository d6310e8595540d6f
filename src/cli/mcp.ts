import { type OwnScope, type OwnServers, ownServers } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { add, addJson } from './mcp-add.ts';
import { importCommand } from './mcp-import.ts';
import { get, list } from './mcp-list.ts';
import { MCP_VERBS } from './mcp-verbs.ts';
import { nearest } from './nearest.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';
import { scopeOption, scopesShown } from './scope.ts';

type Verb = (parsed: ParsedCommand, io: CommandIo) => Promise<number>;

const RUN: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['add', add],
  ['add-json', addJson],
  ['list', list],
  ['get', get],
  ['remove', remove],
  ['enable', (parsed, io) => setDisabled(parsed, io, false)],
  ['disable', (parsed, io) => setDisabled(parsed, io, true)],
  ['import', importCommand],
  ['reset-project-choices', reset],
]);

/** `bridle mcp <verb>`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [name = ''] = parsed.positionals;
  const verb = RUN.get(name);
  if (verb) return verb(parsed, io);
  const near = nearest(name, [...RUN.keys()]);
  throw new BridleError(
    'usage',
    `There is no 'bridle mcp ${printable(name)}'.${near ? ` Did you mean '${near}'?` : ''}`,
    {
      hint: `It is one of ${Object.keys(MCP_VERBS).join(', ')}.`,
    },
  );
}

/** The scope of an existing server: the one that is named, or the only one there is. */
async function scopeOf(own: OwnServers, key: string, named: OwnScope | undefined): Promise<OwnScope> {
  const scopes = await own.scopesOf(key);
  const [first, another] = named === undefined ? scopes : scopes.filter((scope) => scope === named);
  if (first === undefined) {
    const where = named === undefined ? 'in local, project or user scope' : `in ${named} scope`;
    throw new BridleError('server_unknown', `There is no server '${printable(key)}' ${where}.`, {
      hint: "'bridle mcp list' shows what there is.",
    });
  }
  if (another === undefined) return first;
  throw new BridleError('usage', `'${printable(key)}' stands in several scopes: ${scopes.join(', ')}.`, {
    hint: `Say which one: --scope ${scopes.join(' or --scope ')}.`,
  });
}

async function remove(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const key = parsed.positionals[1] ?? '';
  const own = await ownServers(io);
  const scope = await scopeOf(own, key, scopeOption(parsed));
  const file = await own.remove(key, scope);
  if (flag(parsed, 'json')) printJson(io, { removed: key, scope, file }, 2);
  else io.stdout.write(printable(`Removed ${key} from ${file} (${scopesShown(scope)}).`).concat('\n'));
  return 0;
}

async function setDisabled(parsed: ParsedCommand, io: CommandIo, disabled: boolean): Promise<number> {
  const key = parsed.positionals[1] ?? '';
  const own = await ownServers(io);
  const scope = scopeOption(parsed);
  const files = await own.setDisabled(key, disabled, scope);
  const scopes = await own.scopesOf(key);
  if (flag(parsed, 'json')) {
    printJson(io, { server: key, disabled, files }, 2);
    return 0;
  }
  const state = disabled ? 'disabled' : 'enabled';
  const where = scope === undefined ? 'for you in this project' : `in ${scopesShown(scope)}`;
  const text =
    files.length === 0 ? `${key} was ${state} already.` : `${key} is ${state} ${where} (${files.join(', ')}).`;
  io.stdout.write(`${printable(text)}\n`);
  if (scopes.length === 0) io.stderr.write('No local, project or user scope has a server of that name.\n');
  if (!disabled && scope === undefined && scopes.includes('project')) await mentionProject(own, key, io);
  return 0;
}

/** What a project's file disables is everybody's, and so it isn't changed in passing. */
async function mentionProject(own: OwnServers, key: string, io: CommandIo): Promise<void> {
  const entry = await own.entry(key, 'project');
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return;
  const { disabled, enabled } = entry as { readonly disabled?: unknown; readonly enabled?: unknown };
  if (disabled === true || enabled === false)
    io.stderr.write(
      `Its entry in ${printable(own.places.project)} disables it for everybody: --scope project changes that.\n`,
    );
}

async function reset(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const own = await ownServers(io);
  const forgotten = await own.forgetTrust();
  if (flag(parsed, 'json')) printJson(io, { root: own.root, forgotten }, 2);
  else if (forgotten) io.stdout.write(printable(`Forgotten. You are asked again about ${own.root}.`).concat('\n'));
  else io.stdout.write(printable(`Nothing was agreed to for ${own.root}.`).concat('\n'));
  return 0;
}
