import type { Json, JsonObject, Reason } from '../../contracts/index.ts';
import { hostReason } from '../reason.ts';
import { FOREIGN_SERVER_KEYS, SERVER_KEYS } from '../server-keys.ts';

/** An entry as another host wrote it. */
export interface ForeignEntry {
  readonly key: string;
  readonly value: Json;
  readonly source: NonNullable<Reason['source']>;
}

export type Converted = { readonly entry: JsonObject; readonly notes: readonly Reason[] } | { readonly left: Reason };

/** Keys that other hosts call differently. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['serverUrl', 'url'],
  ['httpUrl', 'url'],
  ['transport', 'type'],
  ['transportType', 'type'],
  ['environment', 'env'],
]);
const TYPES: ReadonlyMap<string, string> = new Map([
  ['streamable-http', 'http'],
  ['streamablehttp', 'http'],
  ['streamable_http', 'http'],
  ['remote', 'http'],
  ['local', 'stdio'],
]);
/** Elsewhere it means that tools run without a question. */
const OTHER_MEANING = new Set(['trust']);
const HINTS: ReadonlyMap<string, string> = new Map([
  ...FOREIGN_SERVER_KEYS,
  ['trust', 'Elsewhere it means that tools run without a question; allow them by rule instead.'],
]);
/** They say nothing that isn't so anyway. */
const SILENT = new Set(['enabled']);

/**
 * An entry of another host in the shape of `.mcp.json`, with a note for everything that reads otherwise now or was left.
 */
export function convertEntry({ key, value, source }: ForeignEntry): Converted {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { left: hostReason('entry_not_object', `"${key}" is no object, so there is nothing to take.`, source) };
  }
  const notes: Reason[] = [];
  const note = (code: string, text: string) => void notes.push(hostReason(code, `"${key}": ${text}`, source));
  const entry = new Map<string, Json>();
  for (const [name, member] of Object.entries(value as JsonObject)) {
    const to = RENAMED.get(name) ?? name;
    const known = (SERVER_KEYS as readonly string[]).includes(to) && !OTHER_MEANING.has(name);
    if (known && !(to !== name && Object.hasOwn(value, to))) {
      if (to !== name) note('key_renamed', `"${name}" is called "${to}" here.`);
      entry.set(to, expandable(member, note));
    } else if (!SILENT.has(name) || member === false) {
      const off = name === 'enabled' && member === false;
      if (off) entry.set('disabled', true);
      else note('key_left', `"${name}" has no meaning here and is left out. ${HINTS.get(name) ?? ''}`.trim());
    }
  }
  const type = entry.get('type');
  const known = typeof type === 'string' ? TYPES.get(type.toLowerCase()) : undefined;
  if (known !== undefined) {
    note('type_renamed', `the type ${String(type)} is called "${known}" here.`);
    entry.set('type', known);
  }
  splitCommand(entry, note);
  const url = entry.get('url');
  if (/^(http|sse|ws)$/.test(String(entry.get('type'))) && (typeof url !== 'string' || url.trim() === '')) {
    return { left: hostReason('url_missing', `"${key}" is reached over the network, but has no "url".`, source) };
  }
  return { entry: Object.fromEntries(entry), notes };
}

type Note = (code: string, text: string) => void;

/** A command with its arguments in one object, one list or one line. */
function splitCommand(entry: Map<string, Json>, note: Note): void {
  const command = entry.get('command');
  if (typeof command === 'object' && command !== null && !Array.isArray(command)) {
    const { path, args: words, env } = command as JsonObject;
    if (typeof path !== 'string') return;
    note('command_split', 'the command is an object; its parts go into "command", "args" and "env".');
    entry.set('command', path);
    if (words !== undefined) entry.set('args', words);
    if (env !== undefined) entry.set('env', env);
    return;
  }
  const words = Array.isArray(command) ? command : wordsOf(command);
  const args = entry.get('args') ?? [];
  const [program, ...rest] = words;
  if (typeof program !== 'string' || !Array.isArray(args)) return;
  if (!Array.isArray(command) && (words.length < 2 || args.length > 0)) return;
  note('command_split', 'the command holds its arguments; they go into "args".');
  entry.set('command', program);
  if (rest.length + args.length > 0) entry.set('args', [...rest, ...args]);
}

/** Only a plain line is taken apart: with quotes or a path in front, a blank may belong to a name. */
function wordsOf(command: Json | undefined): readonly Json[] {
  if (typeof command !== 'string' || /["'\\]/.test(command)) return [command ?? null];
  const words = command.trim().split(/\s+/);
  return words[0]?.includes('/') ? [command] : words;
}

/** Other hosts' names of variables, in every string of a value. */
function expandable(value: Json, note: Note): Json {
  if (typeof value === 'string') return variables(value, note);
  if (Array.isArray(value)) return value.map((item) => expandable(item, note));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, expandable(item, note)]));
}

function variables(text: string, note: Note): string {
  return text
    .replace(/\$\{(input|promptString):([^}]+)\}/g, (all, _kind, id: string) => {
      const name = `INPUT_${id.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()}`;
      note('input_variable', `${all} is asked for elsewhere, but not here: set the variable ${name}.`);
      return `\${${name}}`;
    })
    .replace(/\$\{env:([A-Za-z_]\w*)\}/g, (all, name: string) => {
      note('variable_renamed', `${all} is written \${${name}} here.`);
      return `\${${name}}`;
    })
    .replace(/\$\{(workspaceFolder|workspaceRoot)\}/g, (all) => {
      note('variable_renamed', `${all} is written \${CLAUDE_PROJECT_DIR} here.`);
      return `\${CLAUDE_PROJECT_DIR}`;
    })
    .replace(/\$\{userHome\}/g, (all) => {
      note('variable_renamed', `${all} is written \${HOME} here.`);
      return `\${HOME}`;
    });
}
