import type { Catalog, Found, Identity, Policy, Reason, Source, ToolDefinition } from '../contracts/index.ts';
import { explainTool } from './explain.ts';
import { listSource, type SetAside, type SourceState, unlisted } from './source-state.ts';
import { mergeListings, type Places, type ToolList } from './tool-list.ts';

const DEFAULT_LIST_MS = 30_000;
const DEFAULT_MAX_TOOLS = 10_000;
/** Changes that a source reports within this time are one change. */
const DEFAULT_SETTLE_MS = 100;

export interface CatalogOptions {
  /** In the order in which their tools are to be listed. */
  readonly sources: readonly Source[];
  readonly policy: Policy;
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
  /** Tools that are not in the list, each with the reasons. */
  setAside(): readonly SetAside[];
  /** Sources that could not be listed, one reason each. */
  problems(): readonly Reason[];
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
  /** Stops following the sources. It doesn't close them: they belong to whoever made them. */
  close(): void;
}

/**
 * One stable list of the tools of many sources. It is empty until `refresh()` was awaited, and follows the sources'
 * own change notices from then on.
 */
export function createCatalog(options: CatalogOptions): CatalogHandle {
  const { policy, listMs = DEFAULT_LIST_MS, maxTools = DEFAULT_MAX_TOOLS, settleMs = DEFAULT_SETTLE_MS } = options;
  const places: Places = new Map();
  const listeners = new Set<() => void>();
  const unsubscribe = new Map<Source, () => void>();
  const changed = new Set<Source>();
  let states: readonly SourceState[] = [];
  let list: ToolList = mergeListings([], places, maxTools);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** Listings that were asked for and haven't ended. */
  let running = 0;
  /** Listings run one after another, so that an older answer never replaces a newer one. */
  let queue: Promise<void> = Promise.resolve();

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    running += 1;
    const counted = async () => {
      await work();
      running -= 1;
    };
    queue = queue.then(counted, counted);
    return queue;
  };
  const relist = async (which: (source: Source) => boolean, signal?: AbortSignal): Promise<void> => {
    const listed = await Promise.all(
      states.map((state) => (which(state.source) ? listSource(state, listMs, signal) : state)),
    );
    // A source that was added meanwhile isn't among those listed.
    states = states.map((state) => listed.find(({ source }) => source === state.source) ?? state);
    const before = list.version;
    list = mergeListings(states, places, maxTools);
    if (list.version !== before) for (const listener of [...listeners]) tell(listener);
  };
  const onSourceChange = (source: Source): void => {
    if (closed) return;
    changed.add(source);
    timer ??= setTimeout(() => void listChanged(), settleMs);
    timer.unref();
  };
  const listChanged = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const due = new Set(changed);
    changed.clear();
    return inTurn(() => relist((one) => due.has(one)));
  };
  const follow = (source: Source): void => {
    if (states.some((state) => state.source === source)) return;
    states = [...states, unlisted(source)];
    try {
      unsubscribe.set(
        source,
        source.onChange(() => onSourceChange(source)),
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
    list: (who) => list.tools.filter((tool) => visible(policy, who, tool)),
    find: (name): Found | undefined => list.byName.get(name),
    explain: (name, who) => explainTool({ name, who, list, states, policy }),
    refresh: (signal) => inTurn(() => relist(() => true, signal)),
    setAside: () => list.setAside,
    problems: () => states.flatMap(({ problem }) => (problem ? [problem] : [])),
    onChange(cb) {
      const listener = () => cb();
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async settle(ms) {
      for (const { source } of states) if (isDue(source)) changed.add(source);
      if (closed || (changed.size === 0 && running === 0)) return;
      let giveUp: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        giveUp = setTimeout(resolve, ms);
      });
      await Promise.race([changed.size > 0 ? listChanged() : queue, late]).catch(() => undefined);
      clearTimeout(giveUp);
    },
    addSource(source) {
      follow(source);
      return inTurn(() => relist((one) => one === source));
    },
    close() {
      closed = true;
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

/** A view that can't be had hides the tool. */
function visible(policy: Policy, who: Identity, tool: ToolDefinition): boolean {
  try {
    const { effect } = policy.view(who, tool);
    return effect === 'allow' || effect === 'ask';
  } catch {
    return false;
  }
}
