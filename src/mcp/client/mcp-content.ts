import { MAX_COMPLETIONS, type NotRead, promptFromMcp, resourceFromMcp, templateFromMcp } from '../../content/index.ts';
import type {
  CallContext,
  CompletionResult,
  Connection,
  ContentListing,
  ContentSource,
  JsonObject,
  RawJson,
  ServerRef,
  SourceResult,
} from '../../contracts/index.ts';
import { isBridleError, printable } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { McpError, messageOf } from './errors.ts';
import { listAll } from './list-all.ts';
import { onListChanges } from './list-changes.ts';
import { isObject } from './message.ts';
import { failureOf, resultOf } from './source-results.ts';
import type { About } from './supervisor.ts';
import { secondLeg, urlRequired } from './url-required.ts';

/** A connection whose server says what it offers. */
export type ContentConnection = Connection & {
  readonly limits?: { readonly idleMs?: number; readonly hardMs?: number };
  ready(signal: AbortSignal, ms: number): Promise<Pick<About, 'capabilities'>>;
  watch?(uri: string): () => void;
};

const LIST_IDLE_MS = 60_000;
const LIST_HARD_MS = 120_000;
/** Somebody is typing: an answer that comes later is of no use. */
const COMPLETE_MS = 10_000;
const UPDATED = 'notifications/resources/updated';
const CHANGES: ReadonlySet<string> = new Set([
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
]);

type Kind = ContentListing['setAside'][number]['kind'];
type Aside = ContentListing['setAside'][number];

/**
 * The resources and prompts of an MCP server as a ContentSource, in either era. Only what the server's capabilities offer
 * is asked for; definitions and results are passed on as received, and one that can't be used is set aside alone.
 */
