import type { Json, JsonObject, RawJson } from '../../contracts/index.ts';
import { modernMeta, type Negotiated, negotiate } from './era.ts';
import { McpError } from './errors.ts';
import type { NoiseLog } from './noise-log.ts';
import { Session } from './session.ts';
import { type Evidence, endError, startTimeout } from './start-errors.ts';
import { type Launch, type StdioProcess, startProcess } from './stdio-process.ts';
import { timeLimit } from './time-limit.ts';

/** A server that runs and speaks an era that we know. */
export interface Live {
  readonly process: StdioProcess;
  readonly session: Session;
  readonly negotiated: Negotiated;
}

export interface StartPlan {
  /** For messages: which server, by key and command. */
  readonly name: string;
  readonly launch: Launch;
  readonly mode: 'auto' | 'legacy' | 'modern';
  /** What an earlier start proved. */
  readonly kept: 'modern' | 'legacy' | undefined;
  /** Milliseconds. */
  readonly startMs: number;
  /** Milliseconds. */
  readonly probeMs: number;
  readonly capabilities: JsonObject;
  readonly noise: NoiseLog;
  /** What was proven of the server's era. */
  proven(proof: Negotiated): void;
  stray(): void;
  notification(method: string, params: RawJson): void;
  input?(request: RawJson): Promise<Json>;
  /** Told of the process as soon as there is one. */
  launched(child: StdioProcess): void;
  /** Told when it can't answer any more, whether it ever could or not. */
  ended(session: Session, error: McpError): void;
}

/**
 * Starts the server once and finds out its era.
 *
 * @returns `exited_on_probe` when it exited instead of answering `server/discover`, as some old servers do on a request
 *   that they don't know: it is worth another start with `kept: 'legacy'`
 * @throws McpError; the process is being ended then
 */
export async function startServer(plan: StartPlan): Promise<Live | 'exited_on_probe'> {
  const { name, launch, noise, startMs } = plan;
  let phase: Evidence['phase'] = 'starting';
  let probing = false;
  let exitedOnProbe = false;
  let learned: Negotiated | null = null;
  noise.restart();

  const evidence = (): Evidence => ({
    name,
    launch,
    phase,
    stderr: child.stderr.lines(),
    noise: noise.count().sinceStart,
    noiseLines: noise.first(),
  });
  const session = new Session({
    name,
    send: (text) => child.send(text),
    noise: noise.add,
    stray: plan.stray,
    notification: plan.notification,
    ...(plan.input && { input: plan.input }),
  });
  const child = startProcess(launch, {
    line: (line) => session.receive(line),
    end(end) {
      exitedOnProbe = end.how === 'exited' && probing;
      const error = endError(end, evidence());
      plan.ended(session, error);
      session.end(error);
      void child.stop();
    },
  });
  plan.launched(child);
  const deadline = timeLimit(startMs, () => {
    session.end(startTimeout(evidence(), startMs));
    void child.stop();
  });
  try {
    const negotiated = await negotiate(session, {
      name,
      mode: plan.mode,
      kept: plan.kept,
      probeMs: plan.probeMs,
      capabilities: plan.capabilities,
      probing(open) {
        probing = open;
      },
      learned(proof) {
        learned = proof;
        plan.proven(proof);
      },
    });
    if (session.ended) throw session.ended;
    plan.proven(learned ?? negotiated);
    phase = 'running';
    if (negotiated.kind === 'modern') session.meta = modernMeta(plan.capabilities);
    return { process: child, session, negotiated };
  } catch (error) {
    // Nothing can be written to a child that is just ending: how it ended says why.
    if (error instanceof McpError && error.code === 'mcp_not_writable') await child.ended;
    const reason = session.ended ?? error;
    void child.stop();
    if (exitedOnProbe && plan.mode === 'auto' && plan.kept !== 'legacy') return 'exited_on_probe';
    throw reason;
  } finally {
    clearTimeout(deadline);
  }
}
