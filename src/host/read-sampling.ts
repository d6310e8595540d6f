import type { Node } from 'jsonc-parser';
import { SAMPLING_KEYS, SAMPLING_SERVER_KEYS } from './bridle-keys.ts';
import { kindOf } from './config-file.ts';
import { membersOf, type TreeReader, warnUnknownKeys } from './config-tree.ts';
import type { SamplingBudget } from './sampling.ts';

/** Where an entry names no number. */
const DEFAULTS = { maxTokens: 20_000, requests: 10 };

/** Reads `sampling` of a `bridle.json`: only the user's own file lends a model. */
export function readSamplingKey(
  reader: TreeReader,
  node: Node | undefined,
  owner: 'user' | 'project',
): ReadonlyMap<string, SamplingBudget> {
  const found = new Map<string, SamplingBudget>();
  if (!node) return found;
  if (owner === 'project') {
    const text =
      'A project can\'t lend your model to its servers: write "sampling" in your own bridle.json. It is ignored.';
    reader.warn('sampling_in_project', node, text);
    return found;
  }
  const members = node.type === 'object' ? membersOf(reader, node, 'sampling') : undefined;
  const servers = members?.get('servers')?.value;
  if (members) warnUnknownKeys(reader, members, SAMPLING_KEYS, 'sampling');
  if (servers?.type !== 'object') {
    const text = '"sampling" needs "servers": an object from server key to {"maxTokens", "requests"}. It is ignored.';
    reader.warn('odd_value', servers ?? node, text);
    return found;
  }
  for (const [key, { value }] of membersOf(reader, servers, 'sampling.servers')) {
    const where = `sampling for "${key}"`;
    if (value.type !== 'object') {
      reader.warn('odd_value', value, `${where} is ${kindOf(value)}; an object is expected. It is ignored.`);
      continue;
    }
    const limits = membersOf(reader, value, where);
    warnUnknownKeys(reader, limits, SAMPLING_SERVER_KEYS, where);
    const limit = (name: keyof typeof DEFAULTS): number => {
      const given = limits.get(name)?.value;
      if (!given) return DEFAULTS[name];
      const number: unknown = given.value;
      if (given.type === 'number' && Number.isSafeInteger(number) && Number(number) >= 0) return Number(number);
      // A limit that can't be read isn't none.
      reader.warn('odd_value', given, `"${name}" of ${where} is no whole number, so it gets nothing.`);
      return 0;
    };
    const fingerprint = limits.get('fingerprint')?.value;
    if (fingerprint && (fingerprint.type !== 'string' || !/^[0-9a-f]{64}$/.test(String(fingerprint.value)))) {
      // Whoever meant one server doesn't get another.
      reader.warn(
        'odd_value',
        fingerprint,
        `"fingerprint" of ${where} is no SHA-256 in 64 hex digits, so it gets nothing.`,
      );
      continue;
    }
    found.set(key, {
      ...(fingerprint && { fingerprint: String(fingerprint.value) }),
      maxTokens: limit('maxTokens'),
      requests: limit('requests'),
    });
  }
  return found;
}
