import type { JsonObject } from '../../contracts/index.ts';
import { modelTraits } from '../../models/index.ts';
import { docs, type Rule, sdk } from './rule.ts';
import { ASK, ask, askOpus, CODE, tool, WEB_SEARCH } from './samples.ts';
import { arrayOf, blocksIn, isObject, isString, messagesOf, type Placed, placed } from './shape.ts';
import { callersOf, dateOf, fixedName, isCustom, isKnownType, isToolset } from './tools.ts';

const BY_CODE = 20260209;
const NEW_CODE = 20260120;
const WEB = /^web_(?:search|fetch)_/;
const TOOLSET_FIELDS = ['strict', 'input_examples', 'defer_loading', 'name', 'description', 'input_schema'];
const OLD_STREAMING = 'fine-grained-tool-streaming-2025-05-14';
const DESKTOP: JsonObject = { type: 'computer_toolset_20260801' };
const SERVERS = [{ type: 'url', name: 'docs', url: 'https://example.com/mcp' }];
const MCP = { betas: ['mcp-client-2025-11-20'] };

function provided(body: JsonObject): readonly Placed[] {
  return placed('tools', body.tools).filter(({ block }) => !isCustom(block));
}

function toolsets(body: JsonObject): readonly Placed[] {
  return provided(body).filter(({ block }) => isToolset(block.type));
}

const isWeb = ({ block }: Placed): boolean => isString(block.type) && WEB.test(block.type);
const isCode = ({ block }: Placed): boolean => isString(block.type) && block.type.startsWith('code_execution_');
const byCode = (tool: JsonObject): boolean =>
  arrayOf(tool.allowed_callers).some((caller) => isString(caller) && caller.startsWith('code_execution_'));

