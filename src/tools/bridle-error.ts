/**
 * An error that a user of Bridle can meet. Its message says what happened and to which thing, `hint` what to do next;
 * `code` is stable and listed in the error catalogue.
 */
export class BridleError extends Error {
  override readonly name = 'BridleError';
  readonly code: string;
  readonly hint?: string;

  /**
   * @param code stable, snake_case, e.g. `config_not_json`
   * @param message one or two plain sentences, without a stack or a secret
   */
  constructor(code: string, message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    if (options.hint !== undefined) this.hint = options.hint;
  }
}

/** True for a BridleError of this or of another copy of the package. */
export function isBridleError(error: unknown): error is BridleError {
  return error instanceof Error && error.name === 'BridleError' && 'code' in error && typeof error.code === 'string';
}
