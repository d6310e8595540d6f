import type { Json, JsonObject } from '../../contracts/index.ts';
import { canonicalJson, isJsonObject, ownMember } from '../../tools/index.ts';
import type { ArgumentLimit, View } from './view.ts';

/** What of an input schema stays at its top; the tool's own schema is checked besides, with all that it says. */
const KEPT = ['$schema', '$defs', 'definitions', 'description', 'title'] as const;

/** An argument as the view offers it. */
export interface Offered {
  readonly offered: string;
  readonly behind: string;
  readonly limit: ArgumentLimit;
}

export type NarrowedSchema =
  | {
      readonly schema: Json;
      /** Undefined: the view limits no argument, so all go on as they are. */
      readonly offered?: readonly Offered[];
    }
  | { readonly problem: string };

/**
 * The input schema of a view: without the arguments that it takes away, narrower where it limits one, and closed. A
 * limit on something that the tool doesn't have, or one that would let more pass than the tool takes, is a problem: the
 * tool isn't the one that the view was written for.
 */
export function narrowSchema(view: View, upstream: Json): NarrowedSchema {
  if (view.arguments.size === 0) return { schema: upstream };
  const properties = isJsonObject(upstream) ? ownMember(upstream, 'properties') : undefined;
  if (!isJsonObject(upstream) || !isJsonObject(properties)) {
    return { problem: 'the tool behind it names no arguments that could be limited.' };
  }
  const absent = [...view.arguments.keys()].find((name) => !Object.hasOwn(properties, name));
  if (absent !== undefined) {
    const nested = absent.startsWith('/') ? ' Limits reach whole arguments, not what is inside of one.' : '';
    return { problem: `the tool behind it has no argument "${absent}".${nested}` };
  }
  const given = ownMember(upstream, 'required');
  const required = new Set(Array.isArray(given) ? given : []);
  const offered: Offered[] = [];
  const schemas: [string, Json][] = [];
  const needed: string[] = [];
  for (const [behind, schema] of Object.entries(properties)) {
    const limit = view.arguments.get(behind) ?? {};
    if (limit.fixed) continue;
    if (limit.remove) {
      if (required.has(behind))
        return { problem: `it removes "${behind}", without which the tool behind can't be called.` };
      continue;
    }
    const narrowed = narrowArgument(behind, schema as Json, limit);
    if ('problem' in narrowed) return narrowed;
    const name = limit.as ?? behind;
    if (offered.some((one) => one.offered === name)) return { problem: `it offers two arguments as "${name}".` };
    offered.push({ offered: name, behind, limit });
    schemas.push([name, narrowed.schema]);
    if (isNeeded(limit, required.has(behind))) needed.push(name);
  }
  const kept = KEPT.flatMap((key): [string, Json][] => {
    const value = ownMember(upstream, key);
    return value === undefined ? [] : [[key, value]];
  });
  return {
    offered,
    schema: {
      ...Object.fromEntries(kept),
      type: 'object',
      properties: Object.fromEntries(schemas),
      ...(needed.length > 0 && { required: needed }),
      additionalProperties: false,
    },
  };
}

/** What a tool does without an argument may lie outside of the limit, so a limited one has to be given. */
function isNeeded(limit: ArgumentLimit, wasRequired: boolean): boolean {
  if (limit.default) return false;
  return wasRequired || (isLimited(limit) && limit.optional !== true);
}

export function isLimited({ as: _, description: __, default: ___, optional: ____, ...checks }: ArgumentLimit): boolean {
  return Object.keys(checks).length > 0;
}

/** Whether a list without elements says as little as no argument, and may no more be sent. */
export function needsElements({ maxItems: _, choices: __, ...limit }: ArgumentLimit): boolean {
  const given = limit.default?.value;
  const mayBeEmpty = limit.optional === true || (Array.isArray(given) && given.length === 0);
  return !mayBeEmpty && isLimited(limit);
}

function narrowArgument(
  name: string,
  given: Json,
  limit: ArgumentLimit,
): { readonly schema: Json } | { readonly problem: string } {
  const { choices } = limit;
  const schema: JsonObject = isJsonObject(given) ? given : given === false ? { not: {} } : {};
  if (choices) {
    const { description, title } = schema;
    const names = typeof choices === 'function' ? undefined : [...choices.keys()];
    return {
      schema: {
        type: 'string',
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(names && { enum: names }),
        ...told(limit, schema),
      },
    };
  }
  const isList = schema.type === 'array' && isJsonObject(schema.items);
  const element = isList ? (schema.items as JsonObject) : schema;
  const bounded = narrowElement(name, element, limit);
  if ('problem' in bounded) return bounded;
  const whole = isList ? { ...schema, items: bounded.schema } : bounded.schema;
  const most = limit.maxItems === undefined ? {} : { maxItems: least(limit.maxItems, schema.maxItems) };
  const fewest = isList && needsElements(limit) ? { minItems: greatest(1, schema.minItems) } : {};
  return { schema: { ...whole, ...fewest, ...most, ...told(limit, schema) } };
}

function narrowElement(
  name: string,
  schema: JsonObject,
  limit: ArgumentLimit,
): { readonly schema: JsonObject } | { readonly problem: string } {
  const before = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const as Json] : undefined;
  const more = limit.enum?.find(
    (value) => before && !before.some((one) => canonicalJson(one) === canonicalJson(value)),
  );
  if (more !== undefined) {
    return { problem: `"${name}" offers ${JSON.stringify(more)}, which the tool behind it doesn't take.` };
  }
  const { minimum, maximum, minLength, maxLength } = limit;
  return {
    schema: {
      ...schema,
      ...(limit.enum && { enum: [...limit.enum] }),
      ...(minimum !== undefined && { minimum: greatest(minimum, schema.minimum) }),
      ...(maximum !== undefined && { maximum: least(maximum, schema.maximum) }),
      ...(minLength !== undefined && { minLength: greatest(minLength, schema.minLength) }),
      ...(maxLength !== undefined && { maxLength: least(maxLength, schema.maxLength) }),
    },
  };
}

/** The model is told what it may send, so that it needn't find out. */
function told({ description, hosts, inside, default: given }: ArgumentLimit, schema: JsonObject): JsonObject {
  const said = description ?? (typeof schema.description === 'string' ? schema.description : '');
  const limits = [
    ...(hosts ? [`Only addresses at ${hosts.map(({ text }) => text).join(', ')}.`] : []),
    ...(inside ? [`Only below ${inside.join(', ')}.`] : []),
  ];
  const text = [said, ...(description === undefined ? limits : [])].filter((part) => part !== '').join(' ');
  return { ...(text !== '' && { description: text }), ...(given && { default: given.value }) };
}

function least(a: number, b: Json | undefined): number {
  return typeof b === 'number' ? Math.min(a, b) : a;
}

function greatest(a: number, b: Json | undefined): number {
  return typeof b === 'number' ? Math.max(a, b) : a;
}
