/**
 * Rule of this file: what travels through a client between two legs of a call is sealed. A state is good for the caller it
 * was given to, for exactly that tool with exactly those arguments, and for half an hour (MCP 2026-07-28, Multi Round-Trip
 * Requests: `requestState` comes back from outside, and is to be taken for an attacker's).
 */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { CallContext, Failure, Json, ServerRef, SourceResult } from '../contracts/index.ts';
import { canonicalJson, onAbort, rawFrom, sha256 } from '../tools/index.ts';
import { WaitingCall } from './waiting-call.ts';

const STATE_MS = 30 * 60_000;
/** How long a server is kept waiting for a client to come back, in milliseconds. */
const WAIT_MS = 5 * 60_000;
/** Calls that wait at once, of all agents and of one. */
const MOST_WAITING = 1000;
const MOST_OF_ONE = 50;

/** What is called: a tool, a resource, a prompt. */
export interface Subject {
  readonly kind: 'tool' | 'resource' | 'prompt';
  readonly server: ServerRef | null;
  readonly name: string;
  readonly args: Json;
}

type Call = (ctx: CallContext) => Promise<SourceResult>;

/** What is sealed: a server's own state, or the number of a call that waits here. */
type State = { readonly theirs: string } | { readonly ours: string };

interface Kept {
  readonly call: WaitingCall;
  readonly agent: string;
  readonly timer: NodeJS.Timeout;
}

export interface RoundsOptions {
  /** Seals states: several gateways with the same one take each other's. Default: random. */
  readonly secret?: string;
  readonly waitMs?: number;
}

/**
 * Carries what servers ask for to clients that are asked by a result and come back. A server of 2026-07-28 asks by a result
 * itself, and its state is sealed; one of the older revisions asks in the middle of a call, which is kept waiting here.
 */
export class Rounds {
  readonly #key: Buffer | string;
  readonly #waitMs: number;
  readonly #kept = new Map<string, Kept>();

  constructor({ secret, waitMs = WAIT_MS }: RoundsOptions = {}) {
    this.#key = secret || randomBytes(32);
    this.#waitMs = waitMs;
  }

  /** How many calls wait for their client. */
  get waiting(): number {
    return this.#kept.size;
  }

  /** One leg of a call. Never rejects, as far as `call` doesn't. */
  async run(subject: Subject, ctx: CallContext, call: Call): Promise<SourceResult> {
    const { answers } = ctx;
    if (answers?.state === undefined) return this.#begin(subject, ctx, call);
    const bound = boundOf(subject, ctx);
    const state = this.#open(answers.state, bound);
    if (!state) return refused(subject, 'is not one that this call was given, or is too old');
    if ('theirs' in state) {
      const leg = { ...ctx, answers: { responses: answers.responses, state: state.theirs } };
      return this.#sealed(await call(leg), bound);
    }
    const kept = this.#kept.get(state.ours);
    if (!kept) return refused(subject, 'belongs to a call that is over: it was answered already, or not in time');
    this.#kept.delete(state.ours);
    clearTimeout(kept.timer);
    kept.call.answer(answers.responses, ctx);
    return this.#leg(kept.call, ctx, bound);
  }

  /** Ends every call that waits. */
  close(): void {
    for (const { call, timer } of this.#kept.values()) {
      clearTimeout(timer);
      call.stop();
    }
    this.#kept.clear();
  }

  async #begin(subject: Subject, ctx: CallContext, call: Call): Promise<SourceResult> {
    const mayBeAsked = ctx.takesQuestions === true && (ctx.canAnswer?.length ?? 0) > 0;
    if (!mayBeAsked || this.#isFull(ctx.who.agent)) {
      const result = await call(ctx);
      return result.kind === 'input_required' ? this.#sealed(result, boundOf(subject, ctx)) : result;
    }
    return this.#leg(new WaitingCall(ctx, call), ctx, boundOf(subject, ctx));
  }

  async #leg(call: WaitingCall, ctx: CallContext, bound: string): Promise<SourceResult> {
    const { signal } = ctx;
    if (signal.aborted) call.stop();
    const unfollow = signal.aborted ? undefined : onAbort(signal, () => call.stop());
    const turn = await call.turn().finally(() => unfollow?.());
    if ('result' in turn) return this.#sealed(turn.result, bound);
    if (signal.aborted) call.stop();
    const id = randomUUID();
    const timer = setTimeout(() => {
      this.#kept.delete(id);
      call.stop();
    }, this.#waitMs);
    this.#kept.set(id, { call, agent: ctx.who.agent, timer });
    return { kind: 'input_required', requests: rawFrom(turn.asked), state: this.#seal({ ours: id }, bound) };
  }

  /** Where no more may wait, a server that asks is refused, as by a client that answers nothing. */
  #isFull(agent: string): boolean {
    if (this.#kept.size >= MOST_WAITING) return true;
    let own = 0;
    for (const each of this.#kept.values()) if (each.agent === agent) own += 1;
    return own >= MOST_OF_ONE;
  }

  #sealed(result: SourceResult, bound: string): SourceResult {
    if (result.kind !== 'input_required' || result.state === undefined) return result;
    return { ...result, state: this.#seal({ theirs: result.state }, bound) };
  }

  #seal(state: State, bound: string): string {
    const body = Buffer.from(JSON.stringify({ ...state, bound, until: Date.now() + STATE_MS })).toString('base64url');
    return `${body}.${this.#sign(body).toString('base64url')}`;
  }

  #open(sealed: string, bound: string): State | undefined {
    const [body = '', signature = '', ...rest] = sealed.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.#sign(body);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const state = JSON.parse(Buffer.from(body, 'base64url').toString()) as State & { bound: string; until: number };
    return state.bound === bound && state.until > Date.now() ? state : undefined;
  }

  #sign(body: string): Buffer {
    return createHmac('sha256', this.#key).update(body).digest();
  }
}

function boundOf({ kind, server, name, args }: Subject, { who }: CallContext): string {
  return sha256(canonicalJson([kind, server?.key ?? null, name, args, who.agent, who.user ?? null]));
}

function refused({ kind, name }: Subject, why: string): SourceResult {
  const failure: Failure = {
    category: 'validation',
    retryable: false,
    message: `The request state that came with this request for the ${kind} "${name}" ${why}. Nothing was done by it. Make the request again without a state, and answer what it asks.`,
    executed: 'not_executed',
    attempts: [],
    badRequest: true,
  };
  return { kind: 'failure', failure };
}
