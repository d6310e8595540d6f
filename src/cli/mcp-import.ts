import { type ImportReport, importServers } from '../host/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { shownEntry } from './mcp-entry.ts';
import { flag, listOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { scopeOption, scopesShown } from './scope.ts';
import { styleFor } from './style.ts';
import { reasonLine } from './workspace.ts';

/** `bridle mcp import`. */
export async function importCommand(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const from = listOption(parsed, 'from');
  const scope = scopeOption(parsed);
  const dryRun = flag(parsed, 'dry-run');
  const report = await importServers({
    cwd: io.cwd,
    env: io.env,
    ...(from.length > 0 && { from }),
    ...(scope !== undefined && { scope }),
    force: flag(parsed, 'force'),
    dryRun,
  });
  if (flag(parsed, 'json')) {
    const taken = report.taken.map(({ entry, ...rest }) => ({ ...rest, ...shownEntry(entry) }));
    printJson(io, { dryRun, ...report, taken }, 2);
  } else print(report, dryRun, io);
  return 0;
}

function print({ files, taken, left }: ImportReport, dryRun: boolean, io: CommandIo): void {
  const style = styleFor(io.stdout, io.env);
  const line = (text: string) => io.stdout.write(`${text}\n`);
  if (files.length === 0 && left.length === 0) {
    line('No file of another program was found here. Name one with --from FILE.');
    return;
  }
  for (const { key, scope, file, from, entry, notes } of taken) {
    const { runs, url } = shownEntry(entry);
    line(`${style.green(dryRun ? 'would take' : 'took')} ${printable(key)}: ${printable(runs ?? url ?? '')}`);
    line(printable(`  from ${from.file}:${from.line} to ${file} (${scopesShown(scope)})`));
    for (const note of notes) line(`  ${style.yellow('note:')} ${reasonLine(note)}`);
  }
  for (const { key, reason } of left) {
    line(`${style.yellow('left')} ${key === null ? '' : `${printable(key)}: `}${reasonLine(reason)}`);
  }
  if (taken.length === 0) line('Nothing to take.');
  else if (dryRun) line('Nothing was written; leave --dry-run out to do it.');
}
