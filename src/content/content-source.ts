import type {
  CallContext,
  CompletionResult,
  ContentItem,
  ContentListing,
  ContentSource,
  Identity,
  ServerRef,
  SourceResult,
} from '../contracts/index.ts';
import { asking, BridleError } from '../tools/index.ts';
import {
  completionResult,
  noSuchPrompt,
  noSuchResource,
  promptResult,
  readResult,
  refused,
  thrown,
} from './content-results.ts';
import { matchTemplate } from './match-template.ts';
import type { Completer, ContentContext, OwnPrompt, OwnResource, OwnTemplate } from './own-content.ts';

/** A list that never changes, or a function that gives the one of now. */
export type Listed<T> = readonly T[] | (() => readonly T[] | Promise<readonly T[]>);

export interface ContentSourceOptions {
  readonly resources?: Listed<OwnResource>;
  readonly templates?: Listed<OwnTemplate>;
  readonly prompts?: Listed<OwnPrompt>;
  /** Names the content as that server's. Default null: of this process. */
  readonly server?: ServerRef | null;
}

/** Content of this process, and how to say that it changed. */
export interface OwnContent extends ContentSource {
  visible(item: ContentItem, who: Identity): boolean;
  /** The lists, or who may see what, changed. */
  changed(): void;
  /** The resource with this address changed. */
  updated(uri: string): void;
}

/**
 * A source of the resources and prompts of this process.
 *
 * @param options what `defineResource`, `defineResourceTemplate` and `definePrompt` made
 * @returns tell `changed()` and `updated(uri)` when something changed
 * @throws BridleError `content_name_taken` when two of one kind have the same address or name
 */
