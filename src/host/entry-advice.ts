import { isAbsolute } from 'node:path';
import type { Json, JsonObject, Reason } from '../contracts/index.ts';
import { namesSecret } from '../tools/index.ts';
import { unpinnedPackage } from './package-pins.ts';
import { hostReason } from './reason.ts';
import type { ServerScope } from './server-places.ts';

/** Said whenever the file is read, as it can't be meant. The rest is said when somebody looks at the entry. */
const LOUD: ReadonlySet<string> = new Set(['literal_secret', 'shell_operator']);

export function isLoud({ code }: Reason): boolean {
  return LOUD.has(code);
}

/** Keys that their issuers made recognisable. */
const KEY_SHAPE =
  /(^|[^A-Za-z0-9])(sk-|sk_live_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|ya29\.|npm_|hf_|eyJ[\w-]{1,2000}\.)[\w./+=-]{8,}/;
const URL_PASSWORD = /:\/\/[^/@\s:]*:([^/@\s]+)@/;
const URL_PARAMETER = /[?&;]([^=&;?#\s]+)=([^&;#\s]+)/g;
const PLACEHOLDER =
  /^(<.*>|\[.*\]|\{\{?.*\}\}?|x{3,}|\*{3,}|\.{3}|(your|my|insert|enter|paste|replace|add|put)[-_ ].*|.*[-_ ]here|.*(change-?me|placeholder|redacted|to-?do|example).*)$/i;
const PATH_PLACEHOLDER = /(^|[\\/])(absolute[\\/])?path[\\/]to[\\/]/i;
const SHELLS = /^(?:.*[\\/])?(?:ba|da|z|fi|k)?sh$|^(?:.*[\\/])?(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const OPERATOR = /^(&&|\|\|?|;|&|>{1,2}|<{1,3}|2>(&1|\S*)|&>\S*)$/;
/** Several words in one argument may be for a person, so an operator in them is only seen between blanks. */
const SUBSTITUTION = /\$\(|`[^`]+`/;

/**
 * What is wise to change in an entry, whatever host wrote it: secrets that would be committed, versions that are open,
 * paths that depend on the folder, and words that only a shell would understand.
 *
 * @param entry as it stands in the file; anything but an object has no advice
 */
export function adviseOn(key: string, entry: Json, scope: ServerScope, source?: Reason['source']): readonly Reason[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [];
  const said: Reason[] = [];
  const say = (code: string, text: string) => {
    if (!said.some((reason) => reason.code === code && reason.text === text))
      said.push(hostReason(code, `"${key}": ${text}`, source));
  };
  const { command, args: list, cwd } = entry as JsonObject;
  const args = Array.isArray(list) ? list.filter((arg) => typeof arg === 'string') : [];
  if (scope === 'project')
    for (const where of secretsOf(entry as JsonObject, args)) say('literal_secret', secret(where));
  for (const where of placeholdersOf(entry as JsonObject, args)) {
    say('placeholder', `${where} looks like a placeholder; put in what is meant, or a variable.`);
  }
  if (typeof command !== 'string') return said;
  pathAdvice(command, typeof cwd === 'string' ? cwd : undefined, say);
  const open = unpinnedPackage(command, args);
  if (open) {
    const what = `${open.tool} fetches whatever version of ${open.name} is newest at each start`;
    say('unpinned_package', `${what}; name one, as in ${open.pinned}.`);
  }
  if (!SHELLS.test(command)) for (const arg of args) shellAdvice(arg, say);
  return said;
}

type Say = (code: string, text: string) => void;

function secret(where: string): string {
  return `${where} holds what looks like a secret, in a file that is committed; write \${NAME} and set NAME in your environment.`;
}

function pathAdvice(command: string, cwd: string | undefined, say: Say): void {
  if (/^[A-Za-z]:[\\/]|^\\\\/.test(command) && process.platform !== 'win32') {
    say('windows_path', `the command ${command} is a path of Windows.`);
  } else if (/[\\/]/.test(command) && !isAbsolute(command) && !/^(\$\{|~)/.test(command)) {
    const from = cwd === undefined ? "the project's folder" : '"cwd"';
    say('relative_command', `the command ${command} is found from ${from}; an absolute path holds everywhere.`);
  }
  if (command.startsWith('~')) say('shell_expansion', `no shell reads this, so ~ in ${command} stays as it is.`);
}

function shellAdvice(arg: string, say: Say): void {
  if (OPERATOR.test(arg) || SUBSTITUTION.test(arg)) {
    say('shell_operator', `no shell reads this, so ${arg} is passed to the program as it is.`);
  } else if (/^~(\/|$)/.test(arg) || /(^|[/=:])\$[A-Za-z_]\w*/.test(arg) || /%[A-Za-z_]\w*%/.test(arg)) {
    say('shell_expansion', `no shell reads this, so ${arg} stays as it is; write \${HOME} or another \${VARIABLE}.`);
  }
}

function* stringsOf(entry: JsonObject, name: 'env' | 'headers'): Generator<readonly [name: string, value: string]> {
  const values = entry[name];
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return;
  for (const [key, value] of Object.entries(values)) if (typeof value === 'string') yield [key, value];
}

function* secretsOf(entry: JsonObject, args: readonly string[]): Generator<string> {
  for (const [name, value] of stringsOf(entry, 'env')) if (isSecret(name, value)) yield `${name} in env`;
  for (const [name, value] of stringsOf(entry, 'headers')) {
    if (isSecret(name, value.replace(/^(Bearer|Basic|token)\s+/i, ''))) yield `the header ${name}`;
  }
  if (typeof entry.url === 'string' && hasUrlSecret(entry.url)) yield 'url';
  for (const [index, arg] of args.entries()) {
    const before = args[index - 1] ?? '';
    const [, option = '', value = ''] = /^([\w.-]+)[=:]\s*(.+)$/s.exec(arg) ?? [];
    const isValue = before.startsWith('-') && !before.includes('=') && !arg.startsWith('-');
    const named = (isValue && isSecret(before, arg)) || (value !== '' && isSecret(option, value));
    if (named || KEY_SHAPE.test(arg) || hasUrlSecret(arg)) yield `argument ${index + 1}`;
  }
}

function isSecret(name: string, value: string): boolean {
  if (KEY_SHAPE.test(value) || hasUrlSecret(value)) return true;
  if (!namesSecret(name, 'setting') || value.length < 6 || /\$\{|^\$/.test(value) || PLACEHOLDER.test(value))
    return false;
  // Files and addresses of secrets are none, and neither are settings such as `true`.
  return !/^([.~]?\/|[A-Za-z]:[\\/]|https?:\/\/)/.test(value) && !/^(true|false|none|null|\d{1,5})$/i.test(value);
}

function hasUrlSecret(text: string): boolean {
  const [, password] = URL_PASSWORD.exec(text) ?? [];
  if (password !== undefined && !/^\$\{/.test(password) && !PLACEHOLDER.test(password)) return true;
  for (const [, name = '', value = ''] of text.matchAll(URL_PARAMETER)) {
    if (namesSecret(name, 'setting') && !/^\$\{/.test(value) && !PLACEHOLDER.test(value) && text.includes('://'))
      return true;
  }
  return false;
}

function* placeholdersOf(entry: JsonObject, args: readonly string[]): Generator<string> {
  if (typeof entry.command === 'string' && PATH_PLACEHOLDER.test(entry.command)) yield 'the command';
  for (const [index, arg] of args.entries()) if (PATH_PLACEHOLDER.test(arg)) yield `argument ${index + 1}`;
  for (const [name, value] of stringsOf(entry, 'env')) if (PLACEHOLDER.test(value)) yield `${name} in env`;
  for (const [name, value] of stringsOf(entry, 'headers')) {
    if (PLACEHOLDER.test(value.replace(/^(Bearer|Basic|token)\s+/i, ''))) yield `the header ${name}`;
  }
}
