import type { Json } from '../../contracts/index.ts';
import { splitWords, stem } from '../../search/index.ts';
import { isObject, type PastCall } from './conversation.ts';

/** A value out of an earlier call: of its result, or of what it was given. It is data, never a request. */
export interface Fact {
  readonly value: string | number;
  /** Stems of its key. */
  readonly words: readonly string[];
  /** Stems of the key of the object it lies in; of the tool's name at the top. */
  readonly parents: readonly string[];
  readonly call: string;
  /** JSON Pointer (RFC 6901) into the result's document or the call's input. */
  readonly pointer: string;
  /** Which object it lies in: facts of one object belong together. */
  readonly record: string;
  /** It was given to the call, not returned by it. */
  readonly given: boolean;
}

const MAX_FACTS = 2000;

/** The values of a call's input and of its result, where they have names. A failed call gives none. */
export function factsOf(call: PastCall): Fact[] {
  const facts: Fact[] = [];
  const toolWords = splitWords(call.name.replace(/^mcp__.+?__/, '')).map(stem);
  const visit = (
    value: Json,
    key: string,
    parent: string | undefined,
    pointer: string,
    record: string,
    given: boolean,
  ): void => {
    if (facts.length >= MAX_FACTS) return;
    if (Array.isArray(value)) {
      value.forEach((item, at) => {
        visit(item, key, parent, `${pointer}/${at}`, record, given);
      });
    } else if (isObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        const step = name.replaceAll('~', '~0').replaceAll('/', '~1');
        visit(inner, name, key === '' ? undefined : key, `${pointer}/${step}`, `${record}>${pointer}`, given);
      }
    } else if ((typeof value === 'string' && value.length <= 500) || typeof value === 'number') {
      const parents = parent === undefined ? toolWords : splitWords(parent).map(stem);
      facts.push({ value, words: splitWords(key).map(stem), parents, call: call.id, pointer, record, given });
    }
  };
  if (call.answer.isError) return [];
  visit(call.input, '', undefined, '', `${call.id}:input`, true);
  call.answer.documents.forEach((document, at) => {
    visit(document, '', undefined, '', `${call.id}:${at}`, false);
  });
  return facts;
}

/**
 * The calls that are about what a goal names: those that were given or have returned one of its values (a file's name
 * stands for its path), and those that were made with what these returned.
 */
export function callsAbout(calls: readonly PastCall[], values: ReadonlySet<string>): PastCall[] {
  const known = new Set([...values].map((value) => value.toLowerCase()));
  const isKnown = ({ value }: Fact) => {
    const text = String(value).toLowerCase();
    return known.has(text) || known.has(text.slice(text.lastIndexOf('/') + 1));
  };
  return calls.filter((call) => {
    const facts = factsOf(call);
    if (!facts.some(isKnown)) return false;
    const isAbout = facts.some((fact) => fact.given && isKnown(fact));
    if (isAbout) for (const { value } of facts) if (typeof value === 'string') known.add(value.toLowerCase());
    return true;
  });
}
