import type { Json, JsonObject } from '../../contracts/index.ts';
import { stem } from '../../search/index.ts';
import {
  type Candidate,
  fromFacts,
  fromWords,
  type IdClaim,
  joinedPaths,
  type Sayings,
  type Source,
} from './candidates.ts';
import type { Fact } from './facts.ts';
import type { Goal } from './goals.ts';
import type { Mention } from './mentions.ts';
import type { Field, ToolCard } from './tool-card.ts';

export interface Filled {
  readonly input: JsonObject;
  /** Required fields for which there is no value. */
  readonly missing: readonly Field[];
  /** The mentions that went into it. */
  readonly used: readonly Mention[];
  /** Of every value, by JSON Pointer into the input. */
  readonly sources: ReadonlyMap<string, Source>;
}

/** What may fill a call, beside the goal itself. */
export interface Known {
  /** Values said in the sentences around the goal. */
  readonly around: readonly Mention[];
  readonly facts: readonly Fact[];
  readonly claims: readonly IdClaim[];
  /** What the user answered when asked for a field, named by its path joined by dots. */
  readonly answers: readonly { readonly field: string; readonly text: string }[];
}

const FILE_WORDS: ReadonlySet<string> = new Set(['file', 'directory', 'folder', 'path', 'document'].map(stem));
const WILL_DO = 0.35;
const CERTAIN = 0.9;

/** Fills a tool's input from what is known, each value once, best fit first. Never invents one. */
export function fillArguments(card: ToolCard, goal: Goal, known: Known): Filled {
  const said = sayingsOf(goal, known, card);
  const pathFields = card.fields.filter((field) => field.required && /^(?:path|query|text|name)$/.test(field.sort));
  const offers = card.fields.flatMap((field) => {
    const words = [...fromWords(field, said), ...(pathFields.length === 1 ? joinedPaths(field, said) : [])];
    const found = [
      ...words,
      ...answerFor(field, known),
      // The schema's own value beats one that some earlier result happens to have under the same name.
      ...(hasPreset(field) ? [] : unambiguous(fromFacts(field, known.facts, said), known.facts, goal)),
    ];
    return found
      .filter(({ score }) => score >= (field.required ? WILL_DO : CERTAIN))
      .map((offer) => ({ field, offer }));
  });
  // Stable: equal scores keep the order of the fields, and within a field the order in which things were said.
  offers.sort((a, b) => rank(b) - rank(a));
  const taken = new Set<Mention>();
  const chosen = new Map<Field, Candidate[]>();
  for (const { field, offer } of offers) {
    const already = chosen.get(field);
    if (already && !(field.many && addsTo(already, offer))) continue;
    if (offer.uses.some((mention) => taken.has(mention))) continue;
    chosen.set(field, [...(already ?? []), offer]);
    for (const mention of offer.uses) taken.add(mention);
  }
  return assemble(card, chosen, taken);
}

function sayingsOf(goal: Goal, known: Known, card?: ToolCard): Sayings {
  const texts =
    card?.fields.filter((field) => field.required && (field.sort === 'text' || field.sort === 'name')) ?? [];
  return {
    text: goal.text,
    mentions: goal.mentions,
    ...(goal.head !== undefined && { head: goal.head }),
    ...(goal.rest !== undefined && { rest: goal.rest }),
    around: known.around,
    claims: known.claims,
    files: card?.nouns.some((noun) => FILE_WORDS.has(noun)) ?? false,
    several: texts.length > 1,
  };
}

/** The values that earlier results offer for a field, to choose from. */
export function optionsFor(field: Field, goal: Goal, known: Known): string[] {
  const offers = fromFacts(field, known.facts, sayingsOf(goal, known));
  return [...new Set(offers.map(({ value }) => String(value)))];
}

function rank({ field, offer }: { field: Field; offer: Candidate }): number {
  return offer.score + (field.required ? 0.3 : 0);
}

