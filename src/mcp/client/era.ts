import type { ConnectionEra, Json, JsonObject, RawJson } from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';
import { CODES, LEGACY_REVISION, LEGACY_REVISIONS, META, MODERN_REVISION } from '../wire/index.ts';
import { clientInfo } from './client-info.ts';
import { McpError } from './errors.ts';
import { isObject } from './message.ts';
import type { Session } from './session.ts';
import { timeLimit } from './time-limit.ts';

export interface Negotiated {
  readonly kind: 'modern' | 'legacy';
  readonly era: ConnectionEra;
  readonly capabilities: JsonObject;
  /** The server's own words, for display and, by trust, for the model. */
  readonly instructions?: string;
  readonly serverInfo?: Json;
  /** The old transport of 2024-11-05, where the server has no other. */
  readonly transport?: 'http+sse';
}

export interface Negotiation {
  readonly name: string;
  readonly mode: 'auto' | 'legacy' | 'modern';
  /** What an earlier start proved. */
  readonly kept: 'modern' | 'legacy' | undefined;
  /** How long silence on the probe is taken for a server that is still starting. */
  readonly probeMs: number;
  /** What this client can be asked for. */
  readonly capabilities: JsonObject;
  /** Told while the probe has no answer yet, so that an exit because of it can be told from an exit at start. */
  probing(open: boolean): void;
  /** Told when a modern answer came too late for this process, for the next start. */
  learned(proof: Negotiated): void;
}

/** What an answer to `server/discover` proves. */
export type Verdict =
  | { readonly kind: 'modern'; readonly negotiated: Negotiated }
  | { readonly kind: 'other_modern'; readonly versions: readonly string[] }
  | { readonly kind: 'legacy' };

/** The `_meta` of each modern request. */
export function modernMeta(capabilities: JsonObject): JsonObject {
  return {
    [META.protocolVersion]: MODERN_REVISION,
    [META.clientInfo]: clientInfo(),
    [META.clientCapabilities]: capabilities,
  };
}

function now(): string {
  return new Date().toISOString();
}

function modern(provenBy: string, answer: JsonObject): Verdict {
  return {
    kind: 'modern',
    negotiated: {
      kind: 'modern',
      era: { revision: MODERN_REVISION, provenBy, at: now() },
      capabilities: isObject(answer.capabilities) ? answer.capabilities : {},
      ...(typeof answer.instructions === 'string' && { instructions: answer.instructions }),
      ...(isObject(answer._meta) &&
        answer._meta['io.modelcontextprotocol/serverInfo'] !== undefined && {
          serverInfo: answer._meta['io.modelcontextprotocol/serverInfo'],
        }),
    },
  };
}

function byVersions(versions: Json | undefined, provenBy: string, answer: JsonObject): Verdict {
  if (!Array.isArray(versions)) return { kind: 'legacy' };
  const listed = versions.filter((version) => typeof version === 'string');
  if (listed.length !== versions.length) return { kind: 'legacy' };
  if (listed.includes(MODERN_REVISION)) return modern(provenBy, answer);
  // Revisions are dates, so later ones sort after.
  const others = listed.filter((version) => version > LEGACY_REVISION);
  return others.length > 0 && others.length === listed.length
    ? { kind: 'other_modern', versions: others }
    : { kind: 'legacy' };
}

/**
 * What the answer to `server/discover` proves (MCP 2026-07-28, stdio, Backward Compatibility). Only a listed modern
 * revision or an error that only a modern server sends is proof; any other answer, whatever its code, is an old
 * server's.
 */
export function judgeDiscover(answer: RawJson | McpError): Verdict {
  if (!(answer instanceof McpError)) {
    const result = answer.parse();
    return isObject(result)
      ? byVersions(result.supportedVersions, 'server/discover lists it', result)
      : { kind: 'legacy' };
  }
  const data = answer.rpc?.data?.parse();
  if (!isObject(data)) return { kind: 'legacy' };
  if (answer.rpc?.code === CODES.unsupportedVersion) {
    return byVersions(data.supported, `error ${CODES.unsupportedVersion} lists it`, {});
  }
  if (answer.rpc?.code === CODES.missingCapability && isObject(data.requiredCapabilities)) {
    return modern(`error ${CODES.missingCapability} on server/discover`, {});
  }
  return { kind: 'legacy' };
}

async function discover(session: Session, n: Negotiation): Promise<Verdict> {
  n.probing(true);
  let answer: RawJson | McpError;
  try {
    const params = { _meta: modernMeta(n.capabilities) };
    answer = await session.request('server/discover', params, {}, { housekeeping: true });
  } catch (error) {
    if (!(error instanceof McpError && error.rpc)) throw error;
    answer = error;
  }
  n.probing(false);
  return judgeDiscover(answer);
}

/**
 * Opens a session of the legacy era.
 *
 * @param agreed told of the revision before anything else is sent
 * @throws McpError; with `rpc` when the server refused
 */
