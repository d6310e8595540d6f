import type { Json, JsonObject } from '../../contracts/index.ts';
import { modelTraits } from '../../models/index.ts';
import { docs, type Rule, report, sdk } from './rule.ts';
import { askOpus, assistant, HI, said, system, tool, user } from './samples.ts';
import { arrayOf, blocksIn, isObject, isString, messagesOf, type Placed, type PlacedMessage } from './shape.ts';
import { definedIn, toolNames } from './tools.ts';

const CHANGES_BETA = 'mid-conversation-tool-changes-2026-07-01';
const INLINE_BETA = 'inline-tools-2026-09-15';
const REFERENCES: readonly Json[] = ['tool_reference', 'mcp_tool_reference', 'mcp_toolset_reference'];

const opus = (...messages: JsonObject[]): JsonObject => ({ ...askOpus({}), messages });
const named = (name: string): JsonObject => ({ type: 'tool_addition', tool: { type: 'tool_reference', name } });
const changed = (content: Json, more: JsonObject = {}): JsonObject =>
  askOpus({
    tools: [tool(), tool({ name: 'later', defer_loading: true })],
    betas: [CHANGES_BETA],
    messages: [HI, system(content)],
    ...more,
  });

function systems(body: JsonObject): readonly PlacedMessage[] {
  return messagesOf(body).filter(({ role }) => role === 'system');
}

function changes(body: JsonObject): readonly Placed[] {
  return blocksIn(body, 'tool_addition', 'tool_removal');
}

function hasBeta(body: JsonObject, beta: string): boolean {
  return arrayOf(body.betas).includes(beta);
}

/** An assistant's turn that stops in a call of the provider's, so that a note may follow it. */
function endsInServerTool(message: PlacedMessage | undefined): boolean {
  const type = message?.blocks.at(-1)?.block.type;
  return isString(type) && (type === 'server_tool_use' || (type.endsWith('_tool_result') && type !== 'tool_result'));
}

