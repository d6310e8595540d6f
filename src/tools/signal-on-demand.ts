import { type Abortable, Cancellation } from './cancellation.ts';

interface Signalled {
  readonly signal: AbortSignal;
}

const OF = Symbol('bridle.signalOf');

/** One getter for all: with one each, no two contexts would have the same shape, and everything that reads them is slow. */
const SIGNAL: PropertyDescriptor & ThisType<SignalOnDemand> = {
  get() {
    return this[OF].signal;
  },
  enumerable: true,
};

/**
 * An object whose signal is asked for only when somebody looks at it: making one is dear, and most calls never do. It is a
 * property of its own, so a copy by spreading has it too.
 */
export class SignalOnDemand {
  declare readonly signal: AbortSignal;
  readonly [OF]: Signalled;
  /** Private, since a copy must not have it: its signal may be another one. */
  readonly #cancellation: Cancellation | undefined;

  constructor(of: Signalled) {
    this[OF] = of;
    this.#cancellation = of instanceof Cancellation ? of : undefined;
    Object.defineProperty(this, 'signal', SIGNAL);
  }

  /** Whether `ctx` is still wanted, without making its signal where that can be told. */
  static abortableOf(ctx: Signalled): Abortable {
    return (#cancellation in ctx && ctx.#cancellation) || ctx.signal;
  }
}
