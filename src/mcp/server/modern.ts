import { randomUUID } from 'node:crypto';
import type { Identity, Json, JsonObject } from '../../contracts/index.ts';
import { CODES, META, MODERN_REVISION } from '../wire/index.ts';
import { isObject } from './is-object.ts';
import { isAtLeast, isLogLevel } from './log-levels.ts';
import type { Exchange } from './peer.ts';
import { RpcError } from './rpc.ts';
import type { Served } from './served.ts';
import { TASKS_EXTENSION } from './task-wire.ts';

/** What a request of 2026-07-28 says of itself in `_meta` (Base Protocol, "Per-request protocol fields"). */
export interface Envelope {
  readonly meta: JsonObject;
  readonly capabilities: JsonObject;
  readonly logLevel: string | undefined;
}

/** Revisions that carry their metadata with each request. */
const SUPPORTED: readonly Json[] = [MODERN_REVISION];

/** Whether a message's parameters carry a revision of their own, whichever it is. */
export function versionIn(params: JsonObject): Json | undefined {
  return isObject(params._meta) ? params._meta[META.protocolVersion] : undefined;
}

/** @throws RpcError -32602 for a field that is missing or malformed, -32022 for another revision */
export function envelopeOf(params: JsonObject): Envelope {
  const meta = params._meta;
  const version = versionIn(params);
  if (!isObject(meta) || typeof version !== 'string') throw missing(META.protocolVersion, 'a string');
  if (version !== MODERN_REVISION) throw unsupported(version);
  const capabilities = meta[META.clientCapabilities];
  if (!isObject(capabilities)) throw missing(META.clientCapabilities, 'an object');
  const info = meta[META.clientInfo];
  if (info !== undefined && !isObject(info)) throw missing(META.clientInfo, 'an object');
  const logLevel = meta[META.logLevel];
  if (logLevel === undefined) return { meta, capabilities, logLevel };
  if (isLogLevel(logLevel)) return { meta, capabilities, logLevel };
  throw new RpcError(CODES.invalidParams, `Invalid params: ${META.logLevel} is no log level`);
}

function missing(key: string, kind: string): RpcError {
  return new RpcError(CODES.invalidParams, `Invalid params: _meta["${key}"] must be ${kind}`);
}

function unsupported(requested: string): RpcError {
  const data = { supported: [...SUPPORTED], requested };
  return new RpcError(CODES.unsupportedVersion, 'Unsupported protocol version', data);
}

/** `server/discover`: JSON text of its result. */
export function discovered({ service, tasks }: Served, who: Identity): string {
  const { serverInfo, capabilities, instructions } = service;
  const extensions = tasks.isOffered(who) && { extensions: { [TASKS_EXTENSION]: {} } };
  return JSON.stringify({
    resultType: 'complete',
    supportedVersions: SUPPORTED,
    capabilities: { ...capabilities, ...extensions },
    ...(instructions !== undefined && { instructions }),
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [META.serverInfo]: serverInfo },
  });
}

/** A request of 2026-07-28 while it is answered; it stands for itself, so it is a conversation of its own. */
export function modernExchange(
  who: Identity,
  { meta, capabilities, logLevel }: Envelope,
  { signal, notify, conversation }: Pick<Exchange, 'signal' | 'notify'> & { readonly conversation?: string },
): Exchange {
  return {
    peer: { who, conversation: conversation ?? randomUUID(), era: 'modern' },
    signal,
    meta,
    capabilities,
    // Nobody is told who didn't ask with this very request.
    wantsLog: (level) => logLevel !== undefined && isAtLeast(level, logLevel),
    notify,
  };
}