export const SYSTEM_MESSAGE_RULES: readonly Rule[] = [
  {
    id: 'system-message-of-model',
    refuses: 'with a system message, for a model without them (before 4.8, and Sonnet 5)',
    source: report('the API words it "role \'system\' is not supported on this model"'),
    check: (body) =>
      systems(body).length > 0 && modelTraits(body.model)?.systemMessages === false
        ? ["role 'system' is not supported on this model"]
        : [],
    breach: said(HI, system('Be brief.')),
    keeps: opus(HI, system('Be brief.')),
  },
  {
    id: 'system-message-after-user',
    refuses: 'whose system message follows neither the user nor a call of the provider’s',
    source: docs('Mid-conversation system messages: limitations'),
    check: (body) => {
      const messages = messagesOf(body);
      return systems(body).flatMap(({ path, index }) => {
        const before = messages[index - 1];
        return index === 0 || ['user', 'system'].includes(String(before?.role)) || endsInServerTool(before)
          ? []
          : [`${path}: role 'system' must follow a user message, or an assistant message that ends in server tool use`];
      });
    },
    breach: opus(HI, assistant('Hello.'), system('Be brief.'), assistant('Well.'), user('And?')),
    keeps: opus(HI, assistant('Hello.'), user('And?'), system('Be brief.')),
  },
  {
    id: 'system-message-before-assistant',
    refuses: 'whose system message is neither the last message nor before one of the assistant',
    source: docs('Mid-conversation system messages: limitations'),
    check: (body) => {
      const messages = messagesOf(body);
      return systems(body).flatMap(({ path, index }) => {
        const next = messages[index + 1];
        return next === undefined || next.role === 'assistant' || next.role === 'system'
          ? []
          : [`${path}: role 'system' must be the last message or be followed by an assistant message`];
      });
    },
    breach: opus(HI, system('Be brief.'), user('And?')),
    keeps: opus(HI, system('Be brief.'), assistant('Hello.'), user('And?')),
  },
  {
    id: 'system-messages-apart',
    refuses: 'with two system messages in a row',
    source: docs('Mid-conversation system messages: limitations'),
    check: (body) => {
      const messages = messagesOf(body);
      return systems(body)
        .filter(({ index }) => messages[index + 1]?.role === 'system')
        .map(({ path }) => `${path}: consecutive system messages are not allowed`);
    },
    breach: opus(HI, system('Be brief.'), system('Be kind.')),
    keeps: opus(HI, system('Be brief. Be kind.')),
  },
  {
    id: 'clear-at',
    refuses: 'with clear_at on another message than a system message, or without its beta',
    source: sdk('BetaSystemMessageParam.clear_at'),
    check: (body) =>
      arrayOf(body.messages).flatMap((message, index) => {
        if (!isObject(message) || message.clear_at === undefined) return [];
        return message.role === 'system' && hasBeta(body, 'mid-conversation-system-clear-at-2026-08-21')
          ? []
          : [`messages.${index}.clear_at: Extra inputs are not permitted`];
      }),
    breach: opus(HI, { ...system('Be brief.'), clear_at: 'next_user_message' }),
    keeps: askOpus({
      betas: ['mid-conversation-system-clear-at-2026-08-21'],
      messages: [HI, { ...system('Be brief.'), clear_at: 'next_user_message' }],
    }),
  },
  {
    id: 'tool-change-beta',
    refuses: 'with a tool_addition or tool_removal and without their beta',
    source: docs('Mid-conversation tool changes'),
    check: (body) =>
      hasBeta(body, CHANGES_BETA) || hasBeta(body, INLINE_BETA)
        ? []
        : changes(body).map(
            ({ path, block }) =>
              `${path}: Input tag '${String(block.type)}' found using 'type' does not match any of the expected tags`,
          ),
    breach: changed([named('later')], { betas: [] }),
    keeps: changed([named('later')]),
  },
  {
    id: 'tool-change-known',
    refuses: 'with a tool_addition or tool_removal of a tool that is not defined there',
    source: sdk('ToolReferenceUnresolvedError'),
    errorCode: 'tool_reference_unresolved',
    check: (body) => {
      const names = toolNames(body);
      return changes(body)
        .filter(({ block }) => isObject(block.tool) && block.tool.type === 'tool_reference')
        .filter(({ block }) => !names.has(String((block.tool as JsonObject).name)))
        .map(
          ({ path, block }) =>
            `${path}.tool: Tool '${String((block.tool as JsonObject).name)}' is not defined at this position in the conversation`,
        );
    },
    breach: changed([named('constructor')]),
    keeps: changed([{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'look' } }]),
  },
  {
    id: 'tool-change-shape',
    refuses: 'with a tool_addition or tool_removal that refers to no tool',
    source: sdk('BetaRequestToolAdditionBlock'),
    check: (body) =>
      changes(body)
        .filter(({ block }) => {
          if (!isObject(block.tool)) return true;
          const inline = block.tool.type === 'tool_definition' && block.type === 'tool_addition';
          return !inline && !REFERENCES.includes(block.tool.type ?? null);
        })
        .map(({ path, block }) => `${path}.${String(block.type)}.tool: Input should be a reference to a tool`),
    breach: changed([{ type: 'tool_addition', tool: { name: 'later' } }]),
    keeps: changed([named('later')]),
  },
  {
    id: 'inline-tool-beta',
    refuses: 'with a tool defined in a tool_addition, and without the beta for that',
    source: sdk('BetaRequestToolAdditionBlock'),
    check: (body) =>
      hasBeta(body, INLINE_BETA)
        ? []
        : changes(body)
            .filter(({ block }) => definedIn(block) !== undefined)
            .map(({ path }) => `${path}.tool_addition.tool: tool_definition is not permitted`),
    breach: changed([{ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool({ name: 'new' }) } }]),
    keeps: changed([{ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool({ name: 'new' }) } }], {
      betas: [CHANGES_BETA, INLINE_BETA],
    }),
  },
  {
    id: 'inline-tool-name',
    refuses: 'that adds a tool under the name of another one that is there',
    source: sdk('ToolNameConflictError'),
    errorCode: 'tool_name_conflict',
    check: (body) => {
      const taken = new Set(arrayOf(body.tools).map((each) => (isObject(each) ? (each.name ?? null) : null)));
      return changes(body)
        .filter(({ block }) => taken.has(definedIn(block)?.name ?? ''))
        .map(({ path, block }) => `${path}.tool: the name '${String(definedIn(block)?.name)}' is held by another tool`);
    },
    breach: changed([{ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool() } }], {
      betas: [CHANGES_BETA, INLINE_BETA],
    }),
    keeps: changed([{ type: 'tool_addition', tool: { type: 'tool_definition', definition: tool({ name: 'new' }) } }], {
      betas: [CHANGES_BETA, INLINE_BETA],
    }),
  },
];
