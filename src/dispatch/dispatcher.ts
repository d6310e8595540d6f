/**
 * The one path of a call. Each step takes what the step before gives, so a call that ended can't go on.
 *
 * | step    | takes     | does                                                          | gives, or ends as                      |
 * |---------|-----------|---------------------------------------------------------------|----------------------------------------|
 * | prepare | request   | find, view, arguments as JSON object, schema, case (agent)    | Prepared; unknown_tool, invalid        |
 * | decide  | Prepared  | policy, preview, policy, person, facts again, policy          | Permitted; Ran; denied, parked, failed |
 * | once    | Permitted | the ledger: an act that ran already isn't run again           | First; Ran; failed, cancelled          |
 * | commit  | Permitted | the intent on record: durable before anything that isn't read | Committed; failed                      |
 * | claim   | Committed | takes the stored approvals that allowed it, each for one call | Committed; failed                      |
 * | execute | Committed | the source, under idle and hard limits; retries (agent)       | Ran                                    |
 * | finish  | Ran       | output schema, content for the model (agent)                  | ok, input_required, failed, cancelled  |
 *
 * Two calls that are under way in one conversation never have the same id, whatever ids they came with: records, hooks and
 * approvals tell them apart by it. Cancelling ends any step. Every call leaves exactly one outcome record, whichever way it ends. Nothing throws.
 */
import type {
  Asker,
  Dispatcher,
  Found,
  IdempotencyLedger,
  Outcome,
  Policy,
  Recorder,
  Source,
} from '../contracts/index.ts';
import { withViews } from '../policy/index.ts';
import { SignalOnDemand } from '../tools/index.ts';
import { callIds } from './call-ids.ts';
import type { Call, DispatchRequest, Ended, Limits, Noted, Path, Permitted, Ran, ToolPreview } from './call-path.ts';
import { type Clock, systemClock } from './clock.ts';
import { decide } from './decide.ts';
import { commit, execute } from './execute.ts';
import { finish, recordOf } from './finish.ts';
import { claim, settleGrants } from './grants.ts';
import { once } from './once.ts';
import { errorText, failed } from './outcomes.ts';
import { prepare } from './prepare.ts';
import { quietly } from './quietly.ts';
import { recordsNothing } from './recorders.ts';
import { createResultStore, type ResultStore } from './result-store.ts';

const DEFAULT_IDLE_MS = 120_000;
const DEFAULT_HARD_MS = 600_000;
const DEFAULT_RESULT_CHARS = 40_000;
const DEFAULT_RETRIES = 2;

export interface DispatcherOptions {
  /** By wire name, regardless of who asks; a catalog's `find`. */
  find(name: string): Found | undefined;
  readonly policy: Policy;
  readonly asker: Asker;
  readonly recorder: Recorder;
  readonly limits?: {
    /** Longest silence of a source, in milliseconds: a cap on what the call's context says. */
    readonly idleMs?: number;
    /** Longest run, retries included, in milliseconds: a cap on what the call's context says. */
    readonly hardMs?: number;
    /** Most characters of a result that a model is shown: a cap on what its source says. Default 40,000. */
    readonly maxResultChars?: number;
    /** How often a call that may be repeated is repeated at most. Default 2. */
    readonly retries?: number;
  };
  /** Where results too long for a model are kept; give the same one to `resultReader`. */
  readonly results?: ResultStore;
  /**
   * For tools that declare an idempotency key: a call whose act ran already is given the first call's end. Absent: the
   * keys are ignored.
   */
  readonly idempotency?: IdempotencyLedger;
  readonly clock?: Clock;
}

