import { importSettings, type SettingsReport } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { flag, listOption, stringOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';
import { reasonLine } from './workspace.ts';

/** `bridle import-settings`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const to = stringOption(parsed, 'to');
  if (to !== undefined && to !== 'project' && to !== 'user') {
    throw new BridleError('usage', `Rules can't be put to '${printable(to)}'.`, {
      hint: 'Give --to project or --to user.',
    });
  }
  const from = listOption(parsed, 'from');
  const dryRun = flag(parsed, 'dry-run');
  const report = await importSettings({
    cwd: io.cwd,
    env: io.env,
    ...(from.length > 0 && { from }),
    ...(to && { to }),
    dryRun,
  });
  if (flag(parsed, 'json')) printJson(io, { dryRun, ...report }, 2);
  else print(report, dryRun, io);
  return 0;
}

function print({ files, taken, mode, left }: SettingsReport, dryRun: boolean, io: CommandIo): void {
  const style = styleFor(io.stdout, io.env);
  const line = (text: string) => io.stdout.write(`${text}\n`);
  const took = style.green(dryRun ? 'would take' : 'took');
  if (files.length === 0 && left.length === 0) {
    line('No settings of Claude Code were found here. Name a file with --from FILE.');
    return;
  }
  for (const { kind, rule, file, from, problem } of taken) {
    line(`${took} ${printable(`${kind} ${rule}, from ${from.file}:${from.line} to ${file}`)}`);
    if (problem) line(`  ${style.yellow('note:')} ${printable(problem.text)}`);
  }
  if (mode) line(`${took} ${printable(`mode ${mode.mode}, to ${mode.file}`)}`);
  for (const reason of left) line(`${style.yellow('left')} ${reasonLine(reason)}`);
  if (taken.length === 0 && !mode) line('Nothing to take.');
  else if (dryRun) line('Nothing was written; leave --dry-run out to do it.');
}
