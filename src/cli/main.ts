import { type CommandIo, rowFor } from './command.ts';
import { COMMANDS } from './commands.ts';
import { columns, HELP_WIDTH, helpOf } from './help.ts';
import { watchOutput } from './output.ts';
import { version } from './version.ts';

/**
 * Runs the command line. `--version` and `--help` are answered from the table alone, so that they cost little more
 * than starting Node; everything else is loaded when it is needed.
 *
 * @param args the arguments after the program's name
 * @returns the exit status
 */
export async function main(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const written = watchOutput(io);
  const status = await answer(args, io);
  const failure = await written();
  if (failure === undefined) return status;
  const { reportUnwritten } = await import('./run-command.ts');
  return reportUnwritten(failure, io);
}

async function answer(args: readonly string[], io: CommandIo): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version' || name === '-V' || name === '-v') {
    io.stdout.write(`${version()}\n`);
    return 0;
  }
  if (name === undefined || name === '--help' || name === '-h') {
    io.stdout.write(overview());
    return 0;
  }
  if (name === 'help') {
    const [topic = ''] = rest;
    if (!COMMANDS.some((command) => command.name === topic)) {
      const { helpOfCode } = await import('./help-code.ts');
      const help = helpOfCode(topic);
      if (help !== undefined) {
        io.stdout.write(help);
        return 0;
      }
    }
    return answer([...rest.slice(0, 2), '--help'], io);
  }
  const spec = COMMANDS.find((command) => command.name === name);
  const options = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
  if (spec && options.some((arg) => arg === '--help' || arg === '-h')) {
    io.stdout.write(helpOf(rowFor(spec, options)));
    return 0;
  }
  const { runCommand } = await import('./run-command.ts');
  return runCommand(name, spec, rest, io);
}

function overview(): string {
  return [
    'bridle: a model proposes a call, bridle decides whether it may run',
    '',
    'Usage: bridle <command> [options]',
    '',
    'Commands:',
    ...columns(
      COMMANDS.map(({ name, summary }) => [name, summary] as const),
      HELP_WIDTH,
    ),
    '',
    'Options:',
    ...columns([
      ['--version', 'print the version'],
      ['--help', "show this help, or a command's after its name"],
      ['help CODE', 'what an error means, and what to do'],
    ]),
    '',
    'Start with:',
    ...columns([
      ['bridle demo', 'the tour: no key, no network'],
      ['bridle run --help', 'then your own servers'],
    ]),
    '',
  ].join('\n');
}

function processIo(): CommandIo {
  return { cwd: process.cwd(), env: process.env, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
}
