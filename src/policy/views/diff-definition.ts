import type { Json } from '../../contracts/index.ts';
import { leavesOf, printable } from '../../tools/index.ts';

const MOST_LEAVES = 20_000;

/**
 * What is different between two definitions, one line each: `+` is new, `-` is gone. Plain text without unseen
 * characters; nothing is shortened, since somebody agrees to it.
 */
export function diffDefinition(before: Json, now: Json): readonly string[] {
  const was = leaves(before);
  const is = leaves(now);
  const lines: string[] = [];
  for (const pointer of new Set([...was.keys(), ...is.keys()])) {
    const [old, fresh] = [was.get(pointer), is.get(pointer)];
    if (old === fresh) continue;
    if (old !== undefined) lines.push(`- ${pointer}: ${old}`);
    if (fresh !== undefined) lines.push(`+ ${pointer}: ${fresh}`);
  }
  return lines.map((line) => printable(line));
}

function leaves(value: Json): ReadonlyMap<string, string> {
  const found = leavesOf(value, MOST_LEAVES).leaves;
  return new Map(found.map(({ pointer, value: leaf }) => [pointer, JSON.stringify(leaf)]));
}
