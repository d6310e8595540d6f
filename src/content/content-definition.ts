import type {
  Json,
  JsonObject,
  PromptArgument,
  PromptDefinition,
  RawJson,
  Reason,
  ResourceDefinition,
  ResourceTemplate,
  ServerRef,
} from '../contracts/index.ts';
import { cutAt, isBridleError, isJsonObject, ownMember, printable, stringMember } from '../tools/index.ts';
import { parseTemplate } from './template-parts.ts';

/** In UTF-16 units. */
const MAX_DESCRIPTION = 16 * 1024;
const MAX_TITLE = 256;
const MAX_ADDRESS = 4096;
const MAX_NAME = 1024;
const MAX_ARGUMENTS = 100;

/** `item` is the address or name, as far as it is known. */
export interface NotRead {
  readonly item: string;
  readonly setAside: readonly Reason[];
}

/** Thrown inside this file: what costs the item its place. */
class Unreadable extends Error {
  readonly item: string;
  readonly code: string;
  constructor(item: string, code: string, message: string) {
    super(message);
    this.item = item;
    this.code = code;
  }
}

function reading<T>(raw: RawJson, read: (entry: JsonObject) => T): T | NotRead {
  const aside = (item: string, code: string, text: string): NotRead => ({
    item: printable(item, { maxLength: 200 }),
    setAside: [{ room: 'content', code, text }],
  });
  try {
    const entry = raw.parse();
    if (!isJsonObject(entry)) return aside('', 'content_not_object', 'Its definition is not an object.');
    return read(entry);
  } catch (error) {
    if (error instanceof Unreadable) return aside(error.item, error.code, error.message);
    if (error instanceof SyntaxError) return aside('', 'content_not_json', 'Its definition is not JSON.');
    throw error;
  }
}

/** What names an item goes back to its server letter by letter, so it is never cleaned: it is right, or it is none. */
function identifier(entry: JsonObject, member: string, limit: number): string {
  const value = stringMember(entry, member) ?? '';
  if (value.trim() === '') throw new Unreadable('', 'content_unnamed', `Its definition has no ${member}.`);
  if (value.length > limit) {
    const text = `Its ${member} has ${value.length} characters; at most ${limit}.`;
    throw new Unreadable(value, 'content_name_too_long', text);
  }
  if (printable(value) !== value) {
    const text = `Its ${member} has control or invisible characters.`;
    throw new Unreadable(value, 'content_name_unprintable', text);
  }
  return value;
}

function shown(entry: JsonObject): { readonly title?: string; readonly description?: string } {
  const title = printable(stringMember(entry, 'title') ?? '', { maxLength: MAX_TITLE });
  const description = printable(stringMember(entry, 'description') ?? '', { newlines: true });
  return {
    ...(title !== '' && { title }),
    ...(description !== '' && {
      description: description.length > MAX_DESCRIPTION ? `${cutAt(description, MAX_DESCRIPTION - 1)}…` : description,
    }),
  };
}

function typed(entry: JsonObject): { readonly mimeType?: string } {
  const mimeType = printable(stringMember(entry, 'mimeType') ?? '', { maxLength: MAX_TITLE });
  return mimeType === '' ? {} : { mimeType };
}

/** A name that is for people only: the address stands in for one that is missing. */
function label(entry: JsonObject, address: string): string {
  return printable(stringMember(entry, 'name') ?? '', { maxLength: MAX_TITLE }) || cutAt(address, MAX_TITLE);
}

/**
 * Reads one entry of a server's `resources/list` (MCP `Resource`).
 *
 * @param server null for one of this process
 * @returns the definition, or why it is set aside; never a throw for what the entry holds
 */
export function resourceFromMcp(server: ServerRef | null, raw: RawJson): ResourceDefinition | NotRead {
  return reading(raw, (entry) => {
    const uri = identifier(entry, 'uri', MAX_ADDRESS);
    const size = ownMember(entry, 'size');
    return {
      server,
      uri,
      name: label(entry, uri),
      ...shown(entry),
      ...typed(entry),
      ...(typeof size === 'number' && size >= 0 && { size }),
      raw,
    };
  });
}

/** Reads one entry of a server's `resources/templates/list` (MCP `ResourceTemplate`); as `resourceFromMcp`. */
export function templateFromMcp(server: ServerRef | null, raw: RawJson): ResourceTemplate | NotRead {
  return reading(raw, (entry) => {
    const uriTemplate = identifier(entry, 'uriTemplate', MAX_ADDRESS);
    try {
      parseTemplate(uriTemplate);
    } catch (error) {
      if (!isBridleError(error)) throw error;
      throw new Unreadable(uriTemplate, 'content_bad_template', error.message);
    }
    return { server, uriTemplate, name: label(entry, uriTemplate), ...shown(entry), ...typed(entry), raw };
  });
}

/** Reads one entry of a server's `prompts/list` (MCP `Prompt`); as `resourceFromMcp`. */
export function promptFromMcp(server: ServerRef | null, raw: RawJson): PromptDefinition | NotRead {
  return reading(raw, (entry) => {
    const name = identifier(entry, 'name', MAX_NAME);
    return { server, name, ...shown(entry), arguments: argumentsOf(name, ownMember(entry, 'arguments')), raw };
  });
}

function argumentsOf(prompt: string, given: Json | undefined): readonly PromptArgument[] {
  if (given === undefined || given === null) return [];
  const bad = (text: string) => new Unreadable(prompt, 'content_bad_arguments', text);
  if (!Array.isArray(given)) throw bad('Its arguments are no list.');
  if (given.length > MAX_ARGUMENTS) throw bad(`It has ${given.length} arguments; at most ${MAX_ARGUMENTS}.`);
  const byName = new Map<string, PromptArgument>();
  for (const entry of given) {
    const name = isJsonObject(entry) ? stringMember(entry, 'name') : undefined;
    // One that can't be named can't be given, and a prompt without it may be another.
    if (!isJsonObject(entry) || name === undefined || name.trim() === '' || printable(name) !== name)
      throw bad('One of its arguments has no name that can be written.');
    if (name.length > MAX_NAME) throw bad(`The name of an argument has more than ${MAX_NAME} characters.`);
    if (byName.has(name)) throw bad(`Two of its arguments are called "${name}".`);
    byName.set(name, { name, ...shown(entry), required: ownMember(entry, 'required') === true });
  }
  return [...byName.values()];
}

/** The MCP object under which it is served: its checked fields, and whatever else its definition said. */
export function contentToMcp(definition: ResourceDefinition | ResourceTemplate | PromptDefinition): JsonObject {
  const { server: _, raw, ...checked } = definition;
  const said = raw.parse();
  const { title: __, description: ___, mimeType: ____, size: _____, ...rest } = isJsonObject(said) ? said : {};
  if (!('arguments' in checked)) return { ...rest, ...checked };
  const { arguments: args, ...fields } = checked;
  // An argument's unknown fields survive too: there are as many as were read, in their order.
  const given = Array.isArray(rest.arguments) ? rest.arguments : [];
  const list = args.map((argument, at): JsonObject => {
    const entry = given[at];
    const { title: _t, description: _d, ...more } = isJsonObject(entry) ? entry : {};
    return { ...more, ...argument };
  });
  return { ...rest, ...fields, ...(list.length > 0 && { arguments: list }) };
}
