import type { TelemetryContext, TelemetrySpan } from './types.ts';

/**
 * Under this key the API keeps a context's span. It is a registered symbol, so that all copies of the API in a process
 * agree on it, and so can we without one.
 */
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

class Context implements TelemetryContext {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown>) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): TelemetryContext {
    return new Context(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): TelemetryContext {
    const values = new Map(this.#values);
    values.delete(key);
    return new Context(values);
  }
}

/** The context in which whatever is started is a child of `span`. */
export function contextOf(span: TelemetrySpan): TelemetryContext {
  return new Context(new Map([[SPAN, span]]));
}

/** The span under which something is started. */
export function spanOf(context: TelemetryContext | undefined): unknown {
  return context?.getValue(SPAN);
}
