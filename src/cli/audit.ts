import { readFile } from 'node:fs/promises';
import {
  type AuditFilter,
  type AuditHead,
  type AuditRow,
  auditHeads,
  auditWriter,
  pruneAudit,
  readAudit,
  readHeads,
  verifyAudit,
} from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { isRunning, repairAudit } from './audit-repair.ts';
import { auditRow, auditShown } from './audit-text.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { counted } from './counted.ts';
import { EXIT } from './exit-code.ts';
import { auditAnchors, auditKey, auditKeyIfThere, auditLogs } from './open-audit.ts';
import { flag, numberOption, stringOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';

const SHOWN = 50;

type Verb = (parsed: ParsedCommand, io: CommandIo) => Promise<number>;

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['list', list],
  ['show', show],
  ['export', exportAll],
  ['verify', verify],
  ['heads', heads],
  ['prune', prune],
]);

/** `bridle audit list|show|export|verify|heads|prune`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [name = '', id] = parsed.positionals;
  const verb = VERBS.get(name);
  if (verb && (name === 'show') === (id !== undefined)) return verb(parsed, io);
  throw new BridleError('usage', `There is no 'bridle audit ${printable(parsed.positionals.join(' '))}'.`, {
    hint: `It is one of ${[...VERBS.keys()].join(', ')}; show takes the id of a call, or WRITER:NUMBER.`,
  });
}

async function list(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const limit = numberOption(parsed, 'limit') ?? SHOWN;
  const rows: AuditRow[] = [];
  let isWhole = true;
  const onPart = () => {
    isWhole = false;
  };
  for await (const row of calls(parsed, io, onPart)) {
    rows.push(row);
    if (rows.length > limit) rows.shift();
  }
  if (flag(parsed, 'json')) printJson(io, rows, 2);
  else if (rows.length === 0) io.stdout.write('No calls in the audit match.\n');
  else for (const row of rows) io.stdout.write(`${auditRow(row)}\n`);
  return isWhole ? EXIT.answered : EXIT.failed;
}

/** Of one call everything that is known; newest first where several have its id. */
async function show(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const id = parsed.positionals[1] ?? '';
  const found: AuditRow[] = [];
  let isWhole = true;
  const onPart = () => {
    isWhole = false;
  };
  for await (const row of calls(parsed, io, onPart)) {
    if (row.call.id === id || `${row.writer}:${row.seq}` === id) found.unshift(row);
  }
  if (found.length === 0) {
    throw new BridleError('audit_not_found', `There is no call '${printable(id)}' in the audit.`, {
      hint: "'bridle audit list' shows what there is.",
    });
  }
  if (flag(parsed, 'json')) printJson(io, found, 2);
  else io.stdout.write(`${found.map(auditShown).join('\n\n')}\n`);
  // What can't be read may hold another call of this id.
  return isWhole ? EXIT.answered : EXIT.failed;
}

/** Every record, as it is, one a line: what others need to verify the chains for themselves. */
async function exportAll(_parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const logs = auditLogs(io);
  let isWhole = true;
  for (const writer of await logs.writers()) {
    try {
      for await (const { record } of logs.log(writer).read(1)) printJson(io, record);
    } catch (error) {
      isWhole = false;
      io.stderr.write(`${printable(`${writer}: not wholly exported: ${messageOf(error)}`)}\n`);
    }
  }
  return isWhole ? EXIT.answered : EXIT.failed;
}

async function heads(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const found = await auditHeads(auditLogs(io));
  if (flag(parsed, 'json')) printJson(io, found, 2);
  else for (const { writer, seq, hash } of found.heads) io.stdout.write(`${printable(writer)}  ${seq}  ${hash}\n`);
  for (const { writer, text } of found.problems ?? []) {
    const head = found.heads.find((one) => one.writer === writer);
    const said = head ? `its head is of record ${head.seq}` : 'it has no head';
    io.stderr.write(`${printable(`${writer}: ${said}. ${text}`)}\n`);
  }
  return found.problems ? EXIT.failed : EXIT.answered;
}

