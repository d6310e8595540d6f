import { CODES } from '../wire/index.ts';
import {
  handshake,
  judgeDiscover,
  modernMeta,
  type Negotiated,
  refusedInitialize,
  settled,
  type Verdict,
} from './era.ts';
import { McpError } from './errors.ts';
import type { HttpPlan } from './http-link.ts';
import { OldSse } from './old-sse.ts';
import { StreamableHttp } from './streamable-http.ts';
import type { Link } from './supervisor.ts';
import { timeLimit } from './time-limit.ts';

/** A server over HTTP that answers, over the transport that it has. */
export interface HttpLink extends Link {
  readonly wire: StreamableHttp | OldSse;
}

export interface OpenPlan extends HttpPlan {
  readonly mode: 'auto' | 'legacy' | 'modern';
  /** Try the old HTTP+SSE transport first. */
  readonly oldFirst: boolean;
  /** What an earlier link proved. */
  readonly kept: Negotiated | undefined;
  /** Milliseconds. */
  readonly startMs: number;
  /** Told of each wire as soon as there is one. */
  made(wire: StreamableHttp | OldSse): void;
}

/** Statuses by which a server says that it doesn't take this message here, so that an older way may be tried. */
const OLDER: ReadonlySet<number | undefined> = new Set([400, 404, 405]);

/** A server of the old transport names its endpoint at once; other servers have streams that stay silent. */
const ENDPOINT_MS = 5000;

/** True for what says something of authorization or of health, and nothing of an era. */
function provesNothing({ status }: McpError): boolean {
  return (
    status === 401 || status === 403 || status === 408 || status === 429 || (status !== undefined && status >= 500)
  );
}

/**
 * Finds out what a server speaks (MCP 2026-07-28, Streamable HTTP, Backward Compatibility): asks `server/discover`;
 * where the answer is no modern one, tries `initialize`; where that is refused by 400, 404 or 405, opens the old
 * HTTP+SSE stream.
 *
 * @throws McpError; everything is closed then
 */
export async function openHttp(plan: OpenPlan): Promise<HttpLink> {
  const wires: (StreamableHttp | OldSse)[] = [];
  const made = <W extends StreamableHttp | OldSse>(wire: W): W => {
    wires.push(wire);
    plan.made(wire);
    return wire;
  };
  const { subject, startMs } = plan;
  let late: McpError | undefined;
  const deadline = timeLimit(startMs, () => {
    late = new McpError('mcp_start_timeout', `${subject.name} gave no answer within ${startMs} ms.`, {
      executed: 'not_executed',
      passing: true,
      hint: 'Check that it runs; a slow start needs a longer start limit ("startMs" of its entry).',
    });
    for (const wire of wires) void wire.stop(late);
  });
  try {
    const link = await find(plan, made);
    if (late) throw late;
    const unused = new McpError('mcp_closed', `${subject.name} is asked another way.`, { executed: 'not_executed' });
    for (const wire of wires) if (wire !== link.wire) void wire.stop(unused);
    return link;
  } catch (error) {
    const reason = late ?? error;
    const closing =
      reason instanceof McpError ? reason : new McpError('mcp_closed', String(reason), { executed: 'unknown' });
    for (const wire of wires) void wire.stop(closing);
    throw reason;
  } finally {
    clearTimeout(deadline);
  }
}

type Make = <W extends StreamableHttp | OldSse>(wire: W) => W;

async function find(plan: OpenPlan, made: Make): Promise<HttpLink> {
  const { mode, kept } = plan;
  if (mode !== 'modern' && (plan.oldFirst || kept?.transport !== undefined)) {
    const old = await oldTransport(plan, made);
    if (old) return old;
  }
  const wire = made(new StreamableHttp(plan));
  if (mode === 'legacy' || (mode === 'auto' && kept?.kind === 'legacy' && kept.transport === undefined)) {
    try {
      return await opened(wire, plan);
    } catch (error) {
      if (!(error instanceof McpError) || provesNothing(error) || !mayBeOther(error)) throw error;
      if (mode === 'legacy') return await older(plan, made, error);
    }
  }
  const verdict = await discover(wire, plan);
  const found = settled({ name: plan.subject.name, mode }, verdict);
  if (found) {
    wire.speak(true);
    return { session: wire.session, negotiated: found, wire };
  }
  wire.speak(false);
  try {
    return await opened(wire, plan);
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    return await older(plan, made, error);
  }
}

/** A refusal that another way may not meet; trouble of the network, of redirects or of sign-in is met everywhere. */
function mayBeOther(error: McpError): boolean {
  return error.rpc !== undefined || error.status !== undefined;
}

/** Asks the modern question. Whoever answers it with a proof is modern; a plain refusal is an old server's. */
async function discover(wire: StreamableHttp, plan: OpenPlan): Promise<Verdict> {
  wire.speak(true);
  try {
    const params = { _meta: modernMeta(plan.capabilities) };
    return judgeDiscover(await wire.session.request('server/discover', params, {}, { housekeeping: true }));
  } catch (error) {
    if (!(error instanceof McpError) || provesNothing(error)) throw error;
    // Only a modern server compares headers with the body.
    if (error.rpc?.code === CODES.headerMismatch && error.status === 400) throw error;
    if (error.rpc) return judgeDiscover(error);
    // A page, or a status without an MCP error: nothing modern answered, but something did.
    if (error.status === undefined || error.code === 'mcp_redirect' || plan.mode === 'modern') throw error;
    return { kind: 'legacy' };
  }
}

async function opened(wire: StreamableHttp, plan: OpenPlan): Promise<HttpLink> {
  const peer = { name: plan.subject.name, capabilities: plan.capabilities };
  const negotiated = await handshake(wire.session, peer, (revision) => wire.agreed(revision));
  // Requests before `notifications/initialized` are refused by some servers.
  await wire.flushed();
  wire.listen();
  return { session: wire.session, negotiated, wire };
}

/** The last resort after a handshake that was refused. */
async function older(plan: OpenPlan, made: Make, refused: McpError): Promise<HttpLink> {
  if (OLDER.has(refused.status) && !plan.oldFirst) {
    const old = await oldTransport(plan, made);
    if (old) return old;
  }
  throw refused.rpc ? refusedInitialize({ name: plan.subject.name }, refused) : refused;
}

async function oldTransport(plan: OpenPlan, made: Make): Promise<HttpLink | null> {
  const wire = made(new OldSse(plan));
  if (!(await wire.open(plan.oldFirst ? undefined : ENDPOINT_MS))) return null;
  const peer = { name: plan.subject.name, capabilities: plan.capabilities };
  const negotiated = await handshake(wire.session, peer);
  await wire.flushed();
  return { session: wire.session, negotiated: { ...negotiated, transport: 'http+sse' }, wire };
}
