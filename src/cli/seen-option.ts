import { BridleError, printable } from '../tools/index.ts';
import type { ParsedCommand } from './command.ts';
import { stringOption } from './parse.ts';

/** So many digits as `show` prints: fewer fit many definitions, and none, as of a variable that is empty, fits each. */
const BEGINNING = /^[0-9a-f]{12,64}$/;

/**
 * The beginning of the fingerprint of the definition that was looked at.
 *
 * @throws BridleError `usage`
 */
export function seenOption(parsed: ParsedCommand): string | undefined {
  const seen = stringOption(parsed, 'seen');
  if (seen === undefined || BEGINNING.test(seen)) return seen;
  throw new BridleError('usage', `--seen takes at least 12 hex digits of a fingerprint, not '${printable(seen)}'.`, {
    hint: "'show' prints them.",
  });
}