async function verify(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const logs = auditLogs(io);
  if (flag(parsed, 'repair')) await repairAudit(io, flag(parsed, 'json') ? io.stderr : io.stdout);
  const kept = await headsIn(parsed);
  const key = await auditKeyIfThere(io);
  const result = await verifyAudit({
    logs,
    anchors: auditAnchors(io),
    ...(key && { key }),
    ...(kept && { heads: kept }),
  });
  if (flag(parsed, 'json')) {
    printJson(io, result, 2);
    return result.ok ? EXIT.answered : EXIT.failed;
  }
  const style = styleFor(io.stdout, io.env);
  for (const { writer, torn, closed } of result.writers) {
    if (torn > 0 && !closed)
      io.stdout.write(`${printable(writer)}: ${torn} bytes behind the last whole record; --repair cuts them off\n`);
  }
  for (const { writer, text } of result.problems)
    io.stdout.write(`${style.red('problem:')} ${printable(`${writer}: ${text}`)}\n`);
  const records = result.writers.reduce((sum, one) => sum + one.records, 0);
  const pruned = result.writers.reduce((sum, one) => sum + one.pruned, 0);
  const removed = pruned > 0 ? `, and ${pruned} that were pruned` : '';
  const words = `${counted(records, 'record')} of ${counted(result.writers.length, 'writer')}${removed}`;
  io.stdout.write(result.ok ? `The audit holds: ${words}.\n` : `The audit does not hold; ${words} were looked at.\n`);
  if (result.withoutKey)
    io.stdout.write(
      'There is no installation.key here, so only the chains were checked, not what was signed with it.\n',
    );
  if (!kept?.length)
    io.stdout.write("What is missing at the end of a chain shows only with --heads FILE, of 'audit heads --json'.\n");
  return result.ok ? EXIT.answered : EXIT.failed;
}

async function headsIn(parsed: ParsedCommand): Promise<readonly AuditHead[] | undefined> {
  const file = stringOption(parsed, 'heads');
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new BridleError('audit_heads_unreadable', `${printable(file)} can't be read.`, {
      hint: "Name the file that 'bridle audit heads --json' was written to.",
      cause,
    });
  }
  return readHeads(text, printable(file)).heads;
}

async function prune(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const before = timeOption(parsed, 'before');
  if (before === undefined) {
    throw new BridleError('usage', "'bridle audit prune' needs --before.", {
      hint: 'Such as --before 2026-01-31, or --before 90d.',
    });
  }
  const anchors = auditAnchors(io);
  const dryRun = flag(parsed, 'dry-run');
  const options = { logs: auditLogs(io), anchors, writer: auditWriter(), key: await auditKey(io), before, dryRun };
  const report = await pruneAudit({ ...options, isRunning });
  await anchors.close();
  if (flag(parsed, 'json')) printJson(io, report, 2);
  else {
    const records = report.pruned.reduce((sum, one) => sum + one.records, 0);
    const words = `${counted(records, 'record')} of ${counted(report.pruned.length, 'writer')}`;
    io.stdout.write(dryRun ? `${words} would be removed.\n` : `${words} removed; anchors stand for them.\n`);
    for (const writer of report.broken)
      io.stdout.write(`${printable(writer)}: its chain doesn't hold, left as it is\n`);
  }
  return report.broken.length > 0 ? EXIT.failed : EXIT.answered;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** @param onPart told when something can't be read */
function calls(parsed: ParsedCommand, io: CommandIo, onPart: () => void): AsyncIterable<AuditRow> {
  const filter: AuditFilter = {
    ...given('agent', stringOption(parsed, 'agent')),
    ...given('tool', stringOption(parsed, 'tool')),
    ...given('outcome', stringOption(parsed, 'outcome')),
    ...given('since', timeOption(parsed, 'since')),
    ...given('until', timeOption(parsed, 'until')),
  };
  const onUnreadable = (writer: string, why: string) => {
    onPart();
    io.stderr.write(`${printable(`${writer}: not wholly read: ${why}`)}\n`);
  };
  return readAudit(auditLogs(io), filter, onUnreadable);
}

function given<K extends string, V>(key: K, value: V | undefined): { readonly [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in K]: V });
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A date or time (ISO 8601), or how long ago: `30m`, `12h`, `90d`. */
function timeOption(parsed: ParsedCommand, name: string): number | undefined {
  const text = stringOption(parsed, name);
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return Date.now() - Number(count) * UNITS[unit as keyof typeof UNITS];
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new BridleError(
    'usage',
    `--${name} takes a date such as 2026-01-31, or an age such as 90d, not '${printable(text)}'.`,
  );
}
