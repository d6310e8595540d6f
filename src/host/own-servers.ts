import { stat } from 'node:fs/promises';
import type { Json, JsonObject, Reason } from '../contracts/index.ts';
import { stateDir } from '../store/index.ts';
import { BridleError, canonicalJson } from '../tools/index.ts';
import { type ConfigFile, parseConfig, readConfigFile } from './config-file.ts';
import { jsonOf, rawEntries, valueAt } from './config-tree.ts';
import { type ConfigEdit, editConfig } from './edit-config.ts';
import { adviseOn } from './entry-advice.ts';
import { turnedOff } from './load-servers.ts';
import { readMcpFile } from './mcp-json.ts';
import { findProjectRoot } from './project-root.ts';
import { hostReason } from './reason.ts';
import { OWN_SCOPES, type OwnScope, type PlacesOptions, type ServerPlaces, serverPlaces } from './server-places.ts';
import { trustStore } from './trust-store.ts';

export interface OwnServersOptions extends PlacesOptions {
  /** Where the person is. */
  readonly cwd: string;
  /** Absolute; the XDG place otherwise. */
  readonly stateDir?: string;
}

export interface Added {
  readonly file: string;
  /** What is odd about the entry, and what is wise to change. */
  readonly warnings: readonly Reason[];
}

/** What a person does with servers: every change to a file of servers is made here. */
export interface OwnServers {
  /** Absolute, without symbolic links. */
  readonly root: string;
  readonly places: ServerPlaces;
  /** The scopes in which the name stands, in order of precedence. */
  scopesOf(key: string): Promise<readonly OwnScope[]>;
  /** The entry of a scope, as it stands there. */
  entry(key: string, scope: OwnScope): Promise<Json | undefined>;
  /** @throws BridleError `server_exists` unless `force`, `server_invalid`, `config_not_written` */
  add(key: string, entry: JsonObject, scope: OwnScope, options?: { readonly force?: boolean }): Promise<Added>;
  /** @returns the file. @throws BridleError `server_unknown`, `config_not_written` */
  remove(key: string, scope: OwnScope): Promise<string>;
  /**
   * Without a scope it is the person's own word for this project, and leaves the entry as it is; with one it is written
   * into the entry.
   *
   * @returns the files that changed; none when it was so already
   * @throws BridleError `server_unknown`, `config_not_written`
   */
  setDisabled(key: string, disabled: boolean, scope?: OwnScope): Promise<readonly string[]>;
  /** Forgets what was agreed to for this project. @returns whether there was something */
  forgetTrust(): Promise<boolean>;
}

/** @throws BridleError `config_no_folder` */
export async function ownServers(options: OwnServersOptions): Promise<OwnServers> {
  const root = await findProjectRoot(options.cwd);
  const places = serverPlaces(root, options);
  const edit = (scope: OwnScope, plan: (file: ConfigFile | undefined) => readonly ConfigEdit[]) =>
    scope === 'project'
      ? editConfig(places.project, { access: 'shared', within: root }, plan)
      : editConfig(places[scope], { access: 'private' }, (file) => {
          const edits = plan(file);
          // The file's name holds only a hash of the folder.
          if (scope === 'user' || file !== undefined || edits.length === 0) return edits;
          return [{ path: ['project'], value: root }, ...edits];
        });
  const entry = async (key: string, scope: OwnScope) => {
    const file = await readConfigFile(places[scope]);
    return file && rawEntries(file, 'mcpServers').get(key);
  };
  const scopesOf = async (key: string) => {
    const found: OwnScope[] = [];
    for (const scope of OWN_SCOPES) if ((await entry(key, scope)) !== undefined) found.push(scope);
    return found;
  };
  return {
    root,
    places,
    scopesOf,
    entry,
    async add(key, value, scope, { force = false } = {}) {
      const { refusal, warnings } = lookAt(key, value, scope, places[scope]);
      if (refusal) throw new BridleError('server_invalid', refusal.text, { hint: 'Nothing was written.' });
      await edit(scope, (file) => {
        const old = file && rawEntries(file, 'mcpServers').get(key);
        if (old !== undefined && canonicalJson(old) !== canonicalJson(value) && !force)
          throw exists(key, scope, places[scope]);
        return [{ path: ['mcpServers', key], value }];
      });
      return {
        file: places[scope],
        warnings: [...warnings, ...(await readableSecret(key, value, scope, places[scope]))],
      };
    },
    async remove(key, scope) {
      await edit(scope, (file) => {
        if (!file || !rawEntries(file, 'mcpServers').has(key)) throw unknown(key, places[scope]);
        return [{ path: ['mcpServers', key], value: undefined }];
      });
      return places[scope];
    },
    async setDisabled(key, disabled, scope) {
      const scopes = scope === undefined ? await scopesOf(key) : [scope];
      const changed: string[] = [];
      // What the person wrote into their own entry is taken back too; a project's entry is everybody's.
      const inEntries = scope === undefined ? (disabled ? [] : scopes.filter((one) => one !== 'project')) : scopes;
      for (const one of inEntries) {
        const wrote = await edit(one, (file) => {
          const value = file && rawEntries(file, 'mcpServers').get(key);
          if (value === undefined) throw unknown(key, places[one]);
          return entryEdits(key, value, disabled);
        });
        if (wrote) changed.push(places[one]);
      }
      if (scope !== undefined) return changed;
      const wrote = await edit('local', (file) => listEdits(file, key, disabled));
      return wrote && !changed.includes(places.local) ? [...changed, places.local] : changed;
    },
    forgetTrust: () => trustStore(options.stateDir ?? stateDir(options.env)).forget(root),
  };
}