export function mcpContent(connection: ContentConnection): ContentSource {
  const { server, limits } = connection;

  const all = async <T extends object>(
    signal: AbortSignal,
    kind: Kind,
    [method, member]: readonly [string, string],
    read: (server: ServerRef, raw: RawJson) => T | NotRead,
  ): Promise<{ readonly items: readonly T[]; readonly setAside: readonly Aside[] }> => {
    const { items, reasons } = await listAll(connection, method, member, {
      signal,
      idleMs: limits?.idleMs ?? LIST_IDLE_MS,
      hardMs: limits?.hardMs ?? LIST_HARD_MS,
    }).catch((error: unknown) => {
      // Many servers of resources have no templates, and don't know the question.
      if (error instanceof McpError && error.rpc?.code === CODES.unknownMethod) return { items: [], reasons: [] };
      throw error;
    });
    const usable: T[] = [];
    const setAside: Aside[] = reasons.length > 0 ? [{ kind, item: '*', reasons }] : [];
    for (const raw of items) {
      const one = read(server, raw);
      if ('setAside' in one) setAside.push({ kind, item: one.item, reasons: one.setAside });
      else usable.push(one);
    }
    return { items: usable, setAside };
  };

  const request = async (method: string, what: string, params: JsonObject, ctx: CallContext): Promise<SourceResult> => {
    const leg = secondLeg(ctx.answers);
    if ('failure' in leg) return { kind: 'failure', failure: leg.failure };
    try {
      return resultOf(what, await connection.request(method, { ...params, ...leg.params }, ctx));
    } catch (error) {
      return urlRequired(error) ?? { kind: 'failure', failure: failureOf(error, what) };
    }
  };

  return {
    server,
    async list(signal): Promise<ContentListing> {
      const { capabilities } = await connection.ready(signal, limits?.hardMs ?? LIST_HARD_MS);
      const offers = (name: string) => isObject(capabilities[name]);
      const none = { items: [], setAside: [] };
      const parts = await Promise.allSettled([
        offers('resources') ? all(signal, 'resource', ['resources/list', 'resources'], resourceFromMcp) : none,
        offers('resources')
          ? all(signal, 'template', ['resources/templates/list', 'resourceTemplates'], templateFromMcp)
          : none,
        offers('prompts') ? all(signal, 'prompt', ['prompts/list', 'prompts'], promptFromMcp) : none,
      ]);
      const asked = [offers('resources'), offers('resources'), offers('prompts')];
      const failed = parts.flatMap((part) => (part.status === 'rejected' ? [part.reason] : []));
      // One list that can't be had costs the others nothing, unless there are no others.
      if (failed.length > 0 && failed.length === asked.filter(Boolean).length) throw failed[0];
      const [resources, templates, prompts] = parts;
      const setAside = parts.flatMap((part, at) =>
        part.status === 'fulfilled' ? part.value.setAside : [notListed(KINDS[at] ?? 'prompt', server, part.reason)],
      );
      return {
        resources: resources.status === 'fulfilled' ? resources.value.items : [],
        templates: templates.status === 'fulfilled' ? templates.value.items : [],
        prompts: prompts.status === 'fulfilled' ? prompts.value.items : [],
        setAside,
      };
    },
    read: (uri, ctx) => request('resources/read', uri, { uri }, ctx),
    prompt: (name, args, ctx) => request('prompts/get', name, { name, arguments: { ...args } }, ctx),
    async complete(ref, argument, known, signal): Promise<CompletionResult> {
      try {
        const { capabilities } = await connection.ready(signal, COMPLETE_MS);
        if (!isObject(capabilities.completions)) return { values: [] };
        const params: JsonObject = {
          ref:
            ref.type === 'prompt'
              ? { type: 'ref/prompt', name: ref.name }
              : { type: 'ref/resource', uri: ref.uriTemplate },
          argument: { ...argument },
          ...(Object.keys(known).length > 0 && { context: { arguments: { ...known } } }),
        };
        const limited = { signal, idleMs: COMPLETE_MS, hardMs: COMPLETE_MS };
        return completionOf(await connection.request('completion/complete', params, limited));
      } catch {
        return { values: [] };
      }
    },
    subscribe(uri, listener) {
      const stop = connection.onNotification((method, params) => {
        if (method === UPDATED && isAbout(params, uri)) listener();
      });
      const unwatch = connection.watch?.(uri);
      return () => {
        stop();
        unwatch?.();
      };
    },
    onChange: (listener) => onListChanges(connection, CHANGES, listener),
  };
}

const KINDS: readonly Kind[] = ['resource', 'template', 'prompt'];

function notListed(kind: Kind, { key }: ServerRef, error: unknown): Aside {
  const hint = isBridleError(error) && error.hint !== undefined ? ` ${error.hint}` : '';
  const text = printable(`${key}: its ${kind}s could not be listed: ${messageOf(error)}${hint}`, { maxLength: 1000 });
  return { kind, item: '*', reasons: [{ room: 'mcp/client', code: 'mcp_not_listed', text }] };
}

/** A server may tell of a part of the resource that was subscribed to (MCP, Resources). */
function isAbout(params: RawJson, uri: string): boolean {
  const detail = params.parse();
  const changed = isObject(detail) ? detail.uri : undefined;
  return typeof changed === 'string' && (changed === uri || changed.startsWith(uri.endsWith('/') ? uri : `${uri}/`));
}

/** What isn't text, or hides something, can't be offered to a person. */
function completionOf(raw: RawJson): CompletionResult {
  const result = raw.parse();
  const completion = isObject(result) ? result.completion : undefined;
  if (!isObject(completion) || !Array.isArray(completion.values)) return { values: [] };
  const { total, hasMore } = completion;
  const values = completion.values.filter((value) => typeof value === 'string' && printable(value) === value);
  return {
    values: (values as string[]).slice(0, MAX_COMPLETIONS),
    ...(typeof total === 'number' && { total }),
    ...(typeof hasMore === 'boolean' && { hasMore }),
  };
}
