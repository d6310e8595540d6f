import { OWN_SCOPES, type OwnScope } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { ParsedCommand } from './command.ts';
import { stringOption } from './parse.ts';

/** The scope given by `--scope`. @throws BridleError `usage` when there is no such scope */
export function scopeOption(parsed: ParsedCommand): OwnScope | undefined {
  const text = stringOption(parsed, 'scope');
  const scope = OWN_SCOPES.find((one) => one === text);
  if (text === undefined || scope !== undefined) return scope;
  throw new BridleError('usage', `There is no scope '${printable(text)}'.`, {
    hint: `It is one of ${OWN_SCOPES.join(', ')}.`,
  });
}

/** What a scope means, for a sentence. */
export function scopesShown(scope: OwnScope): string {
  return {
    local: 'local: you, in this project',
    project: 'project: everybody who has it',
    user: 'user: you, everywhere',
  }[scope];
}
