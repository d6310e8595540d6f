import type { Node } from 'jsonc-parser';
import type { Reason } from '../../contracts/index.ts';
import { type ConfigFile, kindOf } from '../config-file.ts';
import { jsonOf, valueAt } from '../config-tree.ts';
import { hostReason } from '../reason.ts';
import type { OwnScope } from '../server-places.ts';
import type { ForeignEntry } from './convert-entry.ts';

/** What was found in one file of another host. */
export interface FoundEntries {
  readonly entries: readonly (ForeignEntry & { readonly scope: OwnScope })[];
  /** What isn't taken, and why. */
  readonly left: readonly Reason[];
}

/** Where hosts keep servers: Claude's files, VS Code's, Zed's, and settings of editors with a section for MCP. */
const CONTAINERS: readonly (readonly string[])[] = [
  ['mcpServers'],
  ['servers'],
  ['mcp', 'servers'],
  ['mcp', 'mcpServers'],
  ['mcp.servers'],
  ['context_servers'],
  ['mcp_servers'],
  ['mcpservers'],
  ['mcp'],
];

/**
 * Finds the servers in a file of any of the known hosts.
 *
 * @param root the project's folder; of a file that holds servers of many projects, only its own are taken
 * @param scope where the file's servers go; those that it holds for the project alone become local ones
 */
export function findEntries(file: ConfigFile, root: string, scope: OwnScope): FoundEntries {
  const left: Reason[] = [];
  const entries: FoundEntries['entries'][number][] = [];
  const take = (container: Node, to: OwnScope) => {
    const found = new Map<string, FoundEntries['entries'][number]>();
    for (const { children } of container.children ?? []) {
      const [key, value] = children ?? [];
      if (!key || !value) continue;
      const name = String(key.value);
      const before = found.get(name);
      // As everywhere, the last one counts.
      if (before) left.push(hostReason('duplicate_key', `"${name}" stands twice; the last one counts.`, before.source));
      found.set(name, { key: name, value: jsonOf(value), source: file.at(key), scope: to });
    }
    entries.push(...found.values());
  };
  const projects = valueAt(file.root, 'projects');
  const container = containerOf(file.root);
  if (container?.type === 'object') take(container, scope);
  else if (container) {
    const what = `The servers are ${kindOf(container)}; an object from server name to entry is expected.`;
    left.push(hostReason('servers_not_object', what, file.at(container)));
  }
  if (projects?.type === 'object') {
    for (const { children } of projects.children ?? []) {
      const [path, project] = children ?? [];
      const servers = project && valueAt(project, 'mcpServers');
      const count = servers?.type === 'object' ? (servers.children ?? []).length : 0;
      if (!path || !servers || count === 0) continue;
      if (String(path.value) === root) take(servers, 'local');
      else left.push(otherProject(String(path.value), count, file.at(path)));
    }
  }
  return { entries, left };
}

function containerOf(root: Node): Node | undefined {
  for (const way of CONTAINERS) {
    let node: Node | undefined = root;
    for (const name of way) node = node?.type === 'object' ? valueAt(node, name) : undefined;
    if (node && (way[0] !== 'mcp' || way.length > 1 || holdsEntries(node))) return node;
  }
  // Some write the entries themselves into the file.
  return holdsEntries(root) ? root : undefined;
}

/** Whether every member looks like a server's entry. */
function holdsEntries(node: Node): boolean {
  const members = node.type === 'object' ? (node.children ?? []) : [];
  return (
    members.length > 0 &&
    members.every(({ children }) => {
      const value = children?.[1];
      return (
        value?.type === 'object' && ['command', 'url', 'serverUrl', 'httpUrl'].some((name) => valueAt(value, name))
      );
    })
  );
}

function otherProject(path: string, count: number, source: Reason['source']): Reason {
  const what = count === 1 ? 'A server' : `${count} servers`;
  return hostReason('other_project', `${what} of the project ${path}: run the import there.`, source);
}