export async function handshake(
  session: Session,
  n: Pick<Negotiation, 'name' | 'capabilities'>,
  agreed?: (revision: string) => void,
): Promise<Negotiated> {
  const params = { protocolVersion: LEGACY_REVISION, capabilities: n.capabilities, clientInfo: clientInfo() };
  const answer = (await session.request('initialize', params, {}, { housekeeping: true })).parse();
  const revision = isObject(answer) ? answer.protocolVersion : undefined;
  if (!isObject(answer) || typeof revision !== 'string' || !LEGACY_REVISIONS.has(revision)) {
    throw new McpError(
      'mcp_unsupported_revision',
      `${n.name} answered initialize with protocol revision ${printable(JSON.stringify(revision ?? null), { maxLength: 100 })}.`,
      {
        executed: 'not_executed',
        hint: `Bridle speaks ${MODERN_REVISION} and ${[...LEGACY_REVISIONS].join(', ')}: use a version of the server that does.`,
      },
    );
  }
  agreed?.(revision);
  session.notify('notifications/initialized');
  return {
    kind: 'legacy',
    era: { revision, provenBy: 'initialize answered with it', at: now() },
    capabilities: isObject(answer.capabilities) ? answer.capabilities : {},
    ...(typeof answer.instructions === 'string' && { instructions: answer.instructions }),
    ...(answer.serverInfo !== undefined && { serverInfo: answer.serverInfo }),
  };
}

function unsupported(n: Pick<Negotiation, 'name'>, versions: readonly string[]): McpError {
  return new McpError(
    'mcp_unsupported_revision',
    `${n.name} is a modern server, but only of protocol revisions that Bridle doesn't speak: ${printable(versions.join(', '), { maxLength: 200 })}.`,
    {
      executed: 'not_executed',
      hint: `Bridle speaks ${MODERN_REVISION} and ${[...LEGACY_REVISIONS].join(', ')}: update Bridle, or use another version of the server.`,
    },
  );
}

/**
 * A verdict that ends the search, or null when the server has to be asked the old way.
 *
 * @throws McpError when it is of an era that we don't speak, or not of the one that was asked for
 */
export function settled(n: Pick<Negotiation, 'name' | 'mode'>, verdict: Verdict): Negotiated | null {
  if (verdict.kind === 'other_modern') throw unsupported(n, verdict.versions);
  if (verdict.kind === 'modern') return verdict.negotiated;
  if (n.mode !== 'modern') return null;
  throw new McpError('mcp_not_modern', `${n.name} gave no sign of protocol revision ${MODERN_REVISION}.`, {
    executed: 'not_executed',
    hint: 'Its entry asks for the modern era only: leave "era" out to let Bridle find out.',
  });
}

/** The error of a handshake that the server answered with an error. */
export function refusedInitialize(n: Pick<Negotiation, 'name'>, error: McpError): McpError {
  return new McpError(
    'mcp_initialize_refused',
    `${n.name} refused initialize: ${printable(error.rpc?.message ?? error.message, { maxLength: 2000 })}`,
    {
      executed: 'not_executed',
      ...(error.rpc && { rpc: error.rpc }),
      ...(error.status !== undefined && { status: error.status }),
      hint: 'See what the server says about the protocol revisions that it supports.',
    },
  );
}

const LATE_MS = 1000;

function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = timeLimit(ms, () => resolve(null));
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * Finds out which era a started server belongs to, on one process: asks `server/discover`; an answer that proves nothing
 * and silence both lead to `initialize`. A verdict kept from an earlier start goes first and is corrected when it turns
 * out wrong. The caller bounds the whole in time by ending the session.
 *
 * @throws McpError when the server speaks nothing that we do, or the session ended
 */
export async function negotiate(session: Session, n: Negotiation): Promise<Negotiated> {
  if (n.mode === 'legacy' || (n.mode === 'auto' && n.kept === 'legacy')) {
    try {
      return await handshake(session, n);
    } catch (error) {
      if (!(error instanceof McpError && error.rpc)) throw error;
      if (n.mode === 'legacy') throw refusedInitialize(n, error);
      const found = settled(n, await discover(session, n));
      if (found) return found;
      throw refusedInitialize(n, error);
    }
  }
  const probe = discover(session, n);
  // An end of the session while nobody awaits the probe is not an unhandled rejection.
  probe.catch(() => {});
  const verdict = await (n.mode === 'modern' ? probe : within(n.kept === 'modern' ? n.probeMs * 3 : n.probeMs, probe));
  const found = verdict && settled(n, verdict);
  if (found) return found;
  if (verdict === null) {
    probe.then(
      (late) => late.kind === 'modern' && n.learned(late.negotiated),
      () => {},
    );
  }
  try {
    // A server of both eras has to be spoken to the old way from here on, even if the probe is answered yet.
    return await handshake(session, n);
  } catch (error) {
    if (!(error instanceof McpError && error.rpc)) throw error;
    // A modern server that was slow to start answers the probe in the end, and refuses initialize.
    const late = verdict ?? (await within(LATE_MS, probe));
    const modernAfterAll = late && settled(n, late);
    if (modernAfterAll) return modernAfterAll;
    throw refusedInitialize(n, error);
  }
}

const verdicts = new Map<string, Negotiated>();
const MAX_VERDICTS = 1000;

/** What earlier starts in this process proved of servers, by fingerprint. Only proofs are kept. */
export const eraVerdicts = {
  get: (fingerprint: string): Negotiated | undefined => verdicts.get(fingerprint),
  keep(fingerprint: string, proof: Negotiated): void {
    verdicts.delete(fingerprint);
    verdicts.set(fingerprint, proof);
    const [oldest] = verdicts.keys();
    if (verdicts.size > MAX_VERDICTS && oldest !== undefined) verdicts.delete(oldest);
  },
  forget(fingerprint: string): void {
    verdicts.delete(fingerprint);
  },
};
