import type { ContentListing, ContentSource, Identity, ResourceTemplate } from '../contracts/index.ts';
import {
  type ContentSourceStatus,
  type ContentState,
  listContent,
  statusOf,
  unlistedContent,
  viewOf,
} from './content-state.ts';
import {
  type FoundPrompt,
  type FoundResource,
  listedAs,
  promptsNamed,
  type Resolved,
  resolved,
  resourceAt,
  templatedAs,
} from './find-content.ts';
import { type ReadyOptions, withinWait } from './within-wait.ts';

const DEFAULT_LIST_MS = 30_000;
/** Changes that a source reports within this time are one change. */
const DEFAULT_SETTLE_MS = 100;

export interface ContentCatalogOptions {
  /** In the order in which their content is to be listed. */
  readonly sources: readonly ContentSource[];
  /** Longest listing of one source, in milliseconds. Default 30,000. */
  readonly listMs?: number;
  /** How long changes are gathered before a source is listed again, in milliseconds. Default 100. */
  readonly settleMs?: number;
}

/** The resources and prompts of many sources. A server is named by its key; null is this process. */
export interface ContentCatalog {
  /** Sources in their order, each one's items in its own. */
  list(who: Identity): ContentListing;
  /** How each source stands, in their order. */
  sources(): readonly ContentSourceStatus[];
  /**
   * A resource by its address at one server: of its list, else by one of its templates. A server of somebody else's may
   * also know addresses that it doesn't list, and is the one to say so.
   */
  resource(server: string | null, uri: string, who: Identity): FoundResource | undefined;
  /**
   * A resource by a word that doesn't name the server: its address, its name or the last part of its address in the
   * lists; else its address by a template, or the one value of a template that `completion/complete` confirms.
   */
  resolve(word: string, who: Identity, signal: AbortSignal): Promise<Resolved<FoundResource>>;
  /** Whose template this is, by the server and the text of it. */
  templateSource(template: Pick<ResourceTemplate, 'server' | 'uriTemplate'>, who: Identity): ContentSource | undefined;
  prompt(server: string | null, name: string, who: Identity): FoundPrompt | undefined;
  /** A prompt by its name alone. */
  resolvePrompt(name: string, who: Identity): Resolved<FoundPrompt>;
  /** Lists all sources again, side by side. Never rejects: see `sources()`. */
  refresh(signal?: AbortSignal): Promise<void>;
  /**
   * The same, waiting no longer than it is told to. What a source has that takes longer is listed as soon as it is there.
   * Never rejects.
   */
  ready(options: ReadyOptions): Promise<void>;
  /** Lists what has reported a change now, and waits for that and for what is being listed, but no longer than `ms`. */
  settle(ms: number): Promise<void>;
  /** Called after a source was listed again because of a change. Returns the unsubscribe function. */
  onChange(cb: () => void): () => void;
  /** Adds a source at the end and lists it. Never rejects. */
  addSource(source: ContentSource): Promise<void>;
  /** Stops following the sources. It doesn't close them: they belong to whoever made them. */
  close(): void;
}

/**
 * One stable list of the resources and prompts of many sources. It is empty until `refresh()` was awaited, and follows
 * the sources' own change notices from then on. A source that can't be listed keeps what it had, and costs no other one
 * anything.
 */
export function createContentCatalog(options: ContentCatalogOptions): ContentCatalog {
  const { listMs = DEFAULT_LIST_MS, settleMs = DEFAULT_SETTLE_MS } = options;
  const listeners = new Set<() => void>();
  const unsubscribe = new Map<ContentSource, () => void>();
  const changed = new Set<ContentSource>();
  let states: readonly ContentState[] = [];
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** Listings of one source run one after another, so that an older answer never replaces a newer one. */
  const queues = new Map<ContentSource, Promise<void>>();

  const listOne = async (source: ContentSource, signal?: AbortSignal): Promise<void> => {
    const before = states.find((state) => state.source === source);
    if (!before) return;
    const now = await listContent(before, listMs, signal);
    states = states.map((state) => (state.source === source ? now : state));
  };
  const inTurn = (source: ContentSource, signal?: AbortSignal): Promise<void> => {
    const listed = (queues.get(source) ?? Promise.resolve()).then(() => listOne(source, signal));
    queues.set(source, listed);
    return listed;
  };
  /** What is there is told of together, but doesn't wait for a source that takes long. */
  const relist = async (due: readonly ContentSource[], signal?: AbortSignal): Promise<void> => {
    let untold = 0;
    let early: NodeJS.Timeout | undefined;
    const tell = () => {
      clearTimeout(early);
      early = undefined;
      if (untold > 0) tellAll();
      untold = 0;
    };
    const list = async (source: ContentSource) => {
      await inTurn(source, signal);
      untold += 1;
      early ??= setTimeout(tell, settleMs);
    };
    await Promise.all(due.map(list));
    tell();
  };
  // Told also when the lists are the same: who sees what may have changed.
  const tellAll = () => {
    if (!closed) for (const listener of [...listeners]) quietly(listener);
  };
  const all = () => states.map(({ source }) => source);
  const relistChanged = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const due = [...changed];
    changed.clear();
    void relist(due);
  };
  const follow = (source: ContentSource): void => {
    if (states.some((state) => state.source === source)) return;
    states = [...states, unlistedContent(source)];
    try {
      const stop = source.onChange(() => {
        if (closed) return;
        changed.add(source);
        timer ??= setTimeout(relistChanged, settleMs);
        timer.unref();
      });
      unsubscribe.set(source, stop);
    } catch {
      // A source that can't be followed is listed all the same.
    }
  };
  for (const source of options.sources) follow(source);

  const at = (server: string | null) => states.filter(({ source }) => (source.server?.key ?? null) === server);

  return {
    list(who) {
      const views = states.map((state) => viewOf(state, who));
      return {
        resources: views.flatMap(({ resources }) => resources),
        templates: views.flatMap(({ templates }) => templates),
        prompts: views.flatMap(({ prompts }) => prompts),
        setAside: views.flatMap(({ setAside }) => setAside),
      };
    },
    sources: () => states.map(statusOf),
    resource(server, uri, who) {
      const here = at(server);
      for (const state of here) {
        const found = resourceAt(state, uri, who);
        if (found) return found;
      }
      const foreign = here.find(({ source }) => source.visible === undefined);
      return foreign && { source: foreign.source, uri };
    },
    async resolve(word, who, signal) {
      const listed = listedAs(states, word, who);
      return resolved(listed.length > 0 ? listed : await templatedAs(states, word, who, signal));
    },
    templateSource: ({ server, uriTemplate }, who) =>
      at(server?.key ?? null).find((state) =>
        viewOf(state, who).templates.some((template) => template.uriTemplate === uriTemplate),
      )?.source,
    prompt: (server, name, who) => promptsNamed(at(server), name, who)[0],
    resolvePrompt: (name, who) => resolved(promptsNamed(states, name, who)),
    refresh: (signal) => relist(all(), signal),
    ready: (wait) => withinWait(relist(all(), wait.signal), wait),
    async settle(ms) {
      relistChanged();
      await withinWait(Promise.all(queues.values()), { ms });
    },
    onChange(cb) {
      const listener = () => cb();
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    addSource(source) {
      follow(source);
      return relist([source]);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      for (const stop of unsubscribe.values()) quietly(stop);
      listeners.clear();
    },
  };
}

/** A listener that throws costs the others nothing. */
function quietly(listener: () => void): void {
  try {
    listener();
  } catch {
    // The listener's own trouble.
  }
}
