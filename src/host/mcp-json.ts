import type { Node } from 'jsonc-parser';
import type { Reason } from '../contracts/index.ts';
import { canonicalJson, sha256 } from '../tools/index.ts';
import { type ConfigFile, kindOf } from './config-file.ts';
import { jsonOf, type Member, membersOf, type TreeReader, treeReader, warnUnknownKeys } from './config-tree.ts';
import { hostReason } from './reason.ts';
import { ERAS, FOREIGN_SERVER_KEYS, FOREIGN_TOP_KEYS, SERVER_KEYS, TIME_KEYS } from './server-keys.ts';

/** A stdio server as it stands in the file, before expansion. */
export interface StdioEntry {
  readonly kind: 'stdio';
  readonly key: string;
  readonly source: NonNullable<Reason['source']>;
  /** Over the entry's canonical JSON. */
  readonly hash: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly cwd?: string;
  readonly era?: (typeof ERAS)[number];
  readonly trustAnnotations: boolean;
  readonly limits: ReadonlyMap<(typeof TIME_KEYS)[number], number>;
}

/** An entry that can't be started, and why. `url` is what a network entry would reach. */
interface RefusedEntry {
  readonly kind: 'refused';
  readonly key: string;
  readonly source: NonNullable<Reason['source']>;
  readonly hash: string;
  readonly url?: string;
  readonly reasons: readonly Reason[];
}

export type McpEntry = StdioEntry | RefusedEntry;

export interface McpFile {
  readonly entries: readonly McpEntry[];
  readonly warnings: readonly Reason[];
}

/**
 * Reads the servers of an `.mcp.json`. Never throws; a bad entry is refused alone, with the reason.
 *
 * @param ownKeys top-level keys that this kind of file has besides `mcpServers`
 */
export function readMcpFile(file: ConfigFile, ownKeys: readonly string[] = []): McpFile {
  const reader = treeReader(file);
  const top = membersOf(reader, file.root, 'this file');
  warnUnknownKeys(
    reader,
    top,
    ['mcpServers', '$schema', ...ownKeys],
    'this file',
    new Map([...entryHints(top), ...FOREIGN_TOP_KEYS]),
  );
  const servers = top.get('mcpServers');
  if (!servers) return { entries: [], warnings: reader.warnings };
  if (servers.value.type !== 'object') {
    const text = `"mcpServers" is ${kindOf(servers.value)}; an object from server name to entry is expected.`;
    reader.warn('servers_not_object', servers.value, text);
    return { entries: [], warnings: reader.warnings };
  }
  const members = membersOf(reader, servers.value, 'mcpServers');
  const entries = [...members].map(([key, member]) => readEntry(reader, key, member));
  return { entries, warnings: reader.warnings };
}

/** Entries that stand at the top of the file belong one level down. */
function entryHints(top: ReadonlyMap<string, Member>): ReadonlyMap<string, string> {
  const hints = new Map<string, string>();
  for (const [name, { value }] of top) {
    const keys = (value.type === 'object' ? (value.children ?? []) : []).map(({ children }) => children?.[0]?.value);
    if (keys.includes('command') || keys.includes('url')) hints.set(name, 'Put servers inside "mcpServers".');
  }
  return hints;
}

/** Stops reading one entry; the rest of the file goes on. */
class BadEntry extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason.text);
    this.reason = reason;
  }
}

function readEntry(reader: TreeReader, key: string, { key: keyNode, value }: Member): McpEntry {
  const base = { key, source: reader.file.at(keyNode), hash: sha256(canonicalJson([key, jsonOf(value)])) };
  const where = `the entry "${key}"`;
  const bad = (code: string, node: Node, text: string) => new BadEntry(hostReason(code, text, reader.file.at(node)));
  try {
    if (key === '') throw bad('server_key_empty', keyNode, 'A server needs a name; this one has an empty key.');
    if (value.type !== 'object') {
      throw bad('entry_not_object', value, `${where} is ${kindOf(value)}; an object with "command" is expected.`);
    }
    const members = membersOf(reader, value, where);
    warnUnknownKeys(reader, members, SERVER_KEYS, where, FOREIGN_SERVER_KEYS);
    const network = networkUrl(members);
    if (network !== undefined) {
      const what = network === '' ? 'a server reached over the network' : `the server at ${network}`;
      const text = `"${key}" is ${what}; only servers started by a command are supported yet.`;
      throw Object.assign(bad('transport_not_supported_yet', keyNode, text), { url: network });
    }
    checkEnabled(members, bad);
    return { kind: 'stdio', ...base, ...readStdio(reader, key, keyNode, members, bad) };
  } catch (error) {
    if (!(error instanceof BadEntry)) throw error;
    const url = 'url' in error && typeof error.url === 'string' ? { url: error.url } : {};
    return { kind: 'refused', ...base, ...url, reasons: [error.reason] };
  }
}

type Bad = (code: string, node: Node, text: string) => BadEntry;

/** The URL of an entry that is reached over the network (empty when it has none), undefined for one with a command. */
function networkUrl(members: ReadonlyMap<string, Member>): string | undefined {
  const type = members.get('type')?.value.value;
  const url = (members.get('url') ?? members.get('httpUrl') ?? members.get('serverUrl'))?.value.value;
  const named = typeof type === 'string' && /^(http|sse|ws|streamable-?http)$/i.test(type);
  if (named || (type === undefined && url !== undefined && !members.has('command'))) return String(url ?? '');
  return undefined;
}

