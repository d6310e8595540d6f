import type { Node } from 'jsonc-parser';
import type { Json, Reason } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import { type ConfigFile, parseConfig, readConfigFile } from './config-file.ts';
import { nearestKey } from './nearest-key.ts';
import { hostReason } from './reason.ts';

export interface Member {
  readonly key: Node;
  readonly value: Node;
}

/** Reads the tree of one file and collects what is odd about it. */
export interface TreeReader {
  readonly file: ConfigFile;
  readonly warnings: Reason[];
  warn(code: string, node: Node, text: string): void;
}

export function treeReader(file: ConfigFile): TreeReader {
  const warnings: Reason[] = [];
  return {
    file,
    warnings,
    warn: (code, node, text) => void warnings.push(hostReason(code, text, file.at(node))),
  };
}

/**
 * The members of an object by key. Where a key stands twice, the last one counts, as in every JSON parser, and a
 * warning says so.
 */
export function membersOf(reader: TreeReader, node: Node, where: string): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (!key || !value) continue;
    const name = String(key.value);
    if (members.has(name)) {
      reader.warn('duplicate_key', key, `"${name}" stands twice in ${where}; the last one counts.`);
      members.delete(name);
    }
    members.set(name, { key, value });
  }
  return members;
}

/**
 * Warns for each key that isn't known.
 *
 * @param hints what to say about keys that other programs know
 */
export function warnUnknownKeys(
  reader: TreeReader,
  members: ReadonlyMap<string, Member>,
  known: readonly string[],
  where: string,
  hints: ReadonlyMap<string, string> = new Map(),
): void {
  for (const [name, { key }] of members) {
    if (known.includes(name)) continue;
    const near = nearestKey(name, known);
    const advice = hints.get(name) ?? (near ? `Did you mean "${near}"?` : `Known keys: ${known.join(', ')}.`);
    reader.warn('unknown_key', key, `"${name}" in ${where} is not known and has no effect. ${advice}`);
  }
}

/** The value of a node. Objects have no prototype, so that `__proto__` is a key like any other. */
export function jsonOf(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(jsonOf);
  if (node.type !== 'object') return node.value as Json;
  const object: { [key: string]: Json } = Object.create(null);
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (key && value) object[String(key.value)] = jsonOf(value);
  }
  return object;
}

/** The values of a key of an object, each time that it stands there. */
export function valuesNamed(object: Node, name: string): readonly Node[] {
  return (object.children ?? []).flatMap(({ children }) => {
    const [key, value] = children ?? [];
    return value && key?.value === name ? [value] : [];
  });
}

/** The value of a key of an object; where it stands twice, the last one. */
export function valueAt(object: Node, name: string): Node | undefined {
  return (object.children ?? []).findLast(({ children }) => children?.[0]?.value === name)?.children?.[1];
}

/** The entries of an object of the file as they stand there, e.g. the servers under `mcpServers`. */
export function rawEntries(file: ConfigFile, name: string): ReadonlyMap<string, Json> {
  const node = valueAt(file.root, name);
  const entries = new Map<string, Json>();
  for (const { children } of node?.type === 'object' ? (node.children ?? []) : []) {
    const [key, value] = children ?? [];
    if (key && value) entries.set(String(key.value), jsonOf(value));
  }
  return entries;
}

/**
 * Reads a file in which every word counts: where a key stands twice, it can't be told which one is meant.
 *
 * @returns undefined when there is no such file
 * @throws BridleError as `readConfigFile`, and `config_key_twice`
 */
export async function readJsonFile(path: string): Promise<Json | undefined> {
  const file = await readConfigFile(path);
  if (!file) return undefined;
  const twice = keyTwice(file.root);
  if (twice) {
    const { line } = file.at(twice);
    throw new BridleError('config_key_twice', `${path}:${line}: "${String(twice.value)}" stands twice in one object.`, {
      hint: 'Keep one of them: no rule of either may be lost unseen.',
    });
  }
  return jsonOf(file.root);
}

function keyTwice(node: Node): Node | undefined {
  const keys = new Set<unknown>();
  for (const child of node.children ?? []) {
    const [key] = child.type === 'property' ? (child.children ?? []) : [];
    if (key && keys.has(key.value)) return key;
    if (key) keys.add(key.value);
    const below = keyTwice(child);
    if (below) return below;
  }
  return undefined;
}

/**
 * An object written as JSON, as in a configuration file.
 *
 * @param where what an error names, such as the file that it was read from
 * @throws BridleError as `parseConfig`
 */
export function parseJsonc(text: string, where = 'the text'): Json {
  return jsonOf(parseConfig(where, text).root);
}
