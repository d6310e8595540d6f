import type { Executed, Failure, Json, JsonObject, RawJson } from '../contracts/index.ts';
import { rawFrom } from './raw-json.ts';

/** Everything but the message may be left out: a failure is then a business one that isn't worth a retry. */
export interface ToolFailureOptions {
  readonly category?: Failure['category'];
  readonly retryable?: boolean;
  readonly executed?: Executed;
  readonly attempts?: readonly string[];
  readonly alternatives?: readonly string[];
  readonly partial?: Json;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('bridle.ToolFailure');

/**
 * What a handler throws to say that a call failed, in words the model can act on. An empty answer is not a failure:
 * return it.
 *
 * @example throw new ToolFailure('Order O-9 is outside the 30-day return window.', { category: 'business' });
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly failure: Failure;
  /** Lets `ToolFailure.is` recognise one that another copy of this package made. */
  readonly [BRAND] = true;

  constructor(message: string, options: ToolFailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const category = options.category ?? 'business';
    this.failure = {
      category,
      retryable: options.retryable ?? category === 'transient',
      message,
      executed: options.executed ?? (category === 'transient' ? 'unknown' : 'not_executed'),
      attempts: options.attempts ?? [],
      ...(options.alternatives && { alternatives: options.alternatives }),
      ...(options.partial !== undefined && { partial: rawFrom(options.partial) }),
    };
  }

  static is(error: unknown): error is ToolFailure {
    return typeof error === 'object' && error !== null && BRAND in error;
  }
}

/** The failure's wire form: the JSON object that goes, as text, into an `is_error` result. */
export function failureToWire(failure: Failure): JsonObject {
  return {
    errorCategory: failure.category,
    isRetryable: failure.retryable,
    description: failure.message,
    outcome: failure.executed,
    ...(failure.attempts.length > 0 && { attempted: [...failure.attempts] }),
    ...(failure.partial && { partialResults: parsedOrText(failure.partial) }),
    ...(failure.alternatives && failure.alternatives.length > 0 && { alternatives: [...failure.alternatives] }),
  };
}

function parsedOrText(raw: RawJson): Json {
  try {
    return raw.parse();
  } catch {
    return raw.text;
  }
}
