import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import type { JsonObject, Reason } from '../../contracts/index.ts';
import { BridleError, canonicalJson, isBridleError } from '../../tools/index.ts';
import { readConfigFile } from '../config-file.ts';
import { lookAt, type OwnServersOptions, ownServers } from '../own-servers.ts';
import { hostReason } from '../reason.ts';
import type { OwnScope } from '../server-places.ts';
import { visibleText } from '../visible-text.ts';
import { convertEntry } from './convert-entry.ts';
import { findEntries } from './find-entries.ts';
import { type ForeignPlace, foreignPlaces } from './places.ts';

export interface ImportOptions extends OwnServersOptions {
  /** Read these instead of the files that are known. Relative to `cwd`. */
  readonly from?: readonly string[];
  /** Put everything there. By default what lies in the project goes to the project, the rest to the person. */
  readonly scope?: OwnScope;
  /** Replace entries that are there already and differ. */
  readonly force?: boolean;
  /** Only say what would be done. */
  readonly dryRun?: boolean;
  readonly platform?: NodeJS.Platform;
}

export interface TakenServer {
  readonly key: string;
  readonly scope: OwnScope;
  /** The file that it was written to, or would be. */
  readonly file: string;
  readonly from: NonNullable<Reason['source']>;
  readonly entry: JsonObject;
  /** What reads otherwise now, what is odd, and what is wise to change. */
  readonly notes: readonly Reason[];
}

export interface ImportReport {
  /** The files that were there. */
  readonly files: readonly string[];
  readonly taken: readonly TakenServer[];
  /** `key` is null for what is no single server. */
  readonly left: readonly { readonly key: string | null; readonly reason: Reason }[];
}

/** Other hosts keep whole histories in these files. */
const MAX_BYTES = 64 * 1024 * 1024;
const LONGEST_NAME = 100;

/**
 * Takes the servers that other hosts have on this machine over into Bridle's own files. Starts nothing.
 *
 * @throws BridleError `config_missing` for a file that was named and isn't there, `config_…` for one that can't be read
 *   (a known file that can't be read is left with its reason), `config_not_written`
 */
export async function importServers(options: ImportOptions): Promise<ImportReport> {
  const own = await ownServers(options);
  const places = options.from
    ? await namedPlaces(options.from, options.cwd, own.root)
    : foreignPlaces(own.root, options);
  const files: string[] = [];
  const taken: TakenServer[] = [];
  const left: ImportReport['left'][number][] = [];
  const done = new Map<string, string>();
  for (const { file, scope } of places) {
    const config = await readConfigFile(file, MAX_BYTES).catch((error: unknown) => {
      if (options.from || !isBridleError(error)) throw error;
      left.push({ key: null, reason: hostReason(error.code, error.message, { file }) });
      return undefined;
    });
    if (!config) continue;
    files.push(file);
    const found = findEntries(config, own.root, scope);
    left.push(...found.left.map((reason) => ({ key: null, reason })));
    for (const foreign of found.entries) {
      const { key, source } = foreign;
      const to = options.scope ?? foreign.scope;
      const target = own.places[to];
      const leave = (reason: Reason) => void left.push({ key, reason });
      const converted = convertEntry(foreign);
      if ('left' in converted) {
        leave(converted.left);
        continue;
      }
      const { entry } = converted;
      if (!isName(key)) {
        leave(hostReason('import_name', `"${key}" is no name that can be taken over; rename it there.`, source));
        continue;
      }
      const { refusal, warnings } = lookAt(key, entry, to, target);
      if (refusal) {
        leave({ ...refusal, source });
        continue;
      }
      const text = canonicalJson(entry);
      const earlier = done.get(`${to}\0${key}`);
      const there = await own.entry(key, to);
      if (earlier === text || (there !== undefined && canonicalJson(there) === text)) {
        leave(hostReason('import_same', `It is in ${target} already, just so.`, source));
        continue;
      }
      if (earlier !== undefined || (there !== undefined && options.force !== true)) {
        const hint = earlier === undefined ? '; --force replaces it' : ', taken from a file before this one';
        leave(hostReason('import_exists', `A server of that name is in ${target} already${hint}.`, source));
        continue;
      }
      if (options.dryRun !== true) await own.add(key, entry, to, { force: true });
      done.set(`${to}\0${key}`, text);
      taken.push({ key, scope: to, file: target, from: source, entry, notes: [...converted.notes, ...warnings] });
    }
  }
  return { files, taken, left };
}

/** A name that whoever reads it sees as it is. */
function isName(key: string): boolean {
  return key.trim() !== '' && key.length <= LONGEST_NAME && visibleText(key) === key;
}

async function namedPlaces(names: readonly string[], cwd: string, root: string): Promise<readonly ForeignPlace[]> {
  const places: ForeignPlace[] = [];
  for (const name of names) {
    const file = resolve(cwd, name);
    let real: string;
    try {
      real = await realpath(file);
    } catch (cause) {
      throw new BridleError('config_missing', `There is no file ${file}.`, { cause, hint: 'Check the path.' });
    }
    const isProjects = [file, real].some((path) => {
      const way = relative(root, path);
      return !way.startsWith('..') && !isAbsolute(way);
    });
    places.push({ file, scope: isProjects ? 'project' : 'local' });
  }
  return places;
}
