import type { Json, JsonObject } from '../../contracts/index.ts';
import { modelTraits } from '../../models/index.ts';
import { docs, type Rule, report, sdk } from './rule.ts';
import { ASK, ask, askOpus, CODE, HI, tool } from './samples.ts';
import { arrayOf, isObject, isString, placed } from './shape.ts';
import { isToolset, membersOf } from './tools.ts';

const FIELDS: ReadonlyMap<Json, readonly string[]> = new Map<Json, readonly string[]>([
  ['auto', ['type', 'disable_parallel_tool_use']],
  ['any', ['type', 'disable_parallel_tool_use']],
  ['tool', ['type', 'name', 'disable_parallel_tool_use']],
  ['none', ['type']],
]);

function choiceOf({ tool_choice }: JsonObject): JsonObject | undefined {
  return isObject(tool_choice) ? tool_choice : undefined;
}

/** The choice, where it forces a call. */
function forced(body: JsonObject): JsonObject | undefined {
  const choice = choiceOf(body);
  return choice?.type === 'any' || choice?.type === 'tool' ? choice : undefined;
}

/** The tool that is forced by name. */
function named(body: JsonObject): JsonObject | undefined {
  const choice = choiceOf(body);
  if (choice?.type !== 'tool') return undefined;
  return placed('tools', body.tools).find(({ block }) => block.name === choice.name)?.block;
}

const one = { tools: [tool()] };
const any = { tool_choice: { type: 'any' } };
const look = { tool_choice: { type: 'tool', name: 'look' } };