/** A list takes more than one value, if they were said alike. */
function addsTo(already: readonly Candidate[], offer: Candidate): boolean {
  const [first] = already;
  if (!first || offer.uses.length === 0 || first.uses.length === 0) return false;
  return offer.uses[0]?.kind === first.uses[0]?.kind && !already.some((one) => one.value === offer.value);
}

function answerFor(field: Field, known: Known): Candidate[] {
  const answer = known.answers.findLast((one) => one.field === field.path.join('.'));
  const text = (answer?.text ?? '').trim().replace(/[.!]+$/, '');
  const { sort } = field;
  if (text === '' || sort === 'number' || sort === 'boolean' || sort === 'choice') return [];
  if (/\s/.test(text) && /^(?:id|path|url|email|date)$/.test(sort)) return [];
  return [{ value: text, source: { from: 'conversation', text }, score: 0.8, uses: [] }];
}

/** Results that offer several values for one field offer none, unless one of them lies beside what the goal names. */
function unambiguous(offers: readonly Candidate[], facts: readonly Fact[], goal: Goal): Candidate[] {
  if (new Set(offers.map(({ value }) => value)).size <= 1) return offers.slice(0, 1);
  const named = new Set(goal.mentions.map(({ text }) => text.toLowerCase()));
  const records = new Set(
    facts.filter(({ value }) => named.has(String(value).toLowerCase())).map(({ record }) => record),
  );
  const near = offers.filter(({ source }) =>
    facts.some(
      (fact) =>
        source.from === 'result' &&
        fact.call === source.call &&
        fact.pointer === source.pointer &&
        records.has(fact.record),
    ),
  );
  return new Set(near.map(({ value }) => value)).size === 1 ? near.slice(0, 1) : [];
}

function assemble(
  card: ToolCard,
  chosen: ReadonlyMap<Field, readonly Candidate[]>,
  taken: ReadonlySet<Mention>,
): Filled {
  const input: JsonObject = {};
  const missing: Field[] = [];
  const sources = new Map<string, Source>();
  for (const field of card.fields) {
    const offers = chosen.get(field) ?? preset(field);
    if (offers.length === 0) {
      if (field.required) missing.push(field);
      continue;
    }
    const pointer = `/${field.path.join('/')}`;
    if (field.many && chosen.has(field)) {
      put(
        input,
        field.path,
        offers.map(({ value }) => value),
      );
      offers.forEach(({ source }, at) => {
        sources.set(`${pointer}/${at}`, source);
      });
    } else {
      const [offer] = offers;
      if (!offer) continue;
      put(input, field.path, offer.value);
      sources.set(pointer, offer.source);
    }
  }
  return { input, missing, used: [...taken], sources };
}

function hasPreset({ schema }: Field): boolean {
  return schema.const !== undefined || schema.default !== undefined;
}

/** What the schema itself gives for a required field. */
function preset(field: Field): Candidate[] {
  const { schema } = field;
  const [only, second] = Array.isArray(schema.enum) ? schema.enum : [];
  if (!field.required) return [];
  const value = schema.const ?? schema.default ?? (second === undefined ? only : undefined);
  if (value === undefined) return [];
  const from = schema.const !== undefined ? 'const' : schema.default !== undefined ? 'default' : 'enum';
  return [{ value, source: { from }, score: 0, uses: [] }];
}

function put(target: JsonObject, path: readonly (string | 0)[], value: Json): void {
  let place: Json = target;
  path.forEach((step, at) => {
    const last = at === path.length - 1;
    const next: Json = last ? value : path[at + 1] === 0 ? [] : {};
    if (Array.isArray(place)) {
      if (last || place[0] === undefined) place[0] = next;
      place = place[0] ?? null;
    } else if (typeof place === 'object' && place !== null) {
      if (last || !Object.hasOwn(place, step)) {
        Object.defineProperty(place, step, { value: next, enumerable: true, writable: true, configurable: true });
      }
      place = place[step as string] ?? null;
    }
  });
}
