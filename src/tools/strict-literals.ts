import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from './json-object.ts';

export function isScalar(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null;
}

/** A schema that takes at least these values, in which no `enum` has a list or an object. */
export function literalForm(values: readonly Json[]): JsonObject {
  const scalars = values.filter(isScalar);
  const forms = [
    ...(scalars.length > 0 ? [{ enum: scalars }] : []),
    ...values.filter((v) => !isScalar(v)).map(compound),
  ];
  const unique = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()];
  const [first = {}] = unique;
  return unique.length === 1 ? first : { anyOf: unique };
}

function compound(value: Json): JsonObject {
  if (isJsonObject(value)) {
    const members = Object.entries(value);
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, member]) => [name, literalForm([member])])),
      ...(members.length > 0 && { required: members.map(([name]) => name) }),
      additionalProperties: false,
    };
  }
  if (!Array.isArray(value) || value.length === 0) return { type: 'array' };
  return { type: 'array', items: literalForm(value), minItems: 1 };
}
