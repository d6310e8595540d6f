import type { JsonObject } from '../../contracts/index.ts';
import { docs, type Rule, report, sdk } from './rule.ts';
import { ask, assistant, call, HI, MARK, result, saidWith, tool, user } from './samples.ts';
import { blocksIn, isObject, isString, type Placed, placed, readOnce } from './shape.ts';
import { isToolSearch, toolNames } from './tools.ts';

const SEARCH: JsonObject = { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' };
const later = tool({ defer_loading: true });

/** `tool_reference` blocks in results, of the caller's own search and of the provider's. */
function references(body: JsonObject): readonly Placed[] {
  return readOnce(body, 'references', () => [
    ...blocksIn(body, 'tool_result').flatMap(({ path, block }) =>
      placed(`${path}.content`, block.content).filter((part) => part.block.type === 'tool_reference'),
    ),
    ...blocksIn(body, 'tool_search_tool_result').flatMap(({ path, block: { content } }) =>
      isObject(content) ? placed(`${path}.content.tool_references`, content.tool_references) : [],
    ),
  ]);
}

const found = (name: string): JsonObject =>
  saidWith(
    [tool({ name: 'search' }), tool({ defer_loading: true })],
    HI,
    assistant([call('toolu_1', { name: 'search' })]),
    user([result('toolu_1', { content: [{ type: 'tool_reference', tool_name: name }] })]),
  );

export const SEARCH_RULES: readonly Rule[] = [
  {
    id: 'not-all-deferred',
    refuses: 'all of whose tools are deferred',
    source: docs('Tool search: errors'),
    check({ tools }) {
      const all = placed('tools', tools);
      return all.length > 0 && all.every(({ block }) => block.defer_loading === true)
        ? ['tools: At least one tool must have defer_loading=false. All tools cannot be deferred.']
        : [];
    },
    breach: ask({ tools: [later] }),
    keeps: ask({ tools: [SEARCH, later] }),
  },
  {
    id: 'search-not-deferred',
    refuses: 'whose tool search is itself deferred',
    source: docs('Tool search: errors'),
    check: ({ tools }) =>
      placed('tools', tools)
        .filter(({ block }) => isToolSearch(block) && block.defer_loading === true)
        .map(({ path }) => `${path}.defer_loading: the tool search tool cannot be deferred`),
    breach: ask({ tools: [{ ...SEARCH, defer_loading: true }, tool()] }),
    keeps: ask({ tools: [SEARCH, later, tool({ name: 'other' })] }),
  },
  {
    id: 'deferred-not-cached',
    refuses: 'with a deferred tool that is a cache breakpoint',
    source: report('the API words it "Tool \'x\' cannot have both defer_loading=true and cache_control set."'),
    check: ({ tools }) =>
      placed('tools', tools)
        .filter(({ block }) => block.defer_loading === true && isObject(block.cache_control))
        .map(
          ({ block }) =>
            `Tool '${String(block.name)}' cannot have both defer_loading=true and cache_control set. Tools with ` +
            'defer_loading cannot use prompt caching.',
        ),
    breach: ask({ tools: [SEARCH, { ...later, ...MARK }] }),
    keeps: ask({ tools: [{ ...SEARCH, ...MARK }, later] }),
  },
  {
    id: 'reference-found',
    refuses: 'with a tool_reference to a tool that it does not have',
    source: docs('Tool search: errors'),
    check(body) {
      const all = references(body);
      if (all.length === 0) return [];
      const names = toolNames(body);
      return all
        .filter(({ block }) => !names.has(String(block.tool_name)))
        .map(({ block }) => `Tool reference '${String(block.tool_name)}' not found in available tools`);
    },
    breach: found('constructor'),
    keeps: found('look'),
  },
  {
    id: 'reference-shape',
    refuses: 'with a tool_reference without a name',
    source: sdk('BetaToolReferenceBlockParam'),
    check: (body) =>
      references(body)
        .filter(({ block }) => !isString(block.tool_name))
        .map(({ path }) => `${path}.tool_reference.tool_name: Field required`),
    breach: saidWith(
      [tool({ name: 'search' }), later, tool({ name: 'undefined', defer_loading: true })],
      HI,
      assistant([call('toolu_1', { name: 'search' })]),
      user([result('toolu_1', { content: [{ type: 'tool_reference' }] })]),
    ),
    keeps: found('look'),
  },
];
