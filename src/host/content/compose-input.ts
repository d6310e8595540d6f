import type { FoundPrompt, FoundResource } from '../../catalog/index.ts';
import type { JsonObject, LoopEvent, PromptArgument } from '../../contracts/index.ts';
import { BridleError, harnessNote, printable, promptNote } from '../../tools/index.ts';
import { answered } from './answered.ts';
import { CONTENT_NOTICE, type ContentPiece, checkTogether, contentBlock } from './content-block.ts';
import { type ContentCaller, type ContentPlaces, keyOf } from './content-places.ts';
import { findMentions } from './find-mentions.ts';
import { promptBlocks } from './prompt-blocks.ts';
import { resultOf } from './read-resource.ts';
import { resolveMention } from './resolve-mention.ts';
import { choosePrompt, fillPrompt, readSlash } from './slash-prompt.ts';

/** What a person said, ready for an agent. */
export interface ComposedInput {
  /** Text as it was, or Messages API blocks of one user message: content first, the words last. */
  readonly content: string | JsonObject[];
  /** Resources that are now in the conversation. */
  readonly resources: readonly FoundResource[];
  /** For the person: what goes with the words, a line each. */
  readonly attached: readonly string[];
  /** For the journal: where the content comes from. Undefined when there is none. */
  readonly label?: LoopEvent;
  /** For the person: mentions that stood for nothing. */
  readonly notes: readonly string[];
}

export interface ComposeOptions extends ContentPlaces {
  readonly caller: ContentCaller;
  /** Puts a question about a missing argument to the person. Absent: nobody is there. */
  ask?(argument: PromptArgument, prompt: FoundPrompt): Promise<string | undefined>;
  /** A slash at the beginning is meant as one. */
  readonly isPlain?: boolean;
  /** Said by the host before everything else, e.g. that something changed. */
  readonly hostNote?: string | undefined;
}

/**
 * Turns a person's words into the content of a user message: mentioned resources and files become blocks, a slash and a
 * prompt's name the prompt's own messages.
 *
 * @throws BridleError when something that was named can't be had; then nothing is to be sent
 */
export async function composeInput(text: string, options: ComposeOptions): Promise<ComposedInput> {
  const slash = options.isPlain === true ? undefined : readSlash(text);
  const prompt = slash && choosePrompt(slash.name, options.catalog, options.caller.who);
  return prompt ? ofPrompt(prompt, text.trim(), slash.rest, options) : ofWords(text, options);
}

async function ofPrompt(
  found: FoundPrompt,
  entered: string,
  rest: string,
  options: ComposeOptions,
): Promise<ComposedInput> {
  const { source, prompt } = found;
  const key = keyOf(source);
  const { values, said } = await completed(found, rest, options);
  const label = `/${key}:${prompt.name}`;
  const part = { part: 'prompt', tool: prompt.name } as const;
  const asked = answered(source.server, part, options.caller, (ctx) => source.prompt(prompt.name, values, ctx));
  const answer = resultOf(await asked, label);
  const { blocks, pieces } = promptBlocks(answer, key, prompt.name);
  checkTogether(blocks);
  const from = { server: key, prompt: prompt.name, arguments: { ...values } };
  return {
    // The server's words aren't the person's, whichever of its prompts they called.
    content: noticed([{ type: 'text', text: promptNote([entered, ...said]) }, ...blocks], options.hostNote),
    resources: pieces.map(({ uri }) => ({ source, uri })),
    attached: [`prompt ${label}`, ...pieces.map(sized)],
    label: labelOf([`prompt ${label}`, ...pieces.map(sized)], [from, ...pieces.map(originOf)]),
    notes: [],
  };
}

async function completed(
  found: FoundPrompt,
  rest: string,
  { ask }: ComposeOptions,
): Promise<{ readonly values: Readonly<Record<string, string>>; readonly said: readonly string[] }> {
  const { values, missing } = fillPrompt(found.prompt, rest);
  const asked: string[] = [];
  const all: Record<string, string> = Object.assign(Object.create(null), values);
  for (const argument of missing) {
    const said = (await ask?.(argument, found))?.trim();
    if (!said) throw argumentMissing(found, argument);
    all[argument.name] = said;
    asked.push(said);
  }
  return { values: all, said: asked };
}

function argumentMissing({ source, prompt }: FoundPrompt, { name, description }: PromptArgument): BridleError {
  const what = description ? ` (${printable(description, { maxLength: 200 })})` : '';
  const usage = prompt.arguments.map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`)).join(' ');
  return new BridleError(
    'prompt_argument_missing',
    `Prompt "${printable(prompt.name)}" needs ${printable(name)}${what}.`,
    { hint: `Write ${printable(`/${keyOf(source)}:${prompt.name} ${usage}`)}` },
  );
}

async function ofWords(text: string, options: ComposeOptions): Promise<ComposedInput> {
  const pieces: ContentPiece[] = [];
  const resources: FoundResource[] = [];
  const notes: string[] = [];
  const seen = new Set<string>();
  for (const mention of findMentions(text)) {
    if (seen.has(mention.what)) continue;
    seen.add(mention.what);
    const resolved = await resolveMention(mention, options, options.caller);
    if (resolved.kind === 'word') notes.push(resolved.why);
    else {
      pieces.push(...resolved.pieces);
      if (resolved.resource) resources.push(resolved.resource);
    }
  }
  const blocks = pieces.map(contentBlock);
  checkTogether(blocks);
  if (blocks.length === 0 && options.hostNote === undefined) return { content: text, resources, notes, attached: [] };
  const content = noticed([...blocks, { type: 'text', text }], options.hostNote);
  if (blocks.length === 0) return { content, resources, notes, attached: [] };
  const attached = pieces.map(sized);
  return { content, resources, notes, attached, label: labelOf(attached, pieces.map(originOf)) };
}

/** The notice goes with the first document; where there are only images, the system prompt says the same. */
function noticed(blocks: readonly JsonObject[], hostNote: string | undefined): JsonObject[] {
  const first = blocks.findIndex(({ type }) => type === 'document');
  const all = blocks.map((block, at) => (at === first ? { ...block, context: CONTENT_NOTICE } : block));
  return hostNote === undefined ? all : [{ type: 'text', text: harnessNote(hostNote) }, ...all];
}

function sized({ label, text, blob }: ContentPiece): string {
  return text === undefined
    ? `${label} (${Math.floor(((blob?.length ?? 0) * 3) / 4)} bytes)`
    : `${label} (${text.length} characters)`;
}

function originOf({ server, uri }: ContentPiece): JsonObject {
  return server === null ? { file: uri } : { server, uri };
}

function labelOf(what: readonly string[], content: readonly JsonObject[]): NonNullable<ComposedInput['label']> {
  const message = `content in what the person says next: ${what.join(', ')}`;
  return { v: 1, at: Date.now(), type: 'edit', detail: { message, content: [...content] } };
}
