import type { Json } from '../contracts/index.ts';

/** Whether lists and objects of a value lie more than `most` deep in each other. Itself no depth is too much for it. */
export function nestsDeeper(value: Json, most: number): boolean {
  const open: { readonly value: Json; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const depth = next.depth + 1;
    if (depth > most) return true;
    for (const inner of Object.values(next.value)) open.push({ value: inner, depth });
  }
  return false;
}
