/**
 * Rule of this file: it decides which tools a model is shown only once they were found, and finds them. What an identity
 * may not see is found by no search, in the words of one that finds nothing.
 */
import type { CallContext, Json, Source, SourceResult, ToolDefinition } from '../contracts/index.ts';
import { modelFacts } from '../models/index.ts';
import { createIndex, type SearchIndex } from '../search/index.ts';
import { BridleError, isJsonObject, rawFrom } from '../tools/index.ts';
import { isObject } from './blocks.ts';
import { deferredEntry, undeferred } from './deferred-entry.ts';
import type { LoopSearch } from './found-tools.ts';
import type { LoopTool } from './state.ts';
import { isStartTool } from './subagents/start-tool.ts';

/**
 * Who searches for tools that are deferred, so that their definitions aren't in every request.
 *
 * - `client`: the agent offers a tool that searches, as soon as one of its tools is marked `deferLoading`.
 * - `auto`: the same, and where the definitions are many, all but the first few tools are deferred unasked.
 * - `off`: nobody here. Marks go to the model as they are, for the provider's own search or one of yours.
 *
 * Figures mean `auto`. A search tool of the provider's among `providerTools` takes the place of the agent's own.
 */
export type ToolSearch = 'client' | 'auto' | 'off' | ToolSearchOptions;

export interface ToolSearchOptions {
  /** Tools are deferred unasked once all definitions have about so many tokens. Default 10,000. */
  readonly above?: number;
  /** So many tools, from the first on, are never deferred unasked. Default 5. */
  readonly keep?: number;
  /** Most tools that one search finds. Default 5. */
  readonly results?: number;
  /**
   * Whether the model takes deferred tools and `tool_reference` blocks. Default: what is known of its name. Without, what
   * was found is appended to the tools of the next request. For a Claude model behind a proxy that refuses them: false.
   */
  readonly references?: boolean;
}

const DEFAULTS = { above: 10_000, keep: 5, results: 5 };
/** About so many characters of JSON are a token. */
const CHARS_PER_TOKEN = 3.6;
/** A query says what a tool does; what is longer is no query. */
const LONGEST_QUERY = 1_000;

/** What is fixed of an agent's search, defaults filled in. */
export interface SearchSettings extends Required<ToolSearchOptions> {
  readonly mode: 'client' | 'auto' | 'off';
}

/**
 * @param modelId as in `Model.id`
 * @throws BridleError `tool_search_invalid`
 */
export function searchSettings(search: ToolSearch = 'client', modelId: string): SearchSettings {
  const given = isJsonObject(search) ? (search as ToolSearchOptions) : {};
  const mode = typeof search === 'string' ? search : 'auto';
  const { above, keep, results, references } = given;
  const figures = { above, keep, results };
  const wrong = Object.entries(figures).find(
    ([name, value]) => value !== undefined && !(Number.isSafeInteger(value) && value >= (name === 'results' ? 1 : 0)),
  );
  if (wrong !== undefined || !['client', 'auto', 'off'].includes(mode)) {
    const what = wrong === undefined ? `is ${JSON.stringify(search)}` : `has a wrong ${wrong[0]}`;
    throw new BridleError('tool_search_invalid', `toolSearch ${what}.`, {
      hint: "Give 'client', 'auto' or 'off', or whole numbers: { above, keep, results }.",
    });
  }
  const facts = modelFacts(modelId);
  return {
    mode,
    above: above ?? DEFAULTS.above,
    keep: keep ?? DEFAULTS.keep,
    results: results ?? DEFAULTS.results,
    references: references ?? (facts !== undefined && facts.toolReferences !== false),
  };
}

/** Which tools of a run are deferred. */
export interface SearchPlan {
  /** Absent: nothing is searched for in this run. */
  readonly search?: LoopSearch;
  /** @param at the tool's place in the list */
  defers(tool: ToolDefinition, at: number): boolean;
  /** The tool as this run has it. */
  fitted(loop: LoopTool, tool: ToolDefinition, at: number): LoopTool;
}

/**
 * @param tools those that may be deferred, in their order
 * @param offered `name`: of the tool that searches; undefined: it may not be seen, or the provider searches
 * @param never names that the run's own options speak of
 * @param goesOn a search was on in this conversation before
 */
