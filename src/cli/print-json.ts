import { visibleText } from '../host/index.ts';
import type { CommandIo } from './command.ts';

/**
 * Prints a value as JSON on stdout. JSON's own escapes leave out controls above U+007F, bidi and zero-width characters,
 * which a terminal obeys; as escapes they mean the same to a program.
 *
 * @param indent spaces a level; absent: one line
 */
export function printJson({ stdout }: Pick<CommandIo, 'stdout'>, value: unknown, indent?: number): void {
  stdout.write(`${visibleText(JSON.stringify(value, null, indent), { newlines: true })}\n`);
}
