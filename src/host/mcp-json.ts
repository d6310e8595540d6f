import type { Node } from 'jsonc-parser';
import type { Reason } from '../contracts/index.ts';
import { canonicalJson, sha256 } from '../tools/index.ts';
import { type ConfigFile, kindOf } from './config-file.ts';
import { jsonOf, type Member, membersOf, type TreeReader, treeReader, warnUnknownKeys } from './config-tree.ts';
import { type Bad, BadEntry, type CommonEntry, readCommon, scalarOf, stringOf } from './entry-values.ts';
import { type HttpEntry, NETWORK_TYPE, readHttp, URL_KEYS } from './http-entry.ts';
import { hostReason } from './reason.ts';
import { FOREIGN_SERVER_KEYS, FOREIGN_TOP_KEYS, SERVER_KEYS, TOP_KEYS_WITHOUT_SERVERS } from './server-keys.ts';

/** A stdio server as it stands in the file, before expansion. */
export interface StdioEntry extends CommonEntry {
  readonly kind: 'stdio';
  readonly key: string;
  readonly source: NonNullable<Reason['source']>;
  /** Over the entry's canonical JSON. */
  readonly hash: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly cwd?: string;
}

/** An entry that can't be used, and why. */
interface RefusedEntry {
  readonly kind: 'refused';
  readonly key: string;
  readonly source: NonNullable<Reason['source']>;
  readonly hash: string;
  readonly reasons: readonly Reason[];
}

export type McpEntry = StdioEntry | HttpEntry | RefusedEntry;

export interface McpFile {
  readonly entries: readonly McpEntry[];
  readonly warnings: readonly Reason[];
  /** Those of them that may hide servers, so that what isn't among the entries may be in the file all the same. */
  readonly unread: readonly Reason[];
}

/**
 * Reads the servers of an `.mcp.json`. Never throws; a bad entry is refused alone, with the reason.
 *
 * @param ownKeys top-level keys that this kind of file has besides `mcpServers`
 */
export function readMcpFile(file: ConfigFile, ownKeys: readonly string[] = []): McpFile {
  const reader = treeReader(file);
  const top = membersOf(reader, file.root, 'this file');
  const known = ['mcpServers', '$schema', ...ownKeys];
  const hints = new Map([...entryHints(top), ...FOREIGN_TOP_KEYS]);
  const holding = [...top].filter(([name, { value }]) => mayHoldServers(name, value));
  warnUnknownKeys(reader, new Map(holding), known, 'this file', hints);
  const unread = [...reader.warnings];
  const others = [...top].filter(([name, { value }]) => !mayHoldServers(name, value));
  warnUnknownKeys(reader, new Map(others), known, 'this file', hints);
  const servers = top.get('mcpServers');
  if (!servers) return { entries: [], warnings: reader.warnings, unread };
  if (servers.value.type !== 'object') {
    const text = `"mcpServers" is ${kindOf(servers.value)}; an object from server name to entry is expected.`;
    reader.warn('servers_not_object', servers.value, text);
    return { entries: [], warnings: reader.warnings, unread: [...reader.warnings] };
  }
  const before = reader.warnings.length;
  const members = membersOf(reader, servers.value, 'mcpServers');
  unread.push(...reader.warnings.slice(before));
  const entries = [...members].map(([key, member]) => readEntry(reader, key, member));
  return { entries, warnings: reader.warnings, unread };
}

/** A key that was misspelt, or one entry that stands outside of `mcpServers`. */
function mayHoldServers(name: string, { type }: Node): boolean {
  return !TOP_KEYS_WITHOUT_SERVERS.has(name) && (type === 'object' || type === 'array');
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
    checkEnabled(members, bad);
    if (isNetwork(members)) return { kind: 'http', ...base, ...readHttp(reader, key, keyNode, members, bad) };
    return { kind: 'stdio', ...base, ...readStdio(reader, key, keyNode, members, bad) };
  } catch (error) {
    if (!(error instanceof BadEntry)) throw error;
    return { kind: 'refused', ...base, reasons: [error.reason] };
  }
}

/** Whether an entry is reached over the network. One with a command is started, unless its type says otherwise. */
function isNetwork(members: ReadonlyMap<string, Member>): boolean {
  const type = members.get('type')?.value.value;
  if (typeof type === 'string' && NETWORK_TYPE.test(type)) return true;
  return type === undefined && !members.has('command') && URL_KEYS.some((name) => members.has(name));
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
  return {
    command: program,
    args: readArgs(reader, key, members.get('args')?.value, bad),
    env: readEnv(reader, key, members.get('env')?.value, bad),
    ...(cwd && { cwd: stringOf(cwd.value, `"cwd" of "${key}"`, 'cwd_not_string', bad) }),
    ...readCommon(reader, key, members),
  };
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