export function planSearch(
  { mode, above, keep, references }: SearchSettings,
  tools: readonly { readonly tool: ToolDefinition; readonly loop: LoopTool }[],
  offered: { readonly name: string } | undefined,
  { never, goesOn }: { readonly never: ReadonlySet<string>; readonly goesOn: boolean },
): SearchPlan {
  if (mode === 'off' || offered === undefined) {
    // Without our search they can't be found, unless somebody else's is there.
    const whole = mode !== 'off';
    return { defers: () => false, fitted: (loop) => (whole && loop.deferred ? undeferred(loop) : loop) };
  }
  const tokens = tools.reduce((sum, { loop }) => sum + JSON.stringify(loop.entry).length, 0) / CHARS_PER_TOKEN;
  const isLarge = mode === 'auto' && (goesOn || tokens > above);
  const isToDefer = ({ ref, hints, raw }: ToolDefinition, at: number): boolean => {
    if (hints?.toolset !== undefined) return false;
    if (hints?.deferLoading !== undefined) return hints.deferLoading;
    return isLarge && at >= keep && !never.has(ref.name) && !isStartTool({ raw });
  };
  // Its place changes when others come and go; what its entry says in requests doesn't, and only then can it be found.
  const chosen = new Map(tools.map(({ tool }, at): [string, boolean] => [tool.ref.name, isToDefer(tool, at)]));
  const defers: SearchPlan['defers'] = (tool, at) => {
    const known = chosen.get(tool.ref.name) ?? isToDefer(tool, at);
    chosen.set(tool.ref.name, known);
    return known;
  };
  if (![...chosen.values()].includes(true)) {
    return { defers: () => false, fitted: (loop) => (loop.deferred ? undeferred(loop) : loop) };
  }
  return {
    search: { tool: offered.name, references },
    defers,
    fitted: (loop, tool, at) =>
      defers(tool, at) ? { ...loop, deferred: true, entry: deferredEntry(loop.entry) } : loop,
  };
}

/**
 * What answers the tool that searches.
 *
 * @param tools what can be found now: nothing else is
 */
export function searchSource(
  tool: ToolDefinition,
  { results }: Pick<SearchSettings, 'results'>,
  tools: () => readonly ToolDefinition[],
): Source {
  return {
    server: null,
    list: async () => ({ tools: [tool], setAside: [] }),
    call: async (_name: string, args: Json, _ctx: CallContext): Promise<SourceResult> => {
      const query = isObject(args) && typeof args.query === 'string' ? args.query.slice(0, LONGEST_QUERY) : '';
      const found = indexOf(tools())
        .search(query, results)
        .map(({ id }) => id);
      const text = found.length === 0 ? NOTHING : `Found: ${found.join(', ')}.`;
      const raw = rawFrom({
        content: [{ type: 'text', text }],
        ...(found.length > 0 && { structuredContent: { tools: found } }),
      });
      return { kind: 'result', raw, isError: false };
    },
    onChange: () => () => {},
  };
}

/** Nothing of the query is in it: what a model made up isn't told back to it as a result. */
const NOTHING =
  'No tool was found for these words. Try others for the same deed, or fewer; if that finds nothing either, there is no ' +
  'tool for it here: do without, and say so.';

/** Of the last list that was searched; a catalog gives the same definitions again until they change. */
const indexes = new WeakMap<
  ToolDefinition,
  { readonly tools: readonly ToolDefinition[]; readonly index: SearchIndex }
>();

function indexOf(tools: readonly ToolDefinition[]): SearchIndex {
  const [first] = tools;
  if (first === undefined) return createIndex([]);
  const known = indexes.get(first);
  const isSame = known?.tools.length === tools.length && known.tools.every((tool, at) => tool === tools[at]);
  if (known && isSame) return known.index;
  const index = createIndex(
    tools.map(({ ref, title = '', description, inputSchema }) => {
      const { names, texts } = argumentsOf(inputSchema);
      return {
        id: ref.name,
        fields: [
          { text: ref.name, weight: 3 },
          { text: wordsOf(title), weight: 2 },
          { text: wordsOf(description), weight: 1 },
          { text: names.join(' '), weight: 1 },
          { text: texts.join(' '), weight: 0.5 },
        ],
      };
    }),
  );
  indexes.set(first, { tools, index });
  return index;
}

/** A definition that was taken over from elsewhere may hold null for what it lacks. */
function wordsOf(text: unknown): string {
  return typeof text === 'string' ? text : '';
}

/** Names and descriptions of the arguments at the top. */
function argumentsOf(schema: Json): { readonly names: readonly string[]; readonly texts: readonly string[] } {
  const properties = isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return {
    names: properties.map(([name]) => name),
    texts: properties.flatMap(([, about]) =>
      isObject(about) && typeof about.description === 'string' ? [about.description] : [],
    ),
  };
}
