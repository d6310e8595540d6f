import { type ParseArgsConfig, parseArgs } from 'node:util';
import { BridleError } from '../tools/index.ts';
import type { CommandSpec, ParsedCommand } from './command.ts';
import { nearest } from './nearest.ts';

/**
 * Reads a command's arguments.
 *
 * @throws BridleError `usage` naming the argument, with the command's help as the way on
 */
export function parseCommand(spec: CommandSpec, args: readonly string[]): ParsedCommand {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  for (const [name, option] of Object.entries(spec.options)) {
    const { type, multiple = false, short } = option;
    options[name] = { type, multiple, ...(short !== undefined && { short }) };
  }
  const hint = `Run 'bridle ${spec.name} --help' to see what it takes.`;
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    const said = problemOf(error);
    const unknown = /^Unknown option '(--?[^']*)'/.exec(said)?.[1];
    // An option of the server's own command, most likely.
    if (unknown && spec.usage.includes(' -- ')) {
      const what = `There is no option '${unknown}' here. If it is the server's own, put -- before its command.`;
      throw new BridleError('usage', what, { hint, cause: error });
    }
    const near = unknown && nearest(unknown.replace(/^-+/, ''), Object.keys(options));
    throw new BridleError('usage', `${said}.${near ? ` Did you mean --${near}?` : ''}`, { hint, cause: error });
  }
  const values = new Map<string, string | boolean | readonly string[]>();
  for (const [name, value] of Object.entries(parsed.values)) {
    if (value !== undefined) values.set(name, Array.isArray(value) ? value.map(String) : value);
  }
  const [min, max] = spec.positionals;
  const given = parsed.positionals.length;
  if (values.get('help') !== true && (given < min || given > max)) {
    if (given < min) throw new BridleError('usage', `'bridle ${spec.name}' needs ${spec.usage}.`, { hint });
    const quoted = /^"([^"]+)"/.exec(spec.usage)?.[1];
    const quotes = quoted === undefined ? '' : ` Put the ${quoted} in quotes.`;
    // A verb is part of the command's name, and no argument to whoever reads this.
    const verbs = spec.name.split(' ').length - 1;
    const [most, there] = [max - verbs, given - verbs];
    const takes = most === 0 ? 'no argument' : most === 1 ? 'one argument' : `at most ${most} arguments`;
    const are = there === 1 ? 'is' : 'are';
    const problem = `'bridle ${spec.name}' takes ${takes}, and there ${are} ${there}.${quotes}`;
    throw new BridleError('usage', problem, { hint });
  }
  const hasDashes = parsed.tokens?.some(({ kind }) => kind === 'option-terminator') === true;
  return { positionals: parsed.positionals, options: values, hasDashes };
}

/** What `parseArgs` has to say, in one sentence of ours where its own speaks of something else than the slip. */
function problemOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const [, option, negative] =
    /^Option '(?:-\w, )?(--[\w-]+)[^']*' (?:argument missing|argument is (ambiguous))/.exec(said) ?? [];
  if (option !== undefined) {
    const dash = negative ? `; one that begins with a dash is written ${option}=VALUE` : '';
    return `${option} needs a value${dash}`;
  }
  return said.split(/\. |\n/)[0] ?? said;
}

/** Typed views of parsed options. */
export function stringOption(parsed: ParsedCommand, name: string): string | undefined {
  const value = parsed.options.get(name);
  return typeof value === 'string' ? value : undefined;
}

export function listOption(parsed: ParsedCommand, name: string): readonly string[] {
  const value = parsed.options.get(name);
  return Array.isArray(value) ? value : [];
}

export function flag(parsed: ParsedCommand, name: string): boolean {
  return parsed.options.get(name) === true;
}

/**
 * A positive number given as an option.
 *
 * @throws BridleError `usage` when it is something else
 */
export function numberOption(
  parsed: ParsedCommand,
  name: string,
  kind: 'integer' | 'number' = 'integer',
): number | undefined {
  const text = stringOption(parsed, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0 || (kind === 'integer' && !Number.isInteger(value))) {
    throw new BridleError(
      'usage',
      `--${name} takes a positive ${kind === 'integer' ? 'whole number' : 'number'}, not '${text}'.`,
    );
  }
  return value;
}

/**
 * A port: 0 is any that is free.
 *
 * @throws BridleError `usage` when it is none
 */
export function portOption(parsed: ParsedCommand, name = 'port'): number | undefined {
  const text = stringOption(parsed, name);
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new BridleError('usage', `--${name} takes a number from 0 to 65535, not '${text}'.`, {
    hint: '0 is any port that is free.',
  });
}
