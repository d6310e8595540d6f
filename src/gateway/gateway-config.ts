/**
 * Rule of this file: a gateway's own file is read whole or not at all. A rule that was misspelt, and so dropped, would
 * give an agent what somebody meant to keep from it.
 */
import type { Json, JsonObject } from '../contracts/index.ts';
import type { Permissions, RuleEntry } from '../policy/index.ts';
import { BridleError, editDistance, isJsonObject, printable } from '../tools/index.ts';

/** How much an agent may call. Absent: as much as it likes. */
export interface CallLimits {
  /** Calls within any 60 seconds. */
  readonly callsPerMinute?: number;
  /** Calls under way at once. */
  readonly concurrentCalls?: number;
}

export interface GatewayAgent {
  readonly name: string;
  /** Digests as `keyDigest` makes them. */
  readonly keys: readonly string[];
  /** What it sees: a tool that neither `allow` nor `ask` names doesn't exist for it, unless it sees all. */
  readonly permissions: Permissions;
  /** For whoever has a gateway to themselves: every tool is there, and the rules of the layers below decide alone. */
  readonly seesAll?: true;
  /** Keys of servers whose resources and prompts it sees; `all` is every server. */
  readonly content: readonly string[] | 'all';
  readonly limits: CallLimits;
}

export interface GatewayConfig {
  /** For messages. */
  readonly file: string;
  readonly host: string;
  readonly port: number;
  /** Where health and metrics are told; absent: nowhere. */
  readonly operations?: { readonly host: string; readonly port: number };
  readonly agents: ReadonlyMap<string, GatewayAgent>;
}

const DEFAULT_PORT = 8390;
const KEYS = ['$schema', 'host', 'port', 'operations', 'agents'];
const OPERATIONS_KEYS = ['host', 'port'];
const LOOPBACK = '127.0.0.1';
const AGENT_KEYS = ['keys', 'allow', 'ask', 'deny', 'content', 'limits'];
const LIMIT_KEYS = ['callsPerMinute', 'concurrentCalls'];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * Reads what a gateway's file says.
 *
 * @param value the JSON of the file
 * @param file for messages
 * @throws BridleError `config_gateway` which says what is wrong at which place
 */
export function readGatewayConfig(value: Json, file: string): GatewayConfig {
  const read = reader(file);
  const top = read.object(value, 'the file', KEYS);
  const agents = new Map<string, GatewayAgent>();
  const owners = new Map<string, string>();
  const written = top.agents === undefined ? {} : read.object(top.agents, 'agents');
  for (const [name, entry] of Object.entries(written)) {
    if (!NAME.test(name)) {
      read.wrong(`agents["${printable(name)}"]`, 'is no name: 1 to 64 letters, digits, dots, dashes and underscores');
    }
    const agent = agentIn(read, name, entry);
    for (const key of agent.keys) {
      const owner = owners.get(key);
      if (owner !== undefined) {
        read.wrong(`agents.${name}.keys`, `has a key of ${owner}: a key belongs to one agent, and names it`);
      }
      owners.set(key, name);
    }
    agents.set(name, agent);
  }
  const { operations } = top;
  return {
    file,
    ...addressIn(read, top, '', DEFAULT_PORT),
    ...(operations !== undefined && {
      operations: addressIn(read, read.object(operations, 'operations', OPERATIONS_KEYS), 'operations.', 0),
    }),
    agents,
  };
}

function addressIn(read: Reader, { host = LOOPBACK, port }: JsonObject, at: string, otherwise: number) {
  if (typeof host !== 'string' || host === '') return read.wrong(`${at}host`, 'must be an address, such as "0.0.0.0"');
  const number = port ?? otherwise;
  if (!isCount(number, 0) || number > 65_535) return read.wrong(`${at}port`, 'must be a number from 0 to 65535');
  return { host, port: number };
}

function agentIn(read: Reader, name: string, entry: Json): GatewayAgent {
  const at = `agents.${name}`;
  const members = read.object(entry, at, AGENT_KEYS);
  const keys = read.texts(members.keys, `${at}.keys`);
  for (const key of keys) {
    if (!DIGEST.test(key)) {
      read.wrong(
        `${at}.keys`,
        `takes digests of keys, as 'bridle gateway key ${name}' makes them, and no keys themselves`,
      );
    }
  }
  const rules = (kind: 'allow' | 'ask' | 'deny') => {
    const list = members[kind];
    return list === undefined ? {} : { [kind]: rulesIn(read, list, `${at}.${kind}`) };
  };
  const { content = [] } = members;
  return {
    name,
    keys,
    permissions: { ...rules('allow'), ...rules('ask'), ...rules('deny') },
    content: content === 'all' ? 'all' : read.texts(content, `${at}.content`, ', or "all"'),
    limits: limitsIn(read, members.limits, `${at}.limits`),
  };
}

function rulesIn(read: Reader, value: Json, at: string): readonly RuleEntry[] {
  if (!Array.isArray(value)) return read.wrong(at, 'must be a list of rules');
  return value.map((rule, nth) => {
    if (typeof rule === 'string') return rule;
    const { tool, when, reason } = read.object(rule, `${at}[${nth}]`, ['tool', 'when', 'reason']);
    if (typeof tool !== 'string') return read.wrong(`${at}[${nth}].tool`, 'must name tools');
    if (when !== undefined && !isJsonObject(when)) return read.wrong(`${at}[${nth}].when`, 'must be an object');
    if (reason !== undefined && typeof reason !== 'string') return read.wrong(`${at}[${nth}].reason`, 'must be a text');
    return { tool, ...(when && { when }), ...(reason !== undefined && { reason }) };
  });
}

function limitsIn(read: Reader, value: Json | undefined, at: string): CallLimits {
  if (value === undefined) return {};
  const limits = read.object(value, at, LIMIT_KEYS);
  for (const [name, limit] of Object.entries(limits)) {
    if (!isCount(limit, 1)) read.wrong(`${at}.${name}`, 'must be a whole number from 1 on');
  }
  return limits as CallLimits;
}

function isCount(value: Json | undefined, least: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}

interface Reader {
  /** @throws BridleError for what is no object, and for a member that isn't among `known` */
  object(value: Json, at: string, known?: readonly string[]): JsonObject;
  texts(value: Json | undefined, at: string, or?: string): readonly string[];
  wrong(at: string, what: string): never;
}

function reader(file: string): Reader {
  const wrong = (at: string, what: string): never => {
    throw new BridleError('config_gateway', `${file}: ${at} ${what}.`, {
      hint: 'Correct it: the gateway starts only with rules that it has read whole.',
    });
  };
  return {
    wrong,
    object(value, at, known) {
      if (!isJsonObject(value)) return wrong(at, 'must be an object');
      for (const name of Object.keys(value)) {
        if (known === undefined || known.includes(name)) continue;
        const near = known.find((each) => editDistance(each, name) <= 2);
        wrong(at, `has no member "${printable(name)}"${near === undefined ? '' : `; is "${near}" meant?`}`);
      }
      return value;
    },
    texts(value, at, or = '') {
      if (value === undefined) return [];
      const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
      return isList ? (value as readonly string[]) : wrong(at, `must be a list of texts${or}`);
    },
  };
}
