import { BridleError, isBridleError, printable } from '../tools/index.ts';
import { type CommandIo, type CommandSpec, rowFor } from './command.ts';
import { COMMANDS } from './commands.ts';
import { EXIT, exitCodeOfError } from './exit-code.ts';
import { nearest } from './nearest.ts';
import { parseCommand } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';

/** Parses and runs one command; every failure becomes a message and an exit status, never a stack trace. */
export async function runCommand(
  name: string,
  spec: CommandSpec | undefined,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  try {
    if (!spec) throw unknownCommand(name);
    const parsed = parseCommand(rowFor(spec, args), args);
    return await (await spec.load()).run(parsed, io);
  } catch (error) {
    return report(error, io, args.includes('--json'));
  }
}

/** Reports that what a command said on stdout didn't get there; its own exit status says nothing then. */
export function reportUnwritten(cause: Error, io: CommandIo): number {
  const hint = 'Free space on its disk, or send the output somewhere else.';
  const error = new BridleError('output_not_written', `The output could not be written: ${cause.message}.`, {
    cause,
    hint,
  });
  return report(error, io, false);
}

function unknownCommand(name: string): BridleError {
  const near = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  const what = name.startsWith('-')
    ? `There is no option '${printable(name)}'`
    : `There is no command '${printable(name)}'`;
  return new BridleError('usage', `${what}.${near ? ` Did you mean '${near}'?` : ''}`, {
    hint: "Run 'bridle --help' for the commands.",
  });
}

/**
 * Prints an error for the reader who must act, and gives the exit status that fits.
 *
 * @param json whether a program reads stdout: it gets the error there as `{"error": {code, message, hint?}}`
 */
function report(error: unknown, io: CommandIo, json: boolean): number {
  const message = error instanceof Error ? error.message : String(error);
  if (json) {
    const { code, hint } = isBridleError(error) ? error : { code: 'internal', hint: undefined };
    printJson(io, { error: { code, message, ...(hint !== undefined && { hint }) } });
  }
  const style = styleFor(io.stderr, io.env);
  if (isBridleError(error)) {
    io.stderr.write(
      `${style.red(`error (${printable(error.code)}):`)} ${printable(error.message, { newlines: true }).trimEnd()}\n`,
    );
    if (error.hint) io.stderr.write(`  ${printable(error.hint, { newlines: true })}\n`);
    io.stderr.write(style.dim(`  More: 'bridle help ${printable(error.code)}'\n`));
    return exitCodeOfError(error.code);
  }
  io.stderr.write(`${style.red('error (internal):')} ${printable(message)}\n`);
  io.stderr.write(
    "  This is a fault of bridle's own; please report it with what you ran. BRIDLE_DEBUG=1 shows where.\n",
  );
  if (io.env.BRIDLE_DEBUG && error instanceof Error)
    io.stderr.write(`${printable(error.stack ?? '', { newlines: true })}\n`);
  return EXIT.failed;
}