function entryEdits(key: string, value: Json, disabled: boolean): readonly ConfigEdit[] {
  const entry: JsonObject = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const path = (name: string) => ['mcpServers', key, name];
  if (disabled) return entry.disabled === true ? [] : [{ path: path('disabled'), value: true }];
  const edits: ConfigEdit[] = [];
  if (entry.disabled !== undefined) edits.push({ path: path('disabled'), value: undefined });
  if (entry.enabled === false) edits.push({ path: path('enabled'), value: undefined });
  return edits;
}

function listEdits(file: ConfigFile | undefined, key: string, disabled: boolean): readonly ConfigEdit[] {
  const names = file ? turnedOff(file) : new Map<string, unknown>();
  if (names.has(key) === disabled) return [];
  const node = file && valueAt(file.root, 'disabled');
  const before = node?.type === 'array' ? (jsonOf(node) as readonly Json[]) : [];
  const after = disabled ? [...before, key] : before.filter((name) => name !== key);
  return [{ path: ['disabled'], value: after.length === 0 ? undefined : [...after] }];
}

/** What is odd about an entry that is about to be written, and why it could never be used. */
export function lookAt(
  key: string,
  entry: JsonObject,
  scope: OwnScope,
  file: string,
): { readonly refusal?: Reason; readonly warnings: readonly Reason[] } {
  const { entries, warnings } = readMcpFile(parseConfig(file, JSON.stringify({ mcpServers: { [key]: entry } })));
  const [read] = entries;
  const refusal = read?.kind === 'refused' ? read.reasons.find(({ code }) => !USABLE_LATER.has(code)) : undefined;
  // Lines of a text that nobody has seen help nobody.
  const plain = warnings.map(({ source: _, ...reason }) => reason);
  return { ...(refusal && { refusal }), warnings: [...plain, ...adviseOn(key, entry, scope)] };
}

/** A file that is there keeps its mode, so others may read what was just put into it. */
async function readableSecret(key: string, entry: JsonObject, scope: OwnScope, file: string): Promise<Reason[]> {
  // What would be a secret in a project's file is one here.
  const holdsSecret = adviseOn(key, entry, 'project').some(({ code }) => code === 'literal_secret');
  if (scope === 'project' || !holdsSecret || ((await stat(file)).mode & 0o044) === 0) return [];
  const text = `"${key}" holds what looks like a secret, and other users of this machine can read ${file}`;
  return [hostReason('secret_readable', `${text}; chmod 600 makes it yours alone.`)];
}

/** Reasons that leave an entry as somebody wants it. */
const USABLE_LATER: ReadonlySet<string> = new Set(['disabled', 'transport_not_supported_yet']);

function exists(key: string, scope: OwnScope, file: string): BridleError {
  return new BridleError('server_exists', `There is a server "${key}" in ${file} already.`, {
    hint: `Remove it first ('bridle mcp remove ${key} --scope ${scope}'), or give --force.`,
  });
}

function unknown(key: string, file: string): BridleError {
  return new BridleError('server_unknown', `There is no server "${key}" in ${file}.`, {
    hint: "'bridle mcp list' shows the servers and their scopes.",
  });
}
