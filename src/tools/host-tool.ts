import type { RawJson, ToolDefinition } from '../contracts/index.ts';

/** What the definitions of such tools are written as: nothing that a server sends can be one of these objects. */
const written = new WeakSet<RawJson>();

/**
 * Marks a definition that this program wrote itself, although rules know it by a server's name: a tool that reads the
 * server's resources, or the right to ask for the model. It changes with this program, not with the server.
 *
 * @returns the same definition
 */
export function hostTool(definition: ToolDefinition): ToolDefinition {
  written.add(definition.raw);
  return definition;
}

/** Whether the definition was marked by `hostTool`. */
export function isHostTool({ raw }: Pick<ToolDefinition, 'raw'>): boolean {
  return written.has(raw);
}
