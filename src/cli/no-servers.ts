import type { Project } from '../host/index.ts';
import { printable } from '../tools/index.ts';

/** What to do where no server is configured at all, or undefined: one that isn't started has a reason of its own. */
export function noServers({ root, servers, notStarted }: Project): string | undefined {
  if (servers.length > 0 || notStarted.length > 0) return undefined;
  return `No server is configured in ${printable(root)}: put one into a .mcp.json there, or give --mcp-config FILE.`;
}
