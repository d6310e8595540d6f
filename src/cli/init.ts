import { resolve } from 'node:path';
import { initProject } from '../host/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { columns } from './help.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';

/** `bridle init [FOLDER]`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const folder = resolve(io.cwd, parsed.positionals[0] ?? '.');
  const { written, kept } = await initProject(folder);
  if (flag(parsed, 'json')) {
    printJson(io, { folder, written, kept }, 2);
    return 0;
  }
  for (const name of written) io.stdout.write(`wrote ${printable(resolve(folder, name))}\n`);
  for (const name of kept) io.stdout.write(`kept ${printable(resolve(folder, name))}, which was there already\n`);
  io.stdout.write(
    `\nNext, in that folder:\n${columns([
      ['npm install bridle', 'if it is not there yet'],
      ['node agent.mjs', 'run the agent: no key, no network'],
      ['bridle mcp add NAME -- COMMAND', 'give it a server'],
      ['bridle mcp import --dry-run', 'see what your other programs have'],
    ]).join('\n')}\n`,
  );
  return 0;
}
