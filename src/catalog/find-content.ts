import { expandTemplate, matchTemplate, templateVariables } from '../content/index.ts';
import type {
  ContentSource,
  Identity,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplate,
} from '../contracts/index.ts';
import { type ContentState, viewOf } from './content-state.ts';

/** A resource that can be read at its source: one of its list, one of a template, or an address that it alone knows. */
export interface FoundResource {
  readonly source: ContentSource;
  readonly uri: string;
  readonly resource?: ResourceDefinition;
  readonly template?: ResourceTemplate;
}

export interface FoundPrompt {
  readonly source: ContentSource;
  readonly prompt: PromptDefinition;
}

/** What a name stands for that doesn't say of which server: it is found only where exactly one thing has it. */
export type Resolved<T> =
  | { readonly kind: 'found'; readonly found: T }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly T[] }
  | { readonly kind: 'none' };

export function resolved<T>(candidates: readonly T[]): Resolved<T> {
  const [found, more] = candidates;
  if (found === undefined) return { kind: 'none' };
  return more === undefined ? { kind: 'found', found } : { kind: 'ambiguous', candidates };
}

/** By its address, at one source: of the list first, then by a template. */
export function resourceAt(state: ContentState, uri: string, who: Identity): FoundResource | undefined {
  const { source } = state;
  const { resources, templates } = viewOf(state, who);
  const resource = resources.find((one) => one.uri === uri);
  if (resource) return { source, uri, resource };
  const template = templates.find((one) => matches(one, uri));
  return template && { source, uri, template };
}

function matches({ uriTemplate }: ResourceTemplate, uri: string): boolean {
  try {
    return matchTemplate(uriTemplate, uri) !== null;
  } catch {
    return false;
  }
}

/** Ways in which a word names a listed resource, the surest first. */
const WAYS: readonly ((resource: ResourceDefinition, word: string) => boolean)[] = [
  ({ uri }, word) => uri === word,
  ({ name }, word) => name === word,
  ({ uri }, word) => lastSegment(uri) === word,
];

function lastSegment(uri: string): string {
  const path = uri.split(/[?#]/, 1)[0] ?? '';
  const segment = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** What a word names in the lists of all sources; by the surest way that finds anything. */
export function listedAs(states: readonly ContentState[], word: string, who: Identity): readonly FoundResource[] {
  for (const way of WAYS) {
    const found = states.flatMap((state) =>
      viewOf(state, who)
        .resources.filter((resource) => way(resource, word))
        .map((resource): FoundResource => ({ source: state.source, uri: resource.uri, resource })),
    );
    if (found.length > 0) return found;
  }
  return [];
}

/** What a word names by the sources' templates: as an address, or as the one value of one that its server confirms. */
export async function templatedAs(
  states: readonly ContentState[],
  word: string,
  who: Identity,
  signal: AbortSignal,
): Promise<readonly FoundResource[]> {
  const templates = states.flatMap((state) =>
    viewOf(state, who).templates.map((template) => ({ source: state.source, template })),
  );
  const addressed = templates.filter(({ template }) => word.includes(':') && matches(template, word));
  if (addressed.length > 0) return addressed.map(({ source, template }) => ({ source, uri: word, template }));
  const confirmed = await Promise.all(
    templates.map(async ({ source, template }): Promise<FoundResource[]> => {
      const { uriTemplate } = template;
      const [variable, more] = templateVariables(uriTemplate);
      if (variable === undefined || more !== undefined) return [];
      const ref = { type: 'resource', uriTemplate } as const;
      const { values } = await source.complete(ref, { name: variable, value: word }, {}, signal, who);
      if (!values.includes(word)) return [];
      return [{ source, uri: expandTemplate(uriTemplate, { [variable]: word }), template }];
    }),
  );
  return confirmed.flat();
}

/** The prompts of this name, at all sources. */
export function promptsNamed(states: readonly ContentState[], name: string, who: Identity): readonly FoundPrompt[] {
  return states.flatMap((state) =>
    viewOf(state, who)
      .prompts.filter((prompt) => prompt.name === name)
      .map((prompt) => ({ source: state.source, prompt })),
  );
}
