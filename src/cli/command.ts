/** One option of a command, as the help shows it and as `parseArgs` reads it. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** Stands for the value in the help, e.g. `FILE`. */
  readonly value?: string;
  readonly help: string;
}

export interface ParsedCommand {
  readonly positionals: readonly string[];
  readonly options: ReadonlyMap<string, string | boolean | readonly string[]>;
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
  /** Fewest and most positional arguments. */
  readonly positionals: readonly [min: number, max: number];
  load(): Promise<{ run(parsed: ParsedCommand, io: CommandIo): Promise<number> }>;
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
