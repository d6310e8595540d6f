import type { ToolSearch } from '../agent/index.ts';
import type { Model } from '../contracts/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { ParsedCommand } from './command.ts';
import { stringOption } from './parse.ts';

const WAYS = ['auto', 'client', 'off'] as const;

/**
 * `--tool-search`.
 *
 * @returns undefined: it isn't said
 * @throws BridleError `usage`
 */
export function toolSearchOption(parsed: ParsedCommand): ToolSearch | undefined {
  const given = stringOption(parsed, 'tool-search');
  const way = WAYS.find((each) => each === given);
  if (given === undefined || way !== undefined) return way;
  throw new BridleError('usage', `--tool-search takes ${WAYS.join(', ')}, not '${printable(given)}'.`, {
    hint: "'auto' searches where there are many tools, 'client' for those that are marked, 'off' never.",
  });
}

/** What holds where nothing is said: a model that costs nothing is shown all tools. */
export function toolSearchFor(model: Model, chosen: ToolSearch | undefined): ToolSearch {
  return chosen ?? (model.id === 'offline' ? 'client' : 'auto');
}
