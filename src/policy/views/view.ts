import type { Identity, Json, JsonObject } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import type { AllowedHost } from './allowed-address.ts';
import { parseView } from './parse-view.ts';

/** A value per caller: only in programs. What it throws refuses the call. */
export type ForCaller<T> = (who: Identity) => T | Promise<T>;

/** What a view does to one argument of the tool behind it. All that is given holds together. */
export interface ArgumentLimit {
  /** Not offered: always this value, or what the JSON Pointer finds in the caller's identity, such as `/user`. */
  readonly fixed?: { readonly value: Json } | { readonly from: string };
  /** Not offered, and never sent. */
  readonly remove?: true;
  /** The name under which it is offered. */
  readonly as?: string;
  readonly description?: string;
  /** Put in where the caller gives none; checked like a given one. */
  readonly default?: { readonly value: Json };
  /** May be left out, so that the tool behind does what it does then. */
  readonly optional?: true;
  /** Values that are offered and allowed. */
  readonly enum?: readonly Json[];
  /** Values that are allowed and not told. */
  readonly values?: readonly Json[] | { readonly from: string } | ForCaller<readonly Json[]>;
  /** Names that are offered, and what each stands for. */
  readonly choices?: ReadonlyMap<string, Json> | ForCaller<ReadonlyMap<string, Json>>;
  readonly hosts?: readonly AllowedHost[];
  /** Of addresses, with `hosts`; without the colon. */
  readonly schemes?: readonly string[];
  /** Folders; relative ones are the project's. */
  readonly inside?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** A narrower tool over another one. */
export interface View {
  /** The tool's name as a view: its wire name is made of the server's key and this. */
  readonly name: string;
  /** The server's key; null for a tool of this process. */
  readonly server: string | null;
  /** The tool behind it, as its server spells it. */
  readonly tool: string;
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly JsonObject[];
  readonly strict?: boolean;
  readonly arguments: ReadonlyMap<string, ArgumentLimit>;
  /** JSON Pointers of what is kept of results; a `*` stands for each element of a list. Absent: all. */
  readonly keep?: readonly string[];
  /** The tool behind stays in the list, too. */
  readonly keepsTool: boolean;
  /** SHA-256 (hex) of the definition behind it that was reviewed. */
  readonly upstream?: string;
  /** It stands in a project's file, whose word on `upstream` doesn't stand in for the person's. */
  readonly fromProject?: true;
  /** Of all that it says; functions count by their place alone. */
  readonly hash: string;
  /** Why it can't be used: it hides the tool behind it all the same. */
  readonly problem?: string;
  readonly source?: { readonly file: string; readonly line?: number };
}

/** One argument, as it is written in `bridle.json`; programs may give functions besides. */
export interface ArgumentOptions {
  readonly fixed?: Json;
  readonly from?: string;
  readonly remove?: true;
  readonly as?: string;
  readonly description?: string;
  readonly default?: Json;
  readonly optional?: boolean;
  readonly enum?: readonly Json[];
  readonly values?: readonly Json[] | { readonly from: string } | ForCaller<readonly Json[]>;
  readonly choices?: Readonly<Record<string, Json>> | ForCaller<Readonly<Record<string, Json>>>;
  readonly hosts?: readonly string[];
  readonly schemes?: readonly string[];
  readonly inside?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export interface ViewOptions {
  readonly name: string;
  /** The server's key. Absent: a tool of this process. */
  readonly server?: string;
  readonly tool: string;
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly JsonObject[];
  readonly strict?: boolean;
  /** By name, as the tool behind has them. Those that aren't named are offered as they are. */
  readonly arguments?: Readonly<Record<string, ArgumentOptions>>;
  readonly result?: { readonly keep: readonly string[] };
  readonly keep?: boolean;
  readonly upstream?: string;
}

/**
 * Narrows a tool: fewer arguments, smaller ranges, less of its results, other words. Give it to `createAgent`,
 * `toolHost` or `createCatalog` as one of `views`: the list then has the view instead of the tool, and each call is held
 * to it whatever the caller sends.
 *
 * @example
 * view({
 *   name: 'load_document',
 *   tool: 'fetch',
 *   description: 'Loads one of your documents.',
 *   arguments: { url: { choices: (who) => documentsOf(who.user) }, follow: { fixed: false } },
 * });
 * @throws BridleError `view_invalid` with what is wrong
 */
export function view(options: ViewOptions): View {
  const { name, ...rest } = options;
  const made = parseView(name, rest as unknown as JsonObject, { functions: true });
  if (made.problem === undefined) return made;
  throw new BridleError('view_invalid', `The view "${name}" can't be used: ${made.problem}`, {
    hint: 'docs/narrow-a-tool.md tells what a view may say.',
  });
}
