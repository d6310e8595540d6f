import type { JsonObject, RawJson, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, hostTool, rawFrom, sha256, wireName } from '../../tools/index.ts';

/** What the definitions of such tools are written as: nothing from outside can be one of these objects. */
const written = new WeakSet<RawJson>();

/** Whether a call of the tool starts another agent. */
export function isStartTool({ raw }: Pick<ToolDefinition, 'raw'>): boolean {
  return written.has(raw);
}

const PURPOSE =
  'It sees nothing of this conversation and gives back only its answer: put everything that it needs into the task. ' +
  'Tasks that do not depend on each other can be started in one reply; they are then worked on side by side.';

/** The tool that starts an agent. It counts as one that may change something, since the agent may. */
export function startTool(agent: { readonly name: string; readonly description: string }): ToolDefinition {
  const tool = `start_${agent.name}`;
  const inputSchema: JsonObject = {
    type: 'object',
    properties: {
      task: {
        type: 'string',
        minLength: 1,
        description: 'What the agent is to do, and all that it has to know for it.',
      },
    },
    required: ['task'],
    additionalProperties: false,
  };
  const description = `Starts the agent "${agent.name}" on a task. ${agent.description}\n\n${PURPOSE}`;
  const definition = { name: tool, description, inputSchema };
  const raw = rawFrom(definition);
  written.add(raw);
  return hostTool({
    ref: { server: null, tool, name: wireName(null, tool), fingerprint: sha256(canonicalJson(definition)) },
    title: `Start ${agent.name}`,
    description,
    inputSchema,
    raw,
    effect: 'write',
    hints: { sideBySide: true },
  });
}
