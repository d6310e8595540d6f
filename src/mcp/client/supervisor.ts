import type { Connection, ConnectionStatus, RawJson, Reason, ServerRef } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import type { LogLevel } from '../wire/index.ts';
import { eraVerdicts, type Negotiated } from './era.ts';
import { McpError, messageOf, withExecuted } from './errors.ts';
import { listenForChanges } from './listen.ts';
import { askForLogs } from './log-level.ts';
import type { RestartGuard } from './restart-guard.ts';
import type { Session } from './session.ts';
import { untilAborted } from './until-aborted.ts';
import { watchedResources } from './watched-resources.ts';

/** A server that answers, and speaks an era that we know. */
export interface Link {
  readonly session: Session;
  readonly negotiated: Negotiated;
  /** While this link is about to end by itself: resolves when it has. */
  leaving?(): Promise<void> | null;
}

/** What a server said of itself. */
export type About = Pick<Negotiated, 'capabilities' | 'instructions' | 'serverInfo'>;

export interface SupervisorOptions<L extends Link> {
  /** For messages: which server, by key and where it is. */
  readonly name: string;
  readonly server: ServerRef;
  readonly guard: RestartGuard;
  /** Makes a link; rejects with McpError. */
  open(kept: Negotiated | undefined): Promise<L>;
  /** What a failure that is no McpError is called. */
  wrap(message: string): McpError;
  /** A state that says more than `failed`, by the last failure. */
  stateOf?(failure: McpError): ConnectionStatus['state'];
  /** From which level on the server is asked for its log messages. Absent: it decides itself. */
  readonly logLevel?: LogLevel | undefined;
  /** What is said before the first use. */
  readonly unused: string;
  /** Ends every link that was made, also those that never became ready. */
  stop(): Promise<unknown>;
}

export interface Supervisor<L extends Link> {
  readonly live: L | null;
  /** The live link, unless it is just ending: what is sent over it now goes out at once. */
  readonly usable: L | null;
  readonly about: Negotiated | null;
  readonly closing: boolean;
  closed(executed: 'not_executed' | 'unknown'): McpError;
  /** The live link, made first where there is none; joins a start that goes on. */
  ready(): Promise<L>;
  /** The same, for as long as one caller waits. */
  readyFor(signal: AbortSignal, what: string, ms: number): Promise<L>;
  /** The same, also after the server was given up. */
  connect(signal: AbortSignal | undefined): Promise<void>;
  /** The link with this session is of no use any more. `failure`: by a fault of the server's, which counts. */
  lost(session: Session, error: McpError, failure?: boolean): void;
  notify(method: string, params: RawJson): void;
  /** What the server's lists and resources hold may have changed without a word. */
  missed(): void;
  /** Has the server tell of changes of a resource, over all links to come, until the returned function is called. */
  watch(uri: string): () => void;
  onNotification: Connection['onNotification'];
  status(more: (add: (code: string, text: string) => void) => void): ConnectionStatus;
  close(): Promise<void>;
}

const LISTS_CHANGED = ['tools', 'resources', 'prompts'].map((list) => `notifications/${list}/list_changed`);
const UPDATED = 'notifications/resources/updated';
const open = new Set<{ close(): Promise<void> }>();

/** Closes every connection of this process; resolves when all child process groups are gone. */
export async function closeAll(): Promise<void> {
  await Promise.allSettled([...open].map((connection) => connection.close()));
}

/** Keeps one link to a server: made on use, made anew when it is lost, given up when that fails again and again. */
export function supervise<L extends Link>(options: SupervisorOptions<L>): Supervisor<L> {
  const { name, server, guard } = options;
  const listeners = new Set<(method: string, params: RawJson) => void>();
  let live: L | null = null;
  let about: Negotiated | null = null;
  let starting: Promise<L> | null = null;
  let lastFailure: McpError | null = null;
  let closing: Promise<void> | null = null;

  const closed = (executed: 'not_executed' | 'unknown') =>
    new McpError('mcp_closed', `${name} was closed.`, { executed });

  const notify = (method: string, params: RawJson) => {
    for (const listener of listeners) {
      try {
        listener(method, params);
      } catch {
        // One listener's fault is not the others'.
      }
    }
  };
  const listsChanged = () => {
    for (const method of LISTS_CHANGED) notify(method, rawFrom({}));
  };
  const watched = watchedResources((uri) => notify(UPDATED, rawFrom({ uri })));

  const start = async (): Promise<L> => {
    try {
      await guard.pause();
      if (closing) throw closed('not_executed');
      const link = await options.open(eraVerdicts.get(server.fingerprint));
      // After a start that failed too: whoever asked for its lists then got none.
      const again = about !== null || lastFailure !== null;
      live = link;
      about = link.negotiated;
      lastFailure = null;
      if (options.logLevel) askForLogs(link.session, link.negotiated, options.logLevel);
      listenForChanges(link.session, link.negotiated, listsChanged);
      // The lists of a new process, or of a new session, may be others.
      if (again) listsChanged();
      watched.linked(link.session, link.negotiated);
      return link;
    } catch (thrown) {
      const error = thrown instanceof McpError ? withExecuted(thrown, 'not_executed') : options.wrap(messageOf(thrown));
      lastFailure = error;
      if (!closing) guard.failed();
      throw error;
    } finally {
      starting = null;
    }
  };

  const ready = (): Promise<L> => {
    if (closing) return Promise.reject(closed('not_executed'));
    if (live) {
      // One that is just ending is not written to any more: wait for its end, then make another.
      const leaving = live.leaving?.();
      return leaving ? leaving.then(ready) : Promise.resolve(live);
    }
    if (starting) return starting;
    const stopped = guard.stopped(lastFailure);
    if (stopped) return Promise.reject(stopped);
    starting = start();
    return starting;
  };

  const state = (): ConnectionStatus['state'] => {
    if (closing) return 'closed';
    if (live) return 'ready';
    if (starting || !lastFailure) return 'connecting';
    return options.stateOf?.(lastFailure) ?? 'failed';
  };

  const self: Supervisor<L> = {
    get live() {
      return live;
    },
    get usable() {
      return live && !live.leaving?.() ? live : null;
    },
    get about() {
      return about;
    },
    get closing() {
      return closing !== null;
    },
    closed,
    ready,
    readyFor: (signal, what, ms) => untilAborted(ready, signal, `${what} to ${name}`, ms),
    async connect(signal) {
      guard.reset();
      await untilAborted(ready, signal, `Connecting to ${name}`);
    },
    lost(session, error, failure = true) {
      if (live?.session !== session) return;
      live = null;
      if (!failure) return;
      lastFailure = error;
      guard.failed();
    },
    notify,
    missed() {
      listsChanged();
      watched.missed();
    },
    watch: watched.watch,
    onNotification(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status(more) {
      const reasons: Reason[] = [];
      const add = (code: string, text: string) => reasons.push({ room: 'mcp/client', code, text });
      const failure = guard.stopped(lastFailure) ?? lastFailure;
      if (failure) add(failure.code, `${failure.message} ${failure.hint ?? ''}`.trim());
      else if (!live && !starting && !closing) add('mcp_not_started', options.unused);
      if (about) add('mcp_era', `${name} speaks ${about.era.revision}: ${about.era.provenBy} (${about.era.at}).`);
      more(add);
      return { state: state(), reasons };
    },
    close() {
      closing ??= (async () => {
        live?.session.end(closed('unknown'));
        live = null;
        guard.interrupt();
        await options.stop();
        await starting?.catch(() => {});
        await options.stop();
        open.delete(self);
      })();
      return closing;
    },
  };
  open.add(self);
  return self;
}
