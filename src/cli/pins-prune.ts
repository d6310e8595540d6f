import type { Project } from '../host/index.ts';
import type { PinRecord, Pins } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { counted } from './counted.ts';
import { fingerprintOf } from './fingerprint-of.ts';
import { flag } from './parse.ts';
import { pinLine } from './pin-text.ts';
import { printJson } from './print-json.ts';
import { warn } from './workspace.ts';

/**
 * `bridle pins prune`: what goes is shown before it does.
 *
 * @throws BridleError `config_servers_unreadable` while servers may be configured that nobody can see
 */
export async function prune(known: Pins, parsed: ParsedCommand, io: CommandIo, project: Project): Promise<void> {
  if (project.unread.length > 0) {
    warn(project.unread, io);
    throw new BridleError('config_servers_unreadable', 'It is not certain which servers are configured here.', {
      hint: "Correct what the warnings name; nothing was taken away. 'bridle pins forget SERVER' takes those of one server.",
    });
  }
  const isDryRun = flag(parsed, 'dry-run');
  const old = known.list().flatMap((record) => {
    const why = whyOld(record, project);
    return why === undefined ? [] : [{ record, why }];
  });
  if (flag(parsed, 'json')) {
    const pins = old.map(({ record: { id, name, server, tool }, why }) => ({ id, name, server, tool, why }));
    if (!isDryRun) for (const { record } of old) await known.forget(record.id);
    printJson(io, { pruned: pins, dryRun: isDryRun }, 2);
    return;
  }
  for (const { record, why } of old) io.stdout.write(`${pinLine(record)} (${why})\n`);
  if (!isDryRun) for (const { record } of old) await known.forget(record.id);
  io.stdout.write(`${counted(old.length, 'pin')} ${isDryRun ? 'would be taken away' : 'taken away'}.\n`);
}

/**
 * Why nothing that is configured here can use a pin; undefined while something may. A server that isn't trusted, is
 * switched off, can't be read now or lacks a variable may come back as it was.
 */
function whyOld({ server }: PinRecord, { listed, servers, warnings }: Project): string | undefined {
  if (server === null) return undefined;
  const entries = listed.filter(({ key }) => key === server.key);
  if (entries.length === 0) return `server ${printable(server.key)} is not configured here`;
  const used = servers.find(({ key }) => key === server.key);
  if (!used || !entries.every(({ state }) => state === 'ready')) return undefined;
  const isUnset = warnings.some(
    ({ code, source }) =>
      code === 'variable_unset' && source?.file === used.source.file && source.line === used.source.line,
  );
  if (isUnset) return undefined;
  const fingerprint = fingerprintOf(used);
  if (fingerprint === undefined || fingerprint === server.fingerprint) return undefined;
  return `server ${printable(server.key)} has another command line or address now`;
}