/**
 * The dispatcher: nothing else runs a tool.
 *
 * Profile `agent` validates arguments against the tool's input schema and results against its output schema, retries
 * what may be repeated, and shapes results for a model; `relay` hands on what it gets. Both decide, record and limit.
 *
 * @returns a dispatcher whose `call` never rejects: every end is a tagged `Outcome`
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const clock = options.clock ?? systemClock;
  const path: Path = {
    find: (name) => options.find(name),
    policy: withViews(options.policy),
    asker: options.asker,
    recorder: options.recorder,
    clock,
    results: options.results ?? createResultStore(),
    limits: limitsOf(options.limits ?? {}),
    ...(options.idempotency && { idempotency: options.idempotency }),
    preview: (request, plan) => walkRecorded(path, openCall(path, request, plan)),
  };
  const ids = callIds();
  return {
    async call(request) {
      const { callId, release } = ids.take(request);
      try {
        const own = callId === request.ctx.callId ? request : { ...request, ctx: { ...request.ctx, callId } };
        return await walkRecorded(path, openCall(path, own));
      } finally {
        release();
      }
    },
  };
}

function limitsOf({ idleMs, hardMs, maxResultChars, retries }: NonNullable<DispatcherOptions['limits']>): Limits {
  return {
    retries: retries ?? DEFAULT_RETRIES,
    ...(idleMs !== undefined && { idleMs }),
    ...(hardMs !== undefined && { hardMs }),
    ...(maxResultChars !== undefined && { maxResultChars }),
  };
}

const NO_ARGUMENTS: Noted = { value: () => null };

function openCall(path: Path, request: DispatchRequest, previewFor?: ToolPreview): Call {
  const { ctx } = request;
  return {
    request,
    ctx,
    signal: SignalOnDemand.abortableOf(ctx),
    idleMs: effectiveMs(ctx.idleMs, path.limits.idleMs, DEFAULT_IDLE_MS),
    hardMs: effectiveMs(ctx.hardMs, path.limits.hardMs, DEFAULT_HARD_MS),
    maxResultChars: path.limits.maxResultChars ?? DEFAULT_RESULT_CHARS,
    ...(previewFor && { previewFor }),
    notes: {
      startedAt: path.clock.now(),
      args: NO_ARGUMENTS,
      grants: [],
      claims: [],
      attempts: 0,
      previews: 0,
      handedOver: false,
    },
  };
}

/** A source that is configured to take longer, or less long, is given that; the dispatcher's own caps still hold. */
function withSourceLimits(path: Path, call: Call, source: Source): Call {
  const { idleMs, hardMs, maxResultChars } = source.limits ?? {};
  const { maxResultChars: mostChars } = path.limits;
  return {
    ...call,
    ...(idleMs !== undefined && { idleMs: effectiveMs(idleMs, path.limits.idleMs, DEFAULT_IDLE_MS) }),
    ...(hardMs !== undefined && { hardMs: effectiveMs(hardMs, path.limits.hardMs, DEFAULT_HARD_MS) }),
    ...(maxResultChars !== undefined && { maxResultChars: Math.min(maxResultChars, mostChars ?? maxResultChars) }),
  };
}

/** Every wait has a limit: what a context leaves out, or gives as no time at all, gets the default. */
function effectiveMs(asked: number, cap: number | undefined, fallback: number): number {
  const given = Number.isFinite(asked) && asked > 0 ? asked : (cap ?? fallback);
  return cap === undefined ? given : Math.min(given, cap);
}

async function walkRecorded(path: Path, call: Call): Promise<Outcome> {
  let outcome: Outcome;
  try {
    outcome = await walk(path, call);
  } catch (error) {
    const text = `The call broke off inside the dispatcher: ${errorText(error)}`;
    outcome = failed(text, call.notes.handedOver ? 'unknown' : 'not_executed');
  }
  settleGrants(call, outcome);
  // A recorder that fails counts that itself; the answer isn't its to change.
  if (!recordsNothing(path.recorder)) quietly(() => path.recorder.outcome(recordOf(path, call, outcome)));
  return outcome;
}

async function walk(path: Path, call: Call): Promise<Outcome> {
  const prepared = await prepare(path, call);
  if (prepared.stage === 'ended') return prepared.outcome;
  const permitted = await decide(path, call, prepared);
  if (permitted.stage === 'ended') return permitted.outcome;
  const limited = withSourceLimits(path, call, prepared.source);
  if (permitted.stage === 'ran') return finish(path, limited, permitted);
  const first = await once(path, call, prepared, permitted);
  if (first.stage === 'ended') return first.outcome;
  if (first.stage === 'ran') return finish(path, limited, first);
  const ran = await run(path, limited, permitted).catch(async (error) => {
    // Nobody knows then: a claim that was let lie would keep the others waiting.
    const executed = call.notes.handedOver ? 'unknown' : 'not_executed';
    await first.settle(failed('It broke off.', executed));
    throw error;
  });
  await first.settle(ran.outcome);
  return ran.stage === 'ended' ? ran.outcome : finish(path, limited, ran);
}

/** commit → claim → execute. */
async function run(path: Path, call: Call, permitted: Permitted): Promise<Ended | Ran> {
  const committed = await commit(path, call, permitted);
  if (committed.stage === 'ended') return committed;
  const claimed = await claim(path, call, committed);
  return claimed.stage === 'ended' ? claimed : execute(path, call, claimed);
}
