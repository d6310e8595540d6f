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

/** What the serving side serves. */
export interface ToolHost {
  /** Default: Bridle's own name and version. */
  readonly info?: ServerInfo;
  list(who: Identity): readonly ToolDefinition[];
  /** A client was given this list, as `list` gave it. */
  listed?(who: Identity, tools: readonly ToolDefinition[]): void;
  call: Dispatcher['call'];
  /** Its resources and prompts; absent: it has none, and doesn't offer the capability. */
  readonly content?: ContentHost;
  onChange(cb: () => void): () => void;
}

export type ServeAt =
  | { readonly stdio: true }
  | {
      readonly http: {
        readonly port: number;
        readonly host?: string;
        /** Null refuses the request. Header names are lower case. */
        readonly identify?: (headers: ReadonlyMap<string, string>) => Promise<Identity | null>;
      };
    };

export interface ServeHandle {
  readonly url?: string;
  close(): Promise<void>;
}

export type Serve = (host: ToolHost, at: ServeAt) => Promise<ServeHandle>;
