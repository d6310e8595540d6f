import type { Dispatcher } from './call.ts';
import type { Identity } from './identity.ts';
import type { ToolDefinition } from './tool.ts';

/** What the serving side serves; it grows resources and prompts the same way. */
export interface ToolHost {
  list(who: Identity): readonly ToolDefinition[];
  call: Dispatcher['call'];
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
