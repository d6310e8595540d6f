import type { Json, JsonObject } from '../contracts/index.ts';
import { isJsonObject } from '../tools/index.ts';
import { scrubber } from './scrub.ts';

const TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;
/** Ids that are drawn anew in each run: of calls, messages, approvals, kept results; and UUIDs (RFC 9562). */
const ID =
  /\b(?:(?:toolu|srvtoolu|call|msg|ap|res)_[A-Za-z0-9_-]{4,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/gi;

/** Of a member's `_meta`, what belongs to the one hop that it goes over. */
const HOP_META = /^(progressToken$|io\.modelcontextprotocol\/|traceparent$|tracestate$|baggage$)/;

export type Normalise = (value: Json) => Json;

/**
 * What two runs of the same kind may differ in is made alike: ids (each distinct one of a body by its place among them),
 * times, folders, progress tokens; secrets too, as a recording has none.
 *
 * @param paths folders by name
 */
export function normaliser(paths: Readonly<Record<string, string>>): Normalise {
  const folders = Object.entries(paths)
    .filter(([, path]) => path.length > 1)
    .sort(([, a], [, b]) => b.length - a.length);
  const scrub = scrubber([]);
  return (value) => {
    const ids = new Map<string, string>();
    const text = (given: string): string => {
      let made = given;
      for (const [name, path] of folders) made = made.replaceAll(path, `<${name}>`);
      return made.replace(TIME, '<time>').replace(ID, (id) => {
        const known = ids.get(id) ?? `<id ${ids.size + 1}>`;
        ids.set(id, known);
        return known;
      });
    };
    const walk = (inner: Json): Json => {
      if (typeof inner === 'string') return text(inner);
      if (Array.isArray(inner)) return inner.map(walk);
      if (!isJsonObject(inner)) return inner;
      const made: Record<string, Json> = {};
      for (const [key, each] of Object.entries(inner)) {
        if (key === '_meta' && isJsonObject(each)) {
          const kept = withoutHop(each);
          if (Object.keys(kept).length > 0) made[key] = walk(kept);
        } else made[text(key)] = walk(each);
      }
      return made;
    };
    return walk(scrub(value));
  };
}

function withoutHop(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !HOP_META.test(key)));
}
