/** One option of a command, as the help shows it and as `parseArgs` reads it. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** One letter, e.g. `e` for `-e`. */
  readonly short?: string;
  /** Stands for the value in the help, e.g. `FILE`. */
  readonly value?: string;
  readonly help: string;
}

export interface ParsedCommand {
  readonly positionals: readonly string[];
  readonly options: ReadonlyMap<string, string | boolean | readonly string[]>;
  /** A `--` stands among the arguments. */
  readonly hasDashes?: boolean;
}

/** A row of the command table: everything the help needs, and where the code is. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  /** What follows the command's name, e.g. `"task"` or `<tool>`. */
  readonly usage: string;
  readonly details?: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** Fewest and most positional arguments; a verb counts as one. */
  readonly positionals: readonly [min: number, max: number];
  /** For a command whose first argument says what to do: each verb with options and a help of its own. */
  readonly verbs?: Readonly<Record<string, VerbSpec>>;
  load(): Promise<{ run(parsed: ParsedCommand, io: CommandIo): Promise<number> }>;
}

/** What a verb takes; `positionals` don't count the verb itself. */
export type VerbSpec = Omit<CommandSpec, 'name' | 'verbs' | 'load'>;

/** The row for these arguments: the verb's own where the first one is a verb of the command. */
export function rowFor(spec: CommandSpec, args: readonly string[]): CommandSpec {
  const verb = args[0] ?? '';
  const row = spec.verbs && Object.hasOwn(spec.verbs, verb) ? spec.verbs[verb] : undefined;
  if (!row) return spec;
  const [min, max] = row.positionals;
  return { ...row, name: `${spec.name} ${verb}`, positionals: [min + 1, max + 1], load: spec.load };
}

/** The process's surroundings as the commands see them, so that tests can give others. */
export interface CommandIo {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

export const HELP_OPTION: OptionSpec = { type: 'boolean', help: 'show this help' };
