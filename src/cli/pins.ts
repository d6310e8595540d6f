import { loadProject, type Project } from '../host/index.ts';
import { definitionDiff, type PinRecord, type Pins } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { personName } from './approval-inbox.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { nearest } from './nearest.ts';
import { flag, listOption } from './parse.ts';
import { pinLine, pinText } from './pin-text.ts';
import { check, lock } from './pins-lock.ts';
import { prune } from './pins-prune.ts';
import { PINS_VERBS } from './pins-verbs.ts';
import { printJson } from './print-json.ts';
import { seenOption } from './seen-option.ts';
import { pinRecords } from './workspace-pins.ts';

type Verb = (known: Pins, parsed: ParsedCommand, io: CommandIo, project: Project) => Promise<void>;

/** Those that start nothing. */
const STORED: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['list', list],
  ['show', show],
  ['accept', accept],
  ['forget', forget],
  ['prune', prune],
]);

/** `bridle pins <verb>`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [name = ''] = parsed.positionals;
  if (name === 'check') return check(parsed, io);
  if (name === 'lock') return lock(parsed, io);
  const verb = STORED.get(name);
  if (!verb) {
    const verbs = Object.keys(PINS_VERBS);
    const near = nearest(name, verbs);
    throw new BridleError(
      'usage',
      `There is no 'bridle pins ${printable(name)}'.${near ? ` Did you mean '${near}'?` : ''}`,
      { hint: `It is one of ${verbs.join(', ')}.` },
    );
  }
  const mcpConfigFiles = listOption(parsed, 'mcp-config');
  const project = await loadProject({ cwd: io.cwd, env: io.env, untrusted: 'leave', mcpConfigFiles });
  const { known, close } = await pinRecords(io, project.root);
  try {
    await verb(known, parsed, io, project);
  } finally {
    await close();
  }
  return 0;
}

async function list(known: Pins, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const isWaiting = flag(parsed, 'waiting');
  const found = shown(known).filter(({ seen }) => !isWaiting || seen !== undefined);
  if (flag(parsed, 'json')) {
    printJson(io, { pins: found.map(withChanges) }, 2);
    return;
  }
  for (const record of found) io.stdout.write(`${pinLine(record)}\n`);
  if (found.length === 0) io.stdout.write(isWaiting ? 'Nothing is held back.\n' : 'Nothing is pinned here yet.\n');
}

async function show(known: Pins, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const found = named(shown(known), parsed);
  if (flag(parsed, 'json')) printJson(io, { pins: found.map(withChanges) }, 2);
  else for (const record of found) io.stdout.write(pinText(record));
}

async function accept(known: Pins, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const asked = seenOption(parsed);
  const found = named(shown(known), parsed);
  const waiting = found.filter(({ seen }) => seen !== undefined);
  if (waiting.length === 0) {
    const [first] = found;
    throw new BridleError('pin_nothing_new', `Nothing new was seen of "${first?.name ?? ''}".`, {
      hint: "'bridle pins list --waiting' shows what is held back.",
    });
  }
  if (asked !== undefined && !waiting.every(({ seen }) => seen?.fingerprint.startsWith(asked))) {
    throw new BridleError('pin_nothing_new', `What was seen last is another definition than ${printable(asked)}.`, {
      hint: "Look at it once more: 'bridle pins show'.",
    });
  }
  const accepted: PinRecord[] = [];
  for (const record of waiting) {
    const fingerprint = record.seen?.fingerprint ?? '';
    accepted.push(await known.accept(record.id, { by: personName(), fingerprint }));
    if (!flag(parsed, 'json')) io.stdout.write(pinText(record).replace(/^/, 'Accepted: '));
  }
  if (flag(parsed, 'json')) printJson(io, { accepted }, 2);
}

async function forget(known: Pins, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const [, , tool] = parsed.positionals;
  // Also that a server said nothing, which is shown nowhere.
  const found = named(known.list(), parsed).filter((record) => tool === undefined || record.tool === tool);
  if (found.length === 0) {
    throw new BridleError('pin_not_found', `There is no pin of a tool "${printable(tool ?? '')}" of that server.`, {
      hint: "'bridle pins list' shows what there is.",
    });
  }
  const forgotten: PinRecord[] = [];
  for (const { id } of found) forgotten.push(await known.forget(id));
  if (flag(parsed, 'json')) printJson(io, { forgotten }, 2);
  else for (const record of forgotten) io.stdout.write(`Forgotten: ${pinLine(record)}\n`);
}

/** That a server says nothing is pinned too, and no news. */
function shown(known: Pins): readonly PinRecord[] {
  return known
    .list()
    .filter(({ tool, pinned, seen }) => tool !== null || seen !== undefined || pinned?.definition.instructions !== '')
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/**
 * What an id or its beginning or end, a name or a server's key stands for.
 *
 * @throws BridleError `pin_not_found`
 */
function named(records: readonly PinRecord[], { positionals: [, what = ''] }: ParsedCommand): readonly PinRecord[] {
  const byName = records.filter(
    ({ id, name, server, tool }) => id === what || name === what || `${server?.key}/${tool}` === what,
  );
  if (byName.length > 0) return byName;
  const ofServer = records.filter(({ server }) => server?.key === what);
  if (ofServer.length > 0) return ofServer;
  const byPart = what.length < 4 ? [] : records.filter(({ id }) => id.startsWith(what) || id.endsWith(what));
  if (byPart.length === 1) return byPart;
  throw new BridleError(
    'pin_not_found',
    `There is no pin "${printable(what)}" in this project, or there are several.`,
    {
      hint: "'bridle pins list' shows what there is.",
    },
  );
}

function withChanges(record: PinRecord) {
  const { pinned, seen } = record;
  return { ...record, ...(pinned && seen && { changes: definitionDiff(pinned.definition, seen.definition) }) };
}
