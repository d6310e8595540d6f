import { recordList } from '../catalog/index.ts';
import type { Found, Json, Reason, Recorder, ToolDefinition } from '../contracts/index.ts';
import type { createResultStore } from '../dispatch/index.ts';
import { type StrictChoice, searchTool } from '../tools/index.ts';
import { checkNames } from './agent-checks.ts';
import { ASK_USER, askUserTool } from './ask-user.ts';
import type { LoopSearch } from './found-tools.ts';
import { cachedLoopTool } from './loop-tools.ts';
import type { AgentParts } from './agent-parts.ts';
import type { LoopTool } from './state.ts';
import { strictTools } from './strict-tools.ts';
import { planSearch, searchSettings, searchSource } from './tool-search.ts';

/** Which tools an agent's runs have, and in which order. */
export interface AgentTools {
  /** All of them, whether a model is shown them at once or not. */
  listed(): LoopTool[];
  /** By wire name, regardless of who asks, and of what is there in a run only. */
  find(name: string): Found | undefined;
  forRun(run: RunOfTools): RunTools;
  /** As the dispatcher's store, remembering in which conversations something was cut. */
  readonly results: ReturnType<typeof createResultStore>;
  /** Changes with the tools that a conversation has. */
  versionIn(conversation: string): string;
  /** Which of them a run would begin with as strict ones. */
  strict(): readonly StrictChoice[];
}

interface RunOfTools {
  readonly conversation: string;
  /** Names that the run's own options speak of: the model is to know these. */
  readonly named: readonly string[];
  /** Whether a search was on in this conversation before. */
  readonly searched: boolean;
  /** What its answer is held to, if anything: `output_config.format`. */
  readonly format: Json | undefined;
}

/** The same of one run. */
export interface RunTools {
  /** In the order in which a request has them. What comes during the run joins at its end. */
  list(): LoopTool[];
  readonly search?: LoopSearch;
  /** Of tools that were to be strict and aren't. */
  readonly notices: readonly Reason[];
  /** @param recorder is told that somebody searches */
  find(name: string, recorder: Recorder): Found | undefined;
}

/**
 * @throws BridleError `tool_name_taken`, `tool_search_invalid`, `strict_invalid`
 */
export function agentTools(parts: Omit<AgentParts, 'isClosed'>): AgentTools {
  const { options, model, who, policy, catalog, reader, results } = parts;
  const provided = () => parts.provided?.list() ?? [];
  const ours = [reader.tool.ref.name, ...(options.askUser === true ? [ASK_USER] : [])];
  const reserved = [...ours, ...provided().map(({ name }) => name)];
  checkNames(catalog.list(who), reserved);
  const settings = searchSettings(options.toolSearch, model.id);
  const searcher = searchTool((name) => reserved.includes(name) || catalog.find(name) !== undefined);
  const searchName = searcher.ref.name;
  const isOurs = (name: string) => name === searchName || reserved.includes(name);
  const loopTool = cachedLoopTool();
  const strict = strictTools(options.strict);
  // One that comes later under a name of ours is left out: nobody is there any more to be told.
  const defined = () => catalog.list(who).filter(({ ref }) => !isOurs(ref.name));
  const asked = () => (options.askUser === true ? [askUserTool()] : []);
  /** Conversations in which a result was cut: only these need the tool that reads on. */
  const cutIn = new Set<string>();
  const inThis = (conversation: string) => (cutIn.has(conversation) ? [loopTool(reader.tool)] : []);
  const find = (name: string): Found | undefined => {
    if (name === reader.tool.ref.name) return catalog.find(name) ?? reader;
    return name === searchName
      ? { tool: searcher, source: searchSource(searcher, settings, () => []) }
      : catalog.find(name);
  };
  return {
    listed: () => [...provided(), ...defined().map((tool) => loopTool(tool)), ...asked()],
    find,
    forRun({ conversation, named, searched, format }) {
      const bySomebodyElse = provided().some(({ name }) => name.startsWith('tool_search_tool_'));
      const mode = bySomebodyElse ? 'off' : settings.mode;
      const isSeen = policy.view(who, searcher).effect !== 'deny';
      const chosen = strict.forRun(defined(), format);
      const loops = (tools: readonly ToolDefinition[]) => {
        const strictness = chosen.of(tools);
        return tools.map((tool) => ({ tool, loop: loopTool(tool, strictness(tool)) }));
      };
      const now = loops(defined());
      const plan = planSearch({ ...settings, mode }, now, isSeen ? { name: searchName } : undefined, {
        never: new Set(named),
        goesOn: searched,
      });
      const findable = (): ToolDefinition[] => defined().filter((tool, at) => plan.defers(tool, at));
      const source = (recorder: Recorder) =>
        searchSource(searcher, settings, () => {
          const tools = findable();
          recordList(recorder, { catalog, policy }, who, () => tools, 'search');
          return tools;
        });
      return {
        ...(plan.search && { search: plan.search }),
        notices: chosen.notices,
        list: () => [
          ...provided(),
          ...(plan.search ? [loopTool(searcher)] : []),
          ...loops(defined()).map(({ tool, loop }, at) => plan.fitted(loop, tool, at)),
          ...asked(),
          ...inThis(conversation),
        ],
        find: (name, recorder) => (name === searchName ? { tool: searcher, source: source(recorder) } : find(name)),
      };
    },
    results: {
      keep(owner, text) {
        cutIn.add(owner.conversation);
        return results.keep(owner, text);
      },
      read: (owner, handle) => results.read(owner, handle),
    },
    strict: () => strict.choices(defined()),
    versionIn: (conversation) => `${catalog.version} ${cutIn.has(conversation)}`,
  };
}
