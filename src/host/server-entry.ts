import { isAbsolute, resolve } from 'node:path';
import type { Reason } from '../contracts/index.ts';
import { expand, MODEL_KEYS } from './expand.ts';
import { type HttpEntry, isOpenHttp } from './http-entry.ts';
import type { StdioEntry } from './mcp-json.ts';
import { hostReason } from './reason.ts';
import type { ServerScope } from './server-places.ts';

/** A server ready to be connected to, in the shape that its client takes. */
export type ServerEntry = StdioServerEntry | HttpServerEntry;

/** A server that is started by its command. */
export interface StdioServerEntry extends CommonServerEntry {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
}

/** A server that is reached over the network. */
export interface HttpServerEntry extends CommonServerEntry {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A command line for the shell, which expands its variables and prints more headers as a JSON object. */
  readonly headersHelper?: string;
  /** The entry names the old HTTP+SSE transport. */
  readonly transport?: 'sse';
}

interface CommonServerEntry {
  readonly key: string;
  readonly scope: ServerScope;
  readonly era: 'auto' | 'legacy' | 'modern';
  readonly trustAnnotations: boolean;
  /** Milliseconds. */
  readonly startMs?: number;
  readonly idleMs?: number;
  readonly hardMs?: number;
  /** Most characters of a result that a model is shown. */
  readonly maxResultChars?: number;
  readonly source: NonNullable<Reason['source']>;
}

/** A server, and what was odd about its variables. */
interface Expanded<S extends ServerEntry> {
  readonly server: S;
  readonly warnings: readonly Reason[];
}

/**
 * Expands an entry's strings and resolves its folder. Only for an entry that the user has trusted: its variables go to
 * its program, or to its host.
 *
 * @param variables what may be expanded
 * @param root the project's folder: the working directory unless the entry names one
 */
export function expandEntry(
  entry: StdioEntry,
  scope: ServerEntry['scope'],
  variables: ReadonlyMap<string, string>,
  root: string,
): Expanded<StdioServerEntry>;
export function expandEntry(
  entry: HttpEntry,
  scope: ServerEntry['scope'],
  variables: ReadonlyMap<string, string>,
  root: string,
): Expanded<HttpServerEntry>;
export function expandEntry(
  entry: StdioEntry | HttpEntry,
  scope: ServerEntry['scope'],
  variables: ReadonlyMap<string, string>,
  root: string,
): Expanded<ServerEntry>;
export function expandEntry(
  entry: StdioEntry | HttpEntry,
  scope: ServerEntry['scope'],
  variables: ReadonlyMap<string, string>,
  root: string,
): Expanded<ServerEntry> {
  const warnings: Reason[] = [];
  const expanded = (text: string, where: string, modelKeys = false) => {
    const result = expand(text, variables, { modelKeys });
    for (const note of result.notes) {
      warnings.push(hostReason(note.code, `${where} of "${entry.key}": ${note.text}`, entry.source));
    }
    return result.text;
  };
  const common = {
    key: entry.key,
    scope,
    era: entry.era ?? ('auto' as const),
    trustAnnotations: entry.trustAnnotations,
    ...Object.fromEntries(entry.limits),
    source: entry.source,
  };
  if (entry.kind === 'http') {
    const url = expanded(entry.url, 'url');
    if (isOpenHttp(url)) {
      const text = `"${entry.key}" is reached by http at another machine: what goes there can be read on the way. Use https.`;
      warnings.push(hostReason('open_http', text, entry.source));
    }
    const headers: Record<string, string> = Object.create(null);
    for (const [name, value] of entry.headers) headers[name] = expanded(value, `the header "${name}"`).trim();
    const server: HttpServerEntry = {
      kind: 'http',
      ...common,
      url,
      headers,
      ...(entry.headersHelper !== undefined && { headersHelper: entry.headersHelper }),
      ...(entry.sse && { transport: 'sse' }),
    };
    return { server, warnings };
  }
  const env: Record<string, string> = Object.create(null);
  for (const [name, value] of entry.env) {
    env[name] = expanded(value, `"${name}" in env`, true);
    if (MODEL_KEYS.has(name) && !warnings.some(({ code }) => code === 'model_key')) {
      const text = `"${entry.key}" is given ${name}, a model's key, by its env.`;
      warnings.push(hostReason('model_key', text, entry.source));
    }
  }
  const cwd = expanded(entry.cwd ?? root, 'cwd');
  const server: StdioServerEntry = {
    kind: 'stdio',
    ...common,
    command: expanded(entry.command, 'command'),
    args: entry.args.map((arg, index) => expanded(arg, `argument ${index + 1}`)),
    env,
    cwd: isAbsolute(cwd) ? cwd : resolve(root, cwd),
  };
  return { server, warnings };
}

/** Names of the parent's variables that an entry takes in. */
export function variablesUsed(entry: StdioEntry | HttpEntry): readonly string[] {
  const texts =
    entry.kind === 'http'
      ? [entry.url, ...entry.headers.values()]
      : [entry.command, ...entry.args, ...entry.env.values(), entry.cwd ?? ''];
  const none: ReadonlyMap<string, string> = new Map();
  return [...new Set(texts.flatMap((text) => expand(text, none, { modelKeys: true }).uses))];
}
