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

  constructor(of: Signalled) {
    this[OF] = of;
    Object.defineProperty(this, 'signal', SIGNAL);
  }
}