export const PROVIDER_RULES: readonly Rule[] = [
  {
    id: 'tool-type',
    refuses: 'with a tool of an unknown type',
    source: sdk('BetaToolUnion'),
    check: (body) =>
      provided(body)
        .filter(({ block }) => !isKnownType(block.type))
        .map(
          ({ path, block }) =>
            `${path}: Input tag '${String(block.type)}' found using 'type' does not match any of the expected tags`,
        ),
    breach: ask({ tools: [{ type: 'teleport_20260101', name: 'teleport' }] }),
    keeps: ask({ tools: [WEB_SEARCH] }),
  },
  {
    id: 'tool-type-name',
    refuses: 'with a provided tool under another name than its type has',
    source: sdk('BetaToolUnion'),
    check: (body) =>
      provided(body).flatMap(({ path, block }) => {
        const name = fixedName(block.type);
        return name === undefined || block.name === name
          ? []
          : [`${path}.${String(block.type)}.name: Input should be '${name}'`];
      }),
    breach: ask({ tools: [{ type: 'text_editor_20250728', name: 'str_replace_editor' }] }),
    keeps: ask({ tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }] }),
  },
  {
    id: 'provided-schema',
    refuses: 'with a provided tool that brings a schema of its own',
    source: sdk('BetaToolUnion'),
    check: (body) =>
      provided(body)
        .filter(({ block }) => !isToolset(block.type) && block.input_schema !== undefined)
        .map(({ path, block }) => `${path}.${String(block.type)}.input_schema: Extra inputs are not permitted`),
    breach: ask({ tools: [{ type: 'bash_20250124', name: 'bash', input_schema: { type: 'object' } }] }),
    keeps: ask({ tools: [{ type: 'bash_20250124', name: 'bash' }] }),
  },
  {
    id: 'domains-one-way',
    refuses: 'with a web tool that allows domains and blocks others',
    source: docs('Web search tool: domain filtering'),
    check: (body) =>
      provided(body)
        .filter(
          (each) =>
            isWeb(each) && Array.isArray(each.block.allowed_domains) && Array.isArray(each.block.blocked_domains),
        )
        .map(
          ({ path, block }) =>
            `${path}.${String(block.type)}: only one of allowed_domains and blocked_domains can be given`,
        ),
    breach: ask({ tools: [{ ...WEB_SEARCH, allowed_domains: ['a.example'], blocked_domains: ['b.example'] }] }),
    keeps: ask({ tools: [{ ...WEB_SEARCH, allowed_domains: ['a.example'], max_uses: 3 }] }),
  },
  {
    id: 'old-code-execution',
    refuses: 'with a web tool of 20260209 or later beside an older version of code execution',
    source: docs('Tool combinations'),
    check: (body) =>
      provided(body).some((each) => isWeb(each) && dateOf(each.block.type) >= BY_CODE)
        ? provided(body)
            .filter((each) => isCode(each) && dateOf(each.block.type) < NEW_CODE)
            .map(
              ({ path, block }) =>
                `${path}: ${String(block.type)} cannot be used with this version of the web tools; use code_execution_20260120 or later`,
            )
        : [],
    breach: askOpus({
      tools: [
        { type: 'web_search_20260318', name: 'web_search' },
        { type: 'code_execution_20250825', name: 'code_execution' },
      ],
    }),
    keeps: askOpus({ tools: [{ type: 'web_search_20260318', name: 'web_search' }, CODE] }),
  },
  {
    id: 'web-callers-of-model',
    refuses: 'with a web tool that code calls, for a model without programmatic calling (Haiku 4.5)',
    source: docs('Programmatic tool calling: models'),
    check: (body) =>
      modelTraits(body.model)?.programmatic === false
        ? provided(body)
            .filter((each) => isWeb(each) && dateOf(each.block.type) >= BY_CODE)
            .filter(({ block }) => !(callersOf(block)?.every((caller) => caller === 'direct') ?? false))
            .map(
              ({ block }) =>
                `'${String(body.model)}' does not support programmatic tool calling. Set allowed_callers: ["direct"] on ${String(block.type)}.`,
            )
        : [],
    breach: ask({ tools: [{ type: 'web_search_20260318', name: 'web_search' }] }),
    keeps: ask({ tools: [{ type: 'web_search_20260318', name: 'web_search', allowed_callers: ['direct'] }] }),
  },
  {
    id: 'callers-of-model',
    refuses: 'with a tool that code may call, for a model without programmatic calling (Haiku 4.5)',
    source: docs('Programmatic tool calling: models'),
    check: (body) =>
      modelTraits(body.model)?.programmatic === false
        ? placed('tools', body.tools)
            .filter((each) => !isWeb(each) && byCode(each.block))
            .map(() => `'${String(body.model)}' does not support programmatic tool calling.`)
        : [],
    breach: ask({ tools: [CODE, tool({ allowed_callers: ['code_execution_20260120'] })] }),
    keeps: askOpus({ tools: [CODE, tool({ allowed_callers: ['code_execution_20260120'] })] }),
  },
  {
    id: 'callers-need-code',
    refuses: 'with a tool that code may call, and no code execution that could',
    source: docs('Programmatic tool calling'),
    check: (body) => {
      const runs = provided(body).some(
        (each) =>
          (isCode(each) && dateOf(each.block.type) >= 20250825) || (isWeb(each) && dateOf(each.block.type) >= BY_CODE),
      );
      return runs
        ? []
        : placed('tools', body.tools)
            .filter((each) => byCode(each.block))
            .map(({ path }) => `${path}.allowed_callers: requires the code execution tool`);
    },
    breach: askOpus({ tools: [tool({ allowed_callers: ['code_execution_20260120'] })] }),
    keeps: askOpus({ tools: [CODE, tool({ allowed_callers: ['code_execution_20260521'] })] }),
  },
  {
    id: 'toolset-fields',
    refuses: 'with a toolset that has a name, strict, input_examples or defer_loading',
    source: docs('Computer use and browser use toolsets'),
    check: (body) =>
      toolsets(body).flatMap(({ path, block }) =>
        TOOLSET_FIELDS.filter((field) => block[field] !== undefined).map(
          (field) => `${path}.${String(block.type)}.${field}: Extra inputs are not permitted`,
        ),
      ),
    breach: askOpus({ tools: [{ ...DESKTOP, strict: true }] }),
    keeps: askOpus({ tools: [{ ...DESKTOP, configs: { zoom: { enabled: false } } }] }),
  },
  {
    id: 'toolset-callers',
    refuses: 'with a toolset that code may call',
    source: docs('Computer use and browser use toolsets'),
    check: (body) =>
      toolsets(body)
        .filter(({ block }) => byCode(block))
        .map(
          ({ path, block }) =>
            `${path}.${String(block.type)}.allowed_callers: code execution callers are not supported`,
        ),
    breach: askOpus({ tools: [CODE, { ...DESKTOP, allowed_callers: ['code_execution_20260120'] }] }),
    keeps: askOpus({ tools: [CODE, DESKTOP] }),
  },
  {
    id: 'toolset-streaming',
    refuses: 'with a toolset under the old header of eager streaming',
    source: docs('Computer use and browser use toolsets'),
    check: (body) =>
      toolsets(body).length > 0 && arrayOf(body.betas).includes(OLD_STREAMING)
        ? [`anthropic-beta: ${OLD_STREAMING} is not supported with toolsets`]
        : [],
    breach: askOpus({ tools: [DESKTOP], betas: [OLD_STREAMING] }),
    keeps: askOpus({ tools: [DESKTOP] }),
  },
  {
    id: 'computer-of-model',
    refuses: 'with a computer tool older than the toolset, for a model that takes only that (Opus and Sonnet 5.5)',
    source: docs('Computer use: versions'),
    check: (body) =>
      modelTraits(body.model)?.oldComputer === false
        ? provided(body)
            .filter(({ block }) => isString(block.type) && /^computer_\d/.test(block.type))
            .map(({ block }) => `'${String(body.model)}' does not support tool types: ${String(block.type)}.`)
        : [],
    breach: { ...ASK, model: 'claude-opus-5-5', betas: ['computer-use-2025-11-24'], tools: [oldDesktop()] },
    keeps: { ...ASK, model: 'claude-opus-5-5', tools: [DESKTOP] },
  },
  {
    id: 'advisor-beta',
    refuses: 'with an advisor and without its beta',
    source: docs('Advisor tool'),
    check: (body) =>
      provided(body).some(({ block }) => block.type === 'advisor_20260301') &&
      !arrayOf(body.betas).some((beta) => isString(beta) && beta.startsWith('advisor-tool-'))
        ? ["tools: Input tag 'advisor_20260301' found using 'type' does not match any of the expected tags"]
        : [],
    breach: askOpus({ tools: [advisor()] }),
    keeps: askOpus({ tools: [advisor()], betas: ['advisor-tool-2026-03-01'] }),
  },
  {
    id: 'advisor-kept',
    refuses: 'with an advisor’s results in its messages, and no advisor',
    source: docs('Advisor tool: multi-turn conversations'),
    check: (body) =>
      provided(body).some(({ block }) => block.type === 'advisor_20260301')
        ? []
        : blocksIn(body, 'advisor_tool_result').map(
            ({ path }) => `${path}: advisor_tool_result blocks require the advisor tool`,
          ),
    breach: askOpus({ messages: advised() }),
    keeps: askOpus({ messages: advised(), tools: [advisor()], betas: ['advisor-tool-2026-03-01'] }),
  },
  {
    id: 'mcp-servers-used',
    refuses: 'with an MCP server that no mcp_toolset, or more than one, refers to',
    source: docs('MCP connector'),
    check: (body) =>
      placed('mcp_servers', body.mcp_servers)
        .filter(
          ({ block }) => mcpToolsets(body).filter((each) => each.block.mcp_server_name === block.name).length !== 1,
        )
        .map(
          ({ block }) =>
            `mcp_servers: MCP server '${String(block.name)}' must be referenced by exactly one mcp_toolset in tools`,
        ),
    breach: ask({ mcp_servers: SERVERS, ...MCP }),
    keeps: ask({ mcp_servers: SERVERS, tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }], ...MCP }),
  },
  {
    id: 'mcp-toolset-known',
    refuses: 'with an mcp_toolset of a server that is not in mcp_servers',
    source: docs('MCP connector'),
    check: (body) => {
      const names = placed('mcp_servers', body.mcp_servers).map(({ block }) => block.name);
      return mcpToolsets(body)
        .filter(({ block }) => !isString(block.mcp_server_name) || !names.includes(block.mcp_server_name))
        .map(
          ({ path, block }) =>
            `${path}.mcp_toolset.mcp_server_name: MCP server '${String(block.mcp_server_name)}' not found in mcp_servers`,
        );
    },
    breach: ask({ tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }], ...MCP }),
    keeps: ask({ mcp_servers: SERVERS, tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }], ...MCP }),
  },
  {
    id: 'mcp-beta',
    refuses: 'with mcp_servers and without the beta of the MCP connector',
    source: docs('MCP connector'),
    check: (body) =>
      arrayOf(body.mcp_servers).length > 0 &&
      !arrayOf(body.betas).some((beta) => isString(beta) && beta.startsWith('mcp-client-'))
        ? ['mcp_servers: Extra inputs are not permitted']
        : [],
    breach: ask({ mcp_servers: SERVERS, tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }] }),
    keeps: ask({ mcp_servers: SERVERS, tools: [{ type: 'mcp_toolset', mcp_server_name: 'docs' }], ...MCP }),
  },
  {
    id: 'pending-tool-kept',
    refuses: 'that goes on with a call of the provider’s that has not run, without the tool it calls',
    source: docs('Server tools: pause_turn and mixed turns'),
    check(body) {
      const last = messagesOf(body).findLast(({ role }) => role === 'assistant');
      const answered = last?.blocks.map(({ block }) => block.tool_use_id) ?? [];
      const names = placed('tools', body.tools).map(({ block }) => block.name);
      return (last?.blocks ?? [])
        .filter(({ block }) => block.type === 'server_tool_use' && isString(block.id) && !answered.includes(block.id))
        .filter(({ block }) => isString(block.name) && ['web_search', 'web_fetch', 'advisor'].includes(block.name))
        .filter(({ block }) => !names.includes(block.name ?? null))
        .map(
          ({ path, block }) => `${path}: server tool '${String(block.name)}' is pending and must be present in tools`,
        );
    },
    breach: askOpus({ messages: paused() }),
    keeps: askOpus({ messages: paused(), tools: [WEB_SEARCH] }),
  },
  {
    id: 'container-kind',
    refuses: 'with a container of the wrong kind',
    source: sdk('MessageCreateParams.container'),
    check: ({ container }) =>
      container === undefined || container === null || isString(container) || isObject(container)
        ? []
        : ['container: Input should be a string or an object'],
    breach: askOpus({ container: 1, tools: [CODE] }),
    keeps: askOpus({ container: null, tools: [CODE] }),
  },
];

function mcpToolsets(body: JsonObject): readonly Placed[] {
  return provided(body).filter(({ block }) => block.type === 'mcp_toolset');
}

function oldDesktop(): JsonObject {
  return { type: 'computer_20251124', name: 'computer', display_width_px: 1024, display_height_px: 768 };
}

function advisor(): JsonObject {
  return { type: 'advisor_20260301', name: 'advisor', model: 'claude-opus-5' };
}

function advised(): JsonObject[] {
  return [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'advisor', input: {} },
        { type: 'advisor_tool_result', tool_use_id: 'srvtoolu_1', content: { type: 'advisor_result', text: 'Wait.' } },
      ],
    },
    { role: 'user', content: 'And?' },
  ];
}

function paused(): JsonObject[] {
  return [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }],
    },
  ];
}