export function contentSource(options: ContentSourceOptions): OwnContent {
  const server = options.server ?? null;
  const listeners = new Set<() => void>();
  const subscribers = new Map<string, Set<() => void>>();
  const resources = listOf('resource', options.resources, (one) => one.definition.uri);
  const templates = listOf('template', options.templates, (one) => one.definition.uriTemplate);
  const prompts = listOf('prompt', options.prompts, (one) => one.definition.name);
  /** What was last listed, so that visibility is known without waiting. */
  let seen: ReadonlyMap<string, OwnResource | OwnTemplate | OwnPrompt> = new Map();

  const look = async () => {
    const [first, second, third] = await Promise.all([resources(), templates(), prompts()]);
    const all = [...first.items, ...second.items, ...third.items];
    seen = new Map(all.map(([kind, id, one]) => [`${kind} ${id}`, one]));
    return { resources: first, templates: second, prompts: third };
  };

  return {
    server,
    async list(): Promise<ContentListing> {
      const now = await look();
      const of = <T extends { readonly definition: object }>({ items }: Entries<T>) =>
        items.map(([, , { definition }]) => ({ ...(definition as T['definition']), server }));
      return {
        resources: of(now.resources),
        templates: of(now.templates),
        prompts: of(now.prompts),
        setAside: [...now.resources.twice, ...now.templates.twice, ...now.prompts.twice],
      };
    },
    visible({ kind, id }, who) {
      const one = seen.get(`${kind} ${id}`);
      return one !== undefined && seenBy(one, who);
    },
    async read(uri, ctx): Promise<SourceResult> {
      try {
        const now = await look();
        const own = now.resources.items.find(([, id]) => id === uri)?.[2];
        if (own) {
          if (!seenBy(own, ctx.who)) return noSuchResource(uri);
          return await asked('resource', uri, {}, ctx, async (context) =>
            readResult(uri, own.options.mimeType, await own.options.read(context)),
          );
        }
        for (const [, , template] of now.templates.items) {
          if (!seenBy(template, ctx.who)) continue;
          const values = matchTemplate(template.options.uriTemplate, uri);
          const read =
            values &&
            (await asked('resource', uri, {}, ctx, async (context) => {
              const returned = await template.options.read(joined(values), uri, context);
              return returned === null ? null : readResult(uri, template.options.mimeType, returned);
            }));
          if (read !== null) return read;
        }
        return noSuchResource(uri);
      } catch (error) {
        return thrown(error, ctx.signal);
      }
    },
    async prompt(name, args, ctx): Promise<SourceResult> {
      try {
        const own = (await look()).prompts.items.find(([, id]) => id === name)?.[2];
        if (!own || !seenBy(own, ctx.who)) return noSuchPrompt(name);
        const bad = badArguments(own, args);
        if (bad !== null) return refused(bad);
        return await asked('prompt', name, args, ctx, async (context) =>
          promptResult(own.options.description, await own.options.messages({ ...args }, context)),
        );
      } catch (error) {
        return thrown(error, ctx.signal);
      }
    },
    async complete(ref, argument, known, signal, who): Promise<CompletionResult> {
      try {
        const now = await look();
        let completer: Completer | undefined;
        if (ref.type === 'prompt') {
          const own = now.prompts.items.find(([, id]) => id === ref.name)?.[2];
          if (own && (who === undefined || seenBy(own, who)))
            completer = own.options.arguments?.find(({ name }) => name === argument.name)?.complete;
        } else {
          const own = now.templates.items.find(([, id]) => id === ref.uriTemplate)?.[2];
          const all = own?.options.complete;
          if (own && all && (who === undefined || seenBy(own, who)) && Object.hasOwn(all, argument.name))
            completer = all[argument.name];
        }
        if (!completer) return { values: [] };
        return completionResult(await completer(argument.value, { known, signal, ...(who && { who }) }));
      } catch {
        return { values: [] };
      }
    },
    subscribe(uri, listener) {
      const set = subscribers.get(uri) ?? new Set();
      subscribers.set(uri, set);
      const tell = () => listener();
      set.add(tell);
      return () => {
        set.delete(tell);
        if (set.size === 0 && subscribers.get(uri) === set) subscribers.delete(uri);
      };
    },
    onChange(listener) {
      const tell = () => listener();
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
    changed() {
      for (const listener of [...listeners]) quietly(listener);
    },
    updated(uri) {
      for (const listener of [...(subscribers.get(uri) ?? [])]) quietly(listener);
    },
  };
}

/** Runs an author's function that may ask: questions that stand come before whatever it made of having no answer. */
async function asked<R extends SourceResult | null>(
  kind: 'resource' | 'prompt',
  name: string,
  args: Readonly<Record<string, string>>,
  ctx: CallContext,
  run: (context: ContentContext) => Promise<R>,
): Promise<R | SourceResult> {
  const { questions, pending } = asking({ name, identity: [kind, name], onlyReads: true }, { ...args }, ctx);
  const { callId, who, signal } = ctx;
  const ended = await run({ callId, who, signal, ...questions }).catch((error: unknown) => thrown(error, signal));
  return pending() ?? ended;
}

type Kind = ContentItem['kind'];
interface Entries<T> {
  readonly items: readonly (readonly [Kind, string, T])[];
  readonly twice: ContentListing['setAside'];
}

function listOf<T>(kind: Kind, given: Listed<T> = [], idOf: (one: T) => string): () => Promise<Entries<T>> {
  const entries = (list: readonly T[]): Entries<T> => {
    const byId = new Map<string, T>();
    const twice: string[] = [];
    for (const one of list) {
      if (byId.has(idOf(one))) twice.push(idOf(one));
      else byId.set(idOf(one), one);
    }
    const text = 'Another one before it has the same address or name.';
    const reasons = [{ room: 'content', code: 'content_name_taken', text }];
    return {
      items: [...byId].map(([id, one]) => [kind, id, one] as const),
      twice: twice.map((item) => ({ kind, item, reasons })),
    };
  };
  if (typeof given === 'function') return async () => entries(await given());
  const fixed = entries(given);
  const [first] = fixed.twice;
  if (first) {
    throw new BridleError('content_name_taken', `Two ${kind}s are called ${JSON.stringify(first.item)}.`, {
      hint: 'Rename one of them.',
    });
  }
  return async () => fixed;
}

/** A view that can't be had hides the item. */
function seenBy({ options }: OwnResource | OwnTemplate | OwnPrompt, who: Identity): boolean {
  try {
    return options.visible === undefined || options.visible(who) === true;
  } catch {
    return false;
  }
}

function joined(values: Readonly<Record<string, string | readonly string[]>>): Record<string, string> {
  const flat: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(values)) flat[name] = typeof value === 'string' ? value : value.join(',');
  return flat;
}

function badArguments({ definition }: OwnPrompt, args: Readonly<Record<string, string>>): string | null {
  const declared = new Set(definition.arguments.map(({ name }) => name));
  const unknown = Object.keys(args).filter((name) => !declared.has(name));
  const missing = definition.arguments.filter(({ name, required }) => required && !Object.hasOwn(args, name));
  if (unknown.length > 0) return `Prompt "${definition.name}" has no argument ${unknown.join(', ')}.`;
  if (missing.length > 0) return `Prompt "${definition.name}" needs ${missing.map(({ name }) => name).join(', ')}.`;
  const wrong = Object.entries(args).find(([, value]) => typeof value !== 'string');
  return wrong ? `Argument ${wrong[0]} of prompt "${definition.name}" must be a string.` : null;
}

function quietly(listener: () => void): void {
  try {
    listener();
  } catch {
    // The listener's own trouble.
  }
}
