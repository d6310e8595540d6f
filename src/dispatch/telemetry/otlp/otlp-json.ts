import type { Json, JsonObject } from '../../../contracts/index.ts';
import type { Attributes, AttributeValue } from '../types.ts';

/** Unix nanoseconds, as text: JSON's numbers can't hold them. */
export function nanos(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

/** `KeyValue` messages of attributes. */
export function keyValues(attributes: Attributes | ReadonlyMap<string, AttributeValue>): Json[] {
  const entries = attributes instanceof Map ? [...attributes] : Object.entries(attributes);
  return entries.map(([key, value]) => ({ key: wellFormed(key), value: anyValue(value) }));
}

/** `AnyValue`: 64-bit integers are text, and so are the numbers that JSON has no form for (ProtoJSON). */
function anyValue(value: AttributeValue): JsonObject {
  switch (typeof value) {
    case 'string':
      return { stringValue: wellFormed(value) };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      if (Number.isSafeInteger(value)) return { intValue: String(value) };
      return { doubleValue: Number.isFinite(value) ? value : String(value) };
    default:
      return { arrayValue: { values: value.map(anyValue) } };
  }
}

/** Half a character is none in UTF-8, and a receiver would refuse all that comes with it. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
