import type { Dispatcher } from './call.ts';
import type { ContentHost } from './content.ts';
import type { Identity } from './identity.ts';
import type { ToolDefinition } from './tool.ts';

/** What a server says of itself to its clients: for display, never for identity. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** How its tools are meant to be used together; a client may show this to its model. */
  readonly instructions?: string;
}

/** How long lists are given to clients. */
export interface ListPages {
  /** Items a page. */
  readonly size: number;
  /**
   * What cursors are sealed with: several processes with the same one take each other's. Default, also for an empty one:
   * random.
   */
  readonly secret?: string;
}

/** What the serving side serves. */
export interface ToolHost {
  /** Default: Bridle's own name and version. */
  readonly info?: ServerInfo;
  list(who: Identity): readonly ToolDefinition[];
  /** One of the tools that `list` gives, by the name that is called. Default: looked for in the list. */
  find?(name: string, who: Identity): ToolDefinition | undefined;
  /** Whether a call of some tool may be a task, whoever sees that tool. Default: none may. */
  hasTasks?(): boolean;
  /** A client was given this list, as `list` gave it. */
  listed?(who: Identity, tools: readonly ToolDefinition[]): void;
  call: Dispatcher['call'];
  /** Its resources and prompts; absent: it has none, and doesn't offer the capability. */
  readonly content?: ContentHost;
  /** Absent: each list is one page. */
  readonly pages?: ListPages;
  onChange(cb: () => void): () => void;
}

/** Bounds of what one HTTP server holds for its clients; each has a default. */
export interface ServeLimits {
  /** Longest request body, in bytes. Default 10 MiB. */
  readonly bodyBytes?: number;
  /** Most open streams of events. Default 20,000. */
  readonly streams?: number;
  /** Most sessions of the older revisions that are held; the one that was idle longest makes room. Default 10,000. */
  readonly sessions?: number;
}

export interface ServeHttp {
  /** 0 takes a free one. */
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Null refuses the request. Header names are lower case. Stands in place of `token`. */
  readonly identify?: (headers: ReadonlyMap<string, string>) => Promise<Identity | null>;
  /**
   * What a client has to send as `Authorization: Bearer …`. Default, also for an empty one: a new one, which the handle
   * tells; false: whoever reaches the server may call.
   */
  readonly token?: string | false;
  /**
   * What session ids are sealed with. With the same secret, several processes, or the next one, go on with sessions that
   * another began. Default, also for an empty one: random.
   */
  readonly sessionSecret?: string;
  readonly limits?: ServeLimits;
}

export type ServeAt =
  /** `who`: the one client that there is; default: somebody who nobody knows. */
  | { readonly stdio: true; readonly who?: Identity }
  | { readonly socket: { readonly path: string } }
  | { readonly http: ServeHttp };

export interface ServeHandle {
  readonly url?: string;
  /** What clients have to send as a bearer token, where that is how they are known. */
  readonly token?: string;
  close(): Promise<void>;
}

export type Serve = (host: ToolHost, at: ServeAt) => Promise<ServeHandle>;
