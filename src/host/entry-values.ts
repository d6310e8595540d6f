import type { Node } from 'jsonc-parser';
import type { Reason } from '../contracts/index.ts';
import { kindOf } from './config-file.ts';
import type { Member, TreeReader } from './config-tree.ts';
import { ERAS, LIMITS, type LimitKey } from './server-keys.ts';

/** What every kind of entry may say. */
export interface CommonEntry {
  readonly era?: (typeof ERAS)[number];
  readonly trustAnnotations: boolean;
  readonly limits: ReadonlyMap<LimitKey, number>;
}

/** Stops reading one entry; the rest of the file goes on. */
export class BadEntry extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason.text);
    this.reason = reason;
  }
}

export type Bad = (code: string, node: Node, text: string) => BadEntry;

/** Reads `era`, `trust` and the limits. What is odd is warned about and left out. */
export function readCommon(reader: TreeReader, key: string, members: ReadonlyMap<string, Member>): CommonEntry {
  const limits = new Map<LimitKey, number>();
  for (const name of Object.keys(LIMITS) as LimitKey[]) {
    const limit = members.get(name);
    if (limit) readLimit(reader, key, name, limit.value, limits);
  }
  const era = ERAS.find((one) => one === members.get('era')?.value.value);
  warnOdd(reader, members, key, 'era', era === undefined, 'write "auto", "legacy" or "modern"; "auto" is taken');
  const trust = members.get('trust')?.value;
  warnOdd(reader, members, key, 'trust', trust?.type !== 'boolean', 'write true or false; false is taken');
  return { ...(era !== undefined && { era }), trustAnnotations: trust?.value === true, limits };
}

function warnOdd(
  reader: TreeReader,
  members: ReadonlyMap<string, Member>,
  key: string,
  name: string,
  odd: boolean,
  advice: string,
): void {
  const member = members.get(name);
  if (member && odd) reader.warn('odd_value', member.value, `"${name}" of "${key}" is not understood: ${advice}.`);
}

function readLimit(reader: TreeReader, key: string, name: LimitKey, node: Node, limits: Map<LimitKey, number>): void {
  const limit: unknown = node.value;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit > 0 && limit < 2 ** 31) limits.set(name, limit);
  else
    reader.warn('odd_value', node, `"${name}" of "${key}" must be a whole number of ${LIMITS[name]} above 0; ignored.`);
}

/** A string; a number or a truth value is taken as its text, with a warning. */
export function scalarOf(reader: TreeReader, node: Node, what: string, code: string, bad: Bad): string {
  if (node.type !== 'number' && node.type !== 'boolean') return stringOf(node, what, code, bad);
  reader.warn('not_a_string', node, `${what} is ${kindOf(node)}; it is taken as the text "${String(node.value)}".`);
  return String(node.value);
}

export function stringOf(node: Node, what: string, code: string, bad: Bad): string {
  if (node.type !== 'string') throw bad(code, node, `${what} is ${kindOf(node)}; a string is expected.`);
  const text = String(node.value);
  if (text.includes('\0'))
    throw bad('nul_character', node, `${what} holds a NUL character, which nothing can be started with.`);
  return text;
}