export const CHOICE_RULES: readonly Rule[] = [
  {
    id: 'tool-choice-form',
    refuses: 'whose tool_choice has an unknown type or field, or lacks its name',
    source: sdk('BetaToolChoice'),
    check(body) {
      const { tool_choice } = body;
      if (tool_choice === undefined || tool_choice === null) return [];
      const choice = choiceOf(body);
      const allowed = choice && FIELDS.get(choice.type ?? null);
      if (choice === undefined || allowed === undefined) {
        return ['tool_choice: Input should have a type of auto, any, tool or none'];
      }
      const extra = Object.keys(choice).filter((field) => !allowed.includes(field));
      return [
        ...extra.map((field) => `tool_choice.${String(choice.type)}.${field}: Extra inputs are not permitted`),
        ...(choice.type === 'tool' && !isString(choice.name) ? ['tool_choice.tool.name: Field required'] : []),
        ...(choice.disable_parallel_tool_use !== undefined && typeof choice.disable_parallel_tool_use !== 'boolean'
          ? [`tool_choice.${String(choice.type)}.disable_parallel_tool_use: Input should be a valid boolean`]
          : []),
      ];
    },
    breach: ask({ ...one, tool_choice: { type: 'some' } }),
    keeps: ask({ ...one, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }),
  },
  {
    id: 'tool-choice-needs-tools',
    refuses: 'with a tool_choice and without tools',
    source: report('the API words it "tool_choice may only be specified while providing tools"'),
    check(body) {
      const choice = choiceOf(body);
      return choice === undefined || choice.type === 'none' || arrayOf(body.tools).length > 0
        ? []
        : ['tool_choice: tool_choice may only be specified while providing tools'];
    },
    breach: ask(any),
    keeps: ask({ ...one, ...any }),
  },
  {
    id: 'tool-choice-names-a-tool',
    refuses: 'that forces a tool that it does not have',
    source: report('the API words it "Tool \'x\' not found in provided tools"'),
    check(body) {
      const choice = choiceOf(body);
      if (choice?.type !== 'tool' || !isString(choice.name) || arrayOf(body.tools).length === 0) return [];
      if (named(body) !== undefined || toolsetWith(body, choice.name) !== undefined) return [];
      return [`tool_choice: Tool '${choice.name}' not found in provided tools`];
    },
    breach: ask({ ...one, tool_choice: { type: 'tool', name: 'constructor' } }),
    keeps: ask({ ...one, ...look }),
  },
  {
    id: 'tool-choice-direct',
    refuses: 'that forces a tool which only code may call',
    source: docs('Programmatic tool calling'),
    check(body) {
      const callers = named(body)?.allowed_callers;
      return Array.isArray(callers) && !callers.includes('direct')
        ? [
            `tool_choice: Tool '${String(choiceOf(body)?.name)}' cannot be forced because its allowed_callers do not include 'direct'`,
          ]
        : [];
    },
    breach: askSonnet({ tools: [CODE, tool({ allowed_callers: ['code_execution_20260120'] })], ...look }),
    keeps: askSonnet({ tools: [CODE, tool({ allowed_callers: ['code_execution_20260120'] })], ...any }),
  },
  {
    id: 'tool-choice-no-toolset',
    refuses: 'that forces a toolset or one of its members by name',
    source: docs('Computer use and browser use toolsets'),
    check(body) {
      const choice = choiceOf(body);
      const name = choice?.type === 'tool' && isString(choice.name) ? choice.name : undefined;
      const toolset = name === undefined || named(body) !== undefined ? undefined : toolsetWith(body, name);
      return toolset === undefined
        ? []
        : [`tool_choice: '${name}' belongs to the toolset ${toolset}, which cannot be named in tool_choice`];
    },
    breach: askOpus({
      tools: [{ type: 'computer_toolset_20260801' }],
      tool_choice: { type: 'tool', name: 'screenshot' },
    }),
    keeps: askOpus({ tools: [{ type: 'computer_toolset_20260801' }], ...any }),
  },
  {
    id: 'forced-model',
    refuses: 'that forces a call of a model which refuses that (Opus 5.5, Sonnet 5.5, Fable and Mythos 5 on)',
    source: docs('Migration guides: tool_choice of any and tool'),
    check: (body) =>
      forced(body) && modelTraits(body.model)?.forcing === false
        ? ['tool_choice: type "tool" and "any" are not supported for this model.']
        : [],
    breach: { model: 'claude-opus-5-5', max_tokens: 64, messages: [HI], ...one, ...any },
    keeps: { model: 'claude-opus-5-5', max_tokens: 64, messages: [HI], ...one, tool_choice: { type: 'auto' } },
  },
  {
    id: 'forced-thinking',
    refuses: 'that forces a call with manual thinking',
    source: docs('Extended thinking with tool use'),
    check: (body) =>
      forced(body) && isObject(body.thinking) && body.thinking.type === 'enabled'
        ? ['Thinking may not be enabled when tool_choice forces tool use.']
        : [],
    breach: ask({ ...one, ...any, max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 1024 } }),
    keeps: ask({ ...one, max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 1024 } }),
  },
  {
    id: 'forced-empty',
    refuses: 'that forces a call with max_tokens: 0',
    source: docs('Prompt caching: pre-warming the cache'),
    check: (body) =>
      forced(body) && body.max_tokens === 0
        ? ['tool_choice: type "tool" and "any" are not supported with max_tokens: 0']
        : [],
    breach: ask({ ...one, ...any, max_tokens: 0 }),
    keeps: ask({ ...one, max_tokens: 0 }),
  },
  {
    id: 'forced-compaction',
    refuses: 'that forces a call in a compaction',
    source: docs('Compaction'),
    check: (body) =>
      forced(body) && isObject(body.compaction)
        ? ['tool_choice: type "tool" and "any" are not supported with compaction']
        : [],
    breach: askOpus({ ...one, ...any, ...compacting() }),
    keeps: askOpus({ ...one, ...compacting() }),
  },
  {
    id: 'parallel-programmatic',
    refuses: 'with disable_parallel_tool_use beside tools that code may call',
    source: docs('Programmatic tool calling: constraints'),
    check: (body) =>
      choiceOf(body)?.disable_parallel_tool_use === true &&
      placed('tools', body.tools).some(({ block }) => arrayOf(block.allowed_callers).some((who) => who !== 'direct'))
        ? ['tool_choice: disable_parallel_tool_use is not supported with programmatic tool calling']
        : [],
    breach: askSonnet({
      tools: [CODE, tool({ allowed_callers: ['code_execution_20260120'] })],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    }),
    keeps: askSonnet({
      tools: [CODE, tool({ allowed_callers: ['code_execution_20260120'] })],
      tool_choice: { type: 'auto' },
    }),
  },
];

function askSonnet(more: JsonObject): JsonObject {
  return { ...ASK, model: 'claude-sonnet-4-6', ...more };
}

function compacting(): JsonObject {
  return { compaction: { type: 'summarize' }, betas: ['compact-2026-09-04'] };
}

/** The toolset that this names, or that has a member of this name. */
function toolsetWith(body: JsonObject, name: string): string | undefined {
  return placed('tools', body.tools)
    .map(({ block }) => block.type)
    .filter(isString)
    .find((type) => isToolset(type) && (membersOf(type).includes(name) || type.startsWith(`${name}_toolset`)));
}
