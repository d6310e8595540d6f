import type { Catalog, Found, Identity, Policy, Reason, Source, ToolDefinition } from '../contracts/index.ts';
import { createViewSet, type View, type ViewSet, withViews } from '../policy/index.ts';
import { explainTool } from './explain.ts';
import {
  listSource,
  readinessOf,
  type SetAside,
  type SourceReadiness,
  type SourceState,
  unlisted,
} from './source-state.ts';
import { mergeListings, type Places, type ToolList } from './tool-list.ts';
import { type ReadyOptions, withinWait } from './within-wait.ts';

const DEFAULT_LIST_MS = 30_000;
const DEFAULT_MAX_TOOLS = 10_000;
/** Changes that a source reports within this time are one change. */
const DEFAULT_SETTLE_MS = 100;
/** Different lists of callers that are remembered; the oldest goes first. */
const MOST_GIVEN = 16;

export interface CatalogOptions {
  /** In the order in which their tools are to be listed. */
  readonly sources: readonly Source[];
  readonly policy: Policy;
  /** Narrower tools in place of some: the list has the views instead. */
  readonly views?: readonly View[] | ViewSet;
  /** Most tools over all sources; later ones are set aside. Default 10,000, the most that a tool search takes. */
  readonly maxTools?: number;
  /** Longest listing of one source, in milliseconds. Default 30,000. */
  readonly listMs?: number;
  /** How long changes are gathered before a source is listed again, in milliseconds. Default 100. */
  readonly settleMs?: number;
}

export interface CatalogHandle extends Catalog {
  /** Lists all sources again, side by side. Never rejects: see `problems()`. */
  refresh(signal?: AbortSignal): Promise<void>;
  /**
   * The same, waiting no longer than it is told to. The tools of a source that takes longer come to the end of the list
   * as soon as they are there. Never rejects: see `readiness()`.
   */
  ready(options: ReadyOptions): Promise<void>;
  /** How far each source is, in their order. */
  readiness(): readonly SourceReadiness[];
  /** Tools that are not in the list, each with the reasons. */
  setAside(): readonly SetAside[];
  /** Sources that could not be listed, one reason each. */
  problems(): readonly Reason[];
  /** Every tool of the list, whoever may see it. */
  all(): readonly ToolDefinition[];
  /** The tool of this wire name, where `list` has it for them. */
  shown(name: string, who: Identity): ToolDefinition | undefined;
  /** Whether calls of any of its tools may be tasks, whoever sees that tool. */
  hasTasks(): boolean;
  /** Called once after each change of the list. Returns the unsubscribe function. */
  onChange(cb: () => void): () => void;
  /**
   * Waits for changes that sources have told of, or are about to: afterwards `list` has them. Returns at once when there
   * are none. Never rejects.
   *
   * @param ms longest wait, in milliseconds; what isn't listed by then follows as any change does
   */
  settle(ms: number): Promise<void>;
  /** Adds a source at the end and lists it. Never rejects. */
  addSource(source: Source): Promise<void>;
  /** Stops following the sources, and listing them. It doesn't close them: they belong to whoever made them. */
  close(): void;
}

/** A source that is followed, and the end of the listings of it so far: they run one after another. */
interface Followed {
  state: SourceState;
  listed: Promise<void>;
}

/**
 * One stable list of the tools of many sources. It is empty until `refresh()` or `ready()` was awaited, and follows the
 * sources' own change notices from then on.
 */