function checkEnabled(members: ReadonlyMap<string, Member>, bad: Bad): void {
  const disabled = members.get('disabled');
  if (disabled && disabled.value.type !== 'boolean') {
    throw bad('disabled_not_boolean', disabled.value, `"disabled" is ${kindOf(disabled.value)}; write true or false.`);
  }
  if (disabled?.value.value === true) throw bad('disabled', disabled.key, 'Disabled in its entry.');
  const enabled = members.get('enabled');
  if (enabled?.value.value === false) throw bad('disabled', enabled.key, 'Disabled in its entry ("enabled": false).');
}

function readStdio(
  reader: TreeReader,
  key: string,
  keyNode: Node,
  members: ReadonlyMap<string, Member>,
  bad: Bad,
): Omit<StdioEntry, 'kind' | 'key' | 'source' | 'hash'> {
  const type = members.get('type');
  if (type && type.value.value !== 'stdio') {
    const text = `"type" of "${key}" is ${JSON.stringify(jsonOf(type.value))}; "stdio", "http", "sse" and "ws" are known.`;
    throw bad('type_unknown', type.value, text);
  }
  const command = members.get('command');
  if (!command) throw bad('command_missing', keyNode, `"${key}" has no "command", so there is nothing to start.`);
  if (command.value.type === 'array') {
    throw bad('command_not_string', command.value, '"command" is a list; write the program, and the rest into "args".');
  }
  const program = stringOf(command.value, `"command" of "${key}"`, 'command_not_string', bad);
  if (program.trim() === '') throw bad('command_empty', command.value, `"command" of "${key}" is empty.`);
  if (!members.has('args') && /\s/.test(program.trim()) && !program.includes('/')) {
    const text = `"command" of "${key}" has spaces but is taken as one program name; arguments go into "args".`;
    reader.warn('command_with_spaces', command.value, text);
  }
  if (members.has('url')) {
    reader.warn('url_ignored', keyNode, `"${key}" has both "command" and "url"; the command is started.`);
  }
  const cwd = members.get('cwd');
  const limits = new Map<(typeof TIME_KEYS)[number], number>();
  for (const name of TIME_KEYS) {
    const limit = members.get(name);
    if (limit) readLimit(reader, key, name, limit.value, limits);
  }
  const era = ERAS.find((one) => one === members.get('era')?.value.value);
  warnOdd(reader, members, key, 'era', era === undefined, 'write "auto", "legacy" or "modern"; "auto" is taken');
  const trust = members.get('trust')?.value;
  warnOdd(reader, members, key, 'trust', trust?.type !== 'boolean', 'write true or false; false is taken');
  return {
    command: program,
    args: readArgs(reader, key, members.get('args')?.value, bad),
    env: readEnv(reader, key, members.get('env')?.value, bad),
    ...(cwd && { cwd: stringOf(cwd.value, `"cwd" of "${key}"`, 'cwd_not_string', bad) }),
    ...(era !== undefined && { era }),
    trustAnnotations: trust?.value === true,
    limits,
  };
}

function warnOdd(
  reader: TreeReader,
  members: ReadonlyMap<string, Member>,
  key: string,
  name: string,
  odd: boolean,
  advice: string,
): void {
  const member = members.get(name);
  if (member && odd) reader.warn('odd_value', member.value, `"${name}" of "${key}" is not understood: ${advice}.`);
}

function readLimit(
  reader: TreeReader,
  key: string,
  name: (typeof TIME_KEYS)[number],
  node: Node,
  limits: Map<(typeof TIME_KEYS)[number], number>,
): void {
  const ms: unknown = node.value;
  if (typeof ms === 'number' && Number.isInteger(ms) && ms > 0 && ms < 2 ** 31) limits.set(name, ms);
  else reader.warn('odd_value', node, `"${name}" of "${key}" must be a whole number of milliseconds above 0; ignored.`);
}

function readArgs(reader: TreeReader, key: string, node: Node | undefined, bad: Bad): readonly string[] {
  if (!node) return [];
  if (node.type !== 'array') {
    throw bad('args_not_list', node, `"args" of "${key}" is ${kindOf(node)}; a list of strings is expected.`);
  }
  return (node.children ?? []).map((arg, index) =>
    scalarOf(reader, arg, `argument ${index + 1} of "${key}"`, 'arg_not_string', bad),
  );
}

function readEnv(reader: TreeReader, key: string, node: Node | undefined, bad: Bad): ReadonlyMap<string, string> {
  const env = new Map<string, string>();
  if (!node) return env;
  if (node.type !== 'object') {
    throw bad(
      'env_not_object',
      node,
      `"env" of "${key}" is ${kindOf(node)}; an object from name to value is expected.`,
    );
  }
  for (const [name, member] of membersOf(reader, node, `"env" of "${key}"`)) {
    if (name === '' || /[=\0]/.test(name)) {
      throw bad('env_name', member.key, `"env" of "${key}" has a name that no variable can have: "${name}".`);
    }
    env.set(name, scalarOf(reader, member.value, `"${name}" in "env" of "${key}"`, 'env_not_string', bad));
  }
  return env;
}

/** A string; a number or a truth value is taken as its text, with a warning. */
function scalarOf(reader: TreeReader, node: Node, what: string, code: string, bad: Bad): string {
  if (node.type !== 'number' && node.type !== 'boolean') return stringOf(node, what, code, bad);
  reader.warn('not_a_string', node, `${what} is ${kindOf(node)}; it is taken as the text "${String(node.value)}".`);
  return String(node.value);
}

function stringOf(node: Node, what: string, code: string, bad: Bad): string {
  if (node.type !== 'string') throw bad(code, node, `${what} is ${kindOf(node)}; a string is expected.`);
  const text = String(node.value);
  if (text.includes('\0'))
    throw bad('nul_character', node, `${what} holds a NUL character, which nothing can be started with.`);
  return text;
}
