/**
 * An error in the shape of `BridleError`, made here because this folder imports nothing but types: whoever asks
 * `isBridleError` goes by the shape.
 *
 * @param code stable, snake_case
 * @param message what happened, and to which thing
 * @param hint what to do next
 */
export function storeError(code: string, message: string, hint: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.defineProperties(error, {
    name: { value: 'BridleError' },
    code: { value: code, enumerable: true },
    hint: { value: hint, enumerable: true },
  });
}
