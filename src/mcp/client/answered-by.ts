import type { InputKind, JsonObject } from '../../contracts/index.ts';
import { isObject } from './message.ts';

/**
 * The capabilities of a connection (MCP ClientCapabilities) that are left for a request whose caller answers only some
 * kinds of questions.
 */
export function answeredBy(declared: JsonObject, kinds: readonly InputKind[]): JsonObject {
  const { elicitation, sampling, roots, ...others } = declared;
  const ways = (['form', 'url'] as const).filter((way) => kinds.includes(way) && isWay(elicitation, way));
  return {
    ...others,
    ...(ways.length > 0 && { elicitation: Object.fromEntries(ways.map((way) => [way, {}])) }),
    ...(sampling !== undefined && kinds.includes('sampling') && { sampling }),
    ...(roots !== undefined && kinds.includes('roots') && { roots }),
  };
}

/** Who names no way of eliciting has the form. */
function isWay(elicitation: JsonObject[string] | undefined, way: 'form' | 'url'): boolean {
  if (!isObject(elicitation)) return false;
  return Object.hasOwn(elicitation, way) || (way === 'form' && !Object.hasOwn(elicitation, 'url'));
}
