import type { ContentCatalog, FoundPrompt } from '../../catalog/index.ts';
import type { Identity, PromptArgument, PromptDefinition } from '../../contracts/index.ts';
import { BridleError, printable, wireName, wireServerPart } from '../../tools/index.ts';
import { keyedBy, keyOf } from './content-places.ts';

/** `/name …`, as entered. */
export interface SlashText {
  readonly name: string;
  /** What follows the name, trimmed. */
  readonly rest: string;
}

/** Reads a slash and a name at the beginning of one line. A path, with another slash in it, is none. */
export function readSlash(text: string): SlashText | undefined {
  const [, name, rest = ''] = /^\/([^\s/]+)(?:[ \t]+([^\n]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, rest: rest.trim() };
}

/**
 * The one prompt that a name means: `server:prompt`, `mcp__server__prompt`, or a bare name that one server alone has.
 * Undefined when none does.
 *
 * @throws BridleError `prompt_ambiguous`; `prompt_not_found` for a prompt that a named server doesn't have
 */
export function choosePrompt(name: string, catalog: ContentCatalog, who: Identity): FoundPrompt | undefined {
  const { prompts } = catalog.list(who);
  const keyed = keyedBy(name, catalog);
  const inServer = keyed && catalog.prompt(keyed.key, keyed.rest, who);
  if (inServer) return inServer;
  const wired = prompts.find((prompt) => prompt.server && wireName(prompt.server.key, prompt.name) === name);
  if (wired?.server) return catalog.prompt(wired.server.key, wired.name, who);
  const resolved = catalog.resolvePrompt(name, who);
  if (resolved.kind === 'found') return resolved.found;
  if (resolved.kind === 'ambiguous') throw ambiguous(name, resolved.candidates);
  const key =
    keyed?.key ??
    catalog
      .sources()
      .map(keyOf)
      .find((one) => name.startsWith(`mcp__${wireServerPart(one)}__`));
  if (key === undefined) return undefined;
  const has = prompts.filter(({ server }) => server?.key === key).map((prompt) => printable(`/${key}:${prompt.name}`));
  throw new BridleError('prompt_not_found', `There is no prompt /${printable(name)}.`, {
    hint: has.length > 0 ? `There are ${has.slice(0, 12).join(', ')}.` : 'That server has no prompts.',
  });
}

function ambiguous(name: string, candidates: readonly FoundPrompt[]): BridleError {
  const choices = candidates.map(({ source, prompt }) => printable(`/${keyOf(source)}:${prompt.name}`));
  return new BridleError('prompt_ambiguous', `/${printable(name)} can be ${choices.join(' or ')}.`, {
    hint: 'Write the one that you mean.',
  });
}

/** One word of arguments: `"two words"`, `key=value`, `plain`. */
interface Word {
  readonly key?: string;
  readonly value: string;
}

const WORD = /(?:([^\s"'=]+)=)?(?:"([^"]*)"|'([^']*)')(?=\s|$)|([^\s"'=]+)=(\S*)|(\S+)/g;

function splitWords(text: string): readonly Word[] {
  return [...text.matchAll(WORD)].map((match) => {
    const [, key, double, single, plainKey, plainValue, plain = ''] = match;
    const value = double ?? single ?? plainValue ?? plain;
    const named = key ?? plainKey;
    return { value, ...(named !== undefined && { key: named }) };
  });
}

/** Arguments of a prompt as far as they were given, and those that are needed still. */
export interface FilledPrompt {
  readonly values: Readonly<Record<string, string>>;
  readonly missing: readonly PromptArgument[];
}

/** What is known of a prompt's arguments while they are still being written. */
export interface GivenArguments {
  readonly values: Readonly<Record<string, string>>;
  /** Names of those that have no value yet, in their order. */
  readonly open: readonly string[];
}

/** Arguments as far as they are written: never throws, and words that are too many count for nothing. */
export function givenArguments(prompt: PromptDefinition, text: string): GivenArguments {
  const { values, plain } = sorted(prompt, text);
  const names = prompt.arguments.map(({ name }) => name).filter((name) => !Object.hasOwn(values, name));
  for (const word of plain) {
    const name = names.shift();
    if (name !== undefined) values[name] = word;
  }
  return { values, open: names };
}

/** The words that name their argument, and the others. */
function sorted(prompt: PromptDefinition, text: string) {
  const values: Record<string, string> = Object.create(null);
  const names = new Set(prompt.arguments.map(({ name }) => name));
  const plain: string[] = [];
  for (const { key, value } of splitWords(text)) {
    if (key === undefined) plain.push(value);
    else if (names.has(key)) values[key] = value;
    else plain.push(`${key}=${value}`);
  }
  return { values, plain };
}

/**
 * Fills a prompt's arguments: `key=value` where the prompt has such an argument, the others in their order. For a prompt
 * of one argument all words belong to it.
 *
 * @throws BridleError `prompt_arguments_invalid` when there are more than it takes
 */
export function fillPrompt(prompt: PromptDefinition, text: string): FilledPrompt {
  const { values, plain } = sorted(prompt, text);
  const open = prompt.arguments.filter(({ name }) => !Object.hasOwn(values, name));
  const [only] = prompt.arguments;
  if (only && open.length === 1 && prompt.arguments.length === 1 && plain.length > 1) {
    values[only.name] = text.trim();
  } else {
    if (plain.length > open.length) throw tooMany(prompt, text);
    for (const [at, word] of plain.entries()) values[open[at]?.name ?? ''] = word;
  }
  return { values, missing: prompt.arguments.filter(({ name, required }) => required && !values[name]) };
}

function tooMany(prompt: PromptDefinition, text: string): BridleError {
  const takes = prompt.arguments.map(({ name }) => printable(name)).join(', ');
  return new BridleError(
    'prompt_arguments_invalid',
    `Prompt "${printable(prompt.name)}" takes ${takes === '' ? 'no arguments' : takes}; there is more in ${printable(JSON.stringify(text), { maxLength: 200 })}.`,
    { hint: 'Put a value of several words in quotation marks, or write it as name="several words".' },
  );
}