export function createCatalog(options: CatalogOptions): CatalogHandle {
  const { listMs = DEFAULT_LIST_MS, maxTools = DEFAULT_MAX_TOOLS, settleMs = DEFAULT_SETTLE_MS } = options;
  const policy = withViews(options.policy);
  const views = viewSetOf(options.views);
  const places: Places = new Map();
  const listeners = new Set<() => void>();
  const unsubscribe = new Map<Source, () => void>();
  const changed = new Set<Followed>();
  const followed: Followed[] = [];
  const ended = new AbortController();
  let list: ToolList = mergeListings([], places, maxTools);
  /** Lists of callers who don't see everything: whoever makes something of a list knows by its identity that it is the same. */
  let given: (readonly ToolDefinition[])[] = [];
  let tasks: { readonly of: readonly ToolDefinition[]; readonly any: boolean } | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** While many are waited for, nothing is merged: the order of the list must not depend on who was first. */
  let gathering = 0;
  let gatherings: Promise<void> = Promise.resolve();
  /** Listings after a change that haven't ended. A source that was late from the start is waited for by nobody. */
  const changes = new Set<Promise<void>>();

  const setAside = () => {
    const keys = (of: readonly SourceState[]) => of.map(({ source }) => source.server?.key ?? null);
    const listed = states().filter(({ listedAt, problem }) => listedAt !== undefined && problem === undefined);
    return [...list.setAside, ...views.without(keys(states()), keys(listed))];
  };
  const states = () => followed.map(({ state }) => state);
  const merge = (): void => {
    if (ended.signal.aborted) return;
    const before = list.version;
    list = mergeListings(states(), places, maxTools);
    given = [];
    if (list.version !== before) for (const listener of [...listeners]) tell(listener);
  };
  const mergeAlone = (): void => {
    if (gathering === 0) merge();
  };
  const listOne = async (one: Followed, signal: AbortSignal): Promise<void> => {
    one.state = { ...one.state, waitingSince: one.state.waitingSince ?? Date.now() };
    one.state = await listSource(one.state, { listMs, views }, signal);
  };
  const listNext = (one: Followed, signal?: AbortSignal): Promise<void> => {
    const either = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
    one.listed = one.listed.then(() => listOne(one, either));
    return one.listed;
  };
  const gather = (which: () => readonly Followed[], wait: Partial<ReadyOptions>): Promise<void> => {
    gathering += 1;
    gatherings = gatherings.then(async () => {
      const all = which().map((one) => {
        let isLate = false;
        const listed = listNext(one, wait.signal).then(() => {
          if (isLate) mergeAlone();
        });
        return { listed, letGo: () => (isLate = true) };
      });
      await withinWait(Promise.all(all.map(({ listed }) => listed)), wait);
      for (const { letGo } of all) letGo();
      gathering -= 1;
      merge();
    });
    return gatherings;
  };
  const onSourceChange = (one: Followed): void => {
    if (ended.signal.aborted) return;
    changed.add(one);
    timer ??= setTimeout(() => void listChanged(), settleMs);
    timer.unref();
  };
  const listChanged = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const due = [...changed];
    changed.clear();
    const listed = Promise.all(due.map((each) => listNext(each))).then(mergeAlone);
    changes.add(listed);
    return listed.finally(() => changes.delete(listed));
  };
  const follow = (source: Source): void => {
    if (followed.some(({ state }) => state.source === source)) return;
    const one: Followed = { state: unlisted(source), listed: Promise.resolve() };
    followed.push(one);
    try {
      unsubscribe.set(
        source,
        source.onChange(() => onSourceChange(one)),
      );
    } catch {
      // A source that can't be followed is listed all the same.
    }
  };
  for (const source of options.sources) follow(source);

  return {
    get version() {
      return list.version;
    },
    list(who) {
      const seen = list.tools.filter((tool) => visible(policy, who, tool));
      // What hides nothing is one list for all; else one that somebody was given before, where it is the same.
      const same = [list.tools, ...given].find((known) => isSameList(known, seen));
      if (same) return same;
      if (given.length >= MOST_GIVEN) given.shift();
      given.push(seen);
      return seen;
    },
    find: (name): Found | undefined => list.byName.get(name),
    all: () => list.tools,
    shown(name, who) {
      const tool = list.byName.get(name)?.tool;
      return tool && visible(policy, who, tool) ? tool : undefined;
    },
    hasTasks() {
      if (tasks?.of !== list.tools) tasks = { of: list.tools, any: list.tools.some((tool) => tool.execution) };
      return tasks.any;
    },
    explain: (name, who) =>
      explainTool({ name, who, list: { ...list, setAside: setAside() }, states: states(), policy }),
    refresh: (signal) => gather(() => followed, { signal }),
    ready: (wait) => gather(() => followed, wait),
    readiness: () => states().map(readinessOf),
    setAside,
    problems: () => states().flatMap(({ problem }) => (problem ? [problem] : [])),
    onChange(cb) {
      const listener = () => cb();
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async settle(ms) {
      for (const one of followed) if (isDue(one.state.source)) changed.add(one);
      if (ended.signal.aborted || (changed.size === 0 && changes.size === 0 && gathering === 0)) return;
      if (changed.size > 0) void listChanged();
      await withinWait(Promise.all([...changes, gathering > 0 && gatherings]), { ms });
    },
    addSource(source) {
      follow(source);
      return gather(() => followed.filter(({ state }) => state.source === source), {});
    },
    close() {
      ended.abort();
      clearTimeout(timer);
      for (const stop of unsubscribe.values()) tell(stop);
      listeners.clear();
    },
  };
}

/** A listener that throws costs the others nothing. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch {
    // The listener's own trouble.
  }
}

function isDue(source: Source): boolean {
  try {
    return source.changeDue?.() === true;
  } catch {
    return false;
  }
}

function viewSetOf(views: CatalogOptions['views'] = []): ViewSet {
  return 'apply' in views ? views : createViewSet(views);
}

function isSameList(one: readonly ToolDefinition[], other: readonly ToolDefinition[]): boolean {
  return one.length === other.length && one.every((tool, at) => tool === other[at]);
}

/** A view that can't be had hides the tool. */
function visible(policy: Policy, who: Identity, tool: ToolDefinition): boolean {
  try {
    const { effect } = policy.view(who, tool);
    return effect === 'allow' || effect === 'ask';
  } catch {
    return false;
  }
}
