import type { Json } from '../../contracts/index.ts';

/** Tokens of a JSON Pointer (RFC 6901) as a tree: what is kept, level by level. */
export type KeepTree = Map<string, KeepTree | 'whole'>;

export function isPointer(text: string): boolean {
  return /^(\/([^~]|~[01])*)?$/.test(text);
}

export function keepTree(pointers: readonly string[]): KeepTree | 'whole' {
  const root: KeepTree = new Map();
  for (const pointer of pointers) {
    if (pointer === '') return 'whole';
    const tokens = pointer.slice(1).split('/').map(unescaped);
    let here = root;
    for (const [at, token] of tokens.entries()) {
      const next = here.get(token);
      if (next === 'whole') break;
      if (at === tokens.length - 1) here.set(token, 'whole');
      else {
        const deeper = next ?? new Map();
        here.set(token, deeper);
        here = deeper;
      }
    }
  }
  return root;
}

/** The value with nothing but what the tree names; undefined when it has nothing of that. */
export function keptOf(value: Json, tree: KeepTree | 'whole'): Json | undefined {
  if (tree === 'whole') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const each = tree.get('*');
    const kept = value.flatMap((element, at) => {
      const how = tree.get(String(at)) ?? each;
      const part = how === undefined ? undefined : keptOf(element, how);
      return part === undefined ? [] : [part];
    });
    // An empty list has nothing that would have to be removed.
    return kept.length > 0 || (value.length === 0 && each !== undefined) ? kept : undefined;
  }
  const members: [string, Json][] = [];
  for (const [key, how] of tree) {
    if (!Object.hasOwn(value, key)) continue;
    const part = keptOf(value[key] as Json, how);
    if (part !== undefined) members.push([key, part]);
  }
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}
