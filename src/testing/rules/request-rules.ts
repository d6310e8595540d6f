import type { Json, JsonObject } from '../../contracts/index.ts';
import type { Rule } from './rule.ts';
import { arrayOf, isObject, isString, messagesOf, placed } from './shape.ts';

const FIELDS = new Set([
  'billing_policy',
  'cache_control',
  'compaction',
  'container',
  'context_management',
  'diagnostics',
  'fallback_credit_token',
  'fallbacks',
  'inference_geo',
  'max_tokens',
  'mcp_servers',
  'messages',
  'metadata',
  'model',
  'output_config',
  'output_format',
  'service_tier',
  'speed',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'thread',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
  // Sent as headers by the SDK, so part of a request here.
  'betas',
  'user_profile_id',
  'workspace_id',
]);
const MOST_CACHE_MARKS = 4;

/** Models that refuse forced tool use, by family. */
const NEVER_FORCED = /^claude-(?:opus-5-5|sonnet-5-5|fable-5-1|mythos-5-1)(?:$|[-@[])/;

const CHOICE_FIELDS: ReadonlyMap<Json, readonly string[]> = new Map<Json, readonly string[]>([
  ['auto', ['type', 'disable_parallel_tool_use']],
  ['any', ['type', 'disable_parallel_tool_use']],
  ['tool', ['type', 'name', 'disable_parallel_tool_use']],
  ['none', ['type']],
]);

export const REQUEST_RULES: readonly Rule[] = [
  {
    id: 'known-fields',
    check: (body) =>
      Object.keys(body)
        .filter((field) => !FIELDS.has(field))
        .map((field) => `${field}: Extra inputs are not permitted`),
  },
  {
    id: 'max-tokens',
    check({ max_tokens }) {
      if (max_tokens === undefined) return [];
      const fine = Number.isInteger(max_tokens) && Number(max_tokens) >= 0;
      return fine ? [] : ['max_tokens: Input should be a whole number, 0 or greater'];
    },
  },
  {
    id: 'system',
    check({ system }) {
      if (system === undefined || isString(system)) return [];
      if (!Array.isArray(system)) return ['system: Input should be a string or a list of text blocks'];
      return system.flatMap((block, index) => {
        if (!isObject(block) || block.type !== 'text' || !isString(block.text)) {
          return [`system.${index}: Input should be a text block`];
        }
        return block.text.trim() === ''
          ? [`system.${index}: text content blocks must contain non-whitespace text`]
          : [];
      });
    },
  },
  {
    id: 'stop-sequences',
    check: ({ stop_sequences }) =>
      arrayOf(stop_sequences).flatMap((sequence, index) =>
        isString(sequence) && sequence.trim() !== ''
          ? []
          : [`stop_sequences.${index}: each stop sequence must contain non-whitespace`],
      ),
  },
  {
    id: 'tool-choice-form',
    check({ tool_choice: choice }) {
      if (choice === undefined) return [];
      const allowed = isObject(choice) ? CHOICE_FIELDS.get(choice.type ?? null) : undefined;
      if (!isObject(choice) || allowed === undefined) {
        return ['tool_choice: Input should have a type of auto, any, tool or none'];
      }
      const extra = Object.keys(choice).filter((field) => !allowed.includes(field));
      return [
        ...extra.map((field) => `tool_choice.${String(choice.type)}.${field}: Extra inputs are not permitted`),
        ...(choice.type === 'tool' && !isString(choice.name) ? ['tool_choice.tool.name: Field required'] : []),
        ...(choice.disable_parallel_tool_use !== undefined && typeof choice.disable_parallel_tool_use !== 'boolean'
          ? ['tool_choice.disable_parallel_tool_use: Input should be a valid boolean']
          : []),
      ];
    },
  },
  {
    id: 'tool-choice-needs-tools',
    check({ tool_choice: choice, tools }) {
      if (!isObject(choice) || choice.type === 'none') return [];
      if (arrayOf(tools).length === 0) return ['tool_choice: tool_choice may only be specified while providing tools'];
      if (choice.type !== 'tool' || !isString(choice.name)) return [];
      const tool = placed('tools', tools).find(({ block }) => block.name === choice.name)?.block;
      if (tool === undefined) return [`tool_choice: Tool '${choice.name}' not found in provided tools`];
      const callers = tool.allowed_callers;
      return Array.isArray(callers) && !callers.includes('direct')
        ? [`tool_choice: Tool '${choice.name}' can't be forced, because direct is not among its allowed_callers`]
        : [];
    },
  },
  {
    id: 'forced-tool-use',
    check(body) {
      const choice = body.tool_choice;
      if (!isObject(choice) || (choice.type !== 'any' && choice.type !== 'tool')) return [];
      const { thinking, model } = body;
      return [
        ...(isObject(thinking) && thinking.type === 'enabled'
          ? ['tool_choice: Thinking may not be enabled when tool_choice forces tool use.']
          : []),
        ...(body.max_tokens === 0 ? ['tool_choice: tool use may not be forced with max_tokens: 0'] : []),
        ...(isObject(body.compaction) ? ['tool_choice: tool use may not be forced in a compaction'] : []),
        ...(isString(model) && NEVER_FORCED.test(model)
          ? [`tool_choice: ${model} does not support forced tool use`]
          : []),
      ];
    },
  },
  {
    id: 'cache-marks',
    check(body) {
      const marks = cacheMarks(body);
      return marks > MOST_CACHE_MARKS
        ? [`A maximum of ${MOST_CACHE_MARKS} blocks with cache_control may be provided. Found ${marks}.`]
        : [];
    },
  },
];

function cacheMarks(body: JsonObject): number {
  const blocks = [
    ...placed('tools', body.tools),
    ...placed('system', body.system),
    ...messagesOf(body).flatMap((message) => [
      ...message.blocks,
      ...message.blocks.flatMap(({ path, block }) => placed(`${path}.content`, block.content)),
    ]),
  ];
  return blocks.filter(({ block }) => isObject(block.cache_control)).length + (isObject(body.cache_control) ? 1 : 0);
}
