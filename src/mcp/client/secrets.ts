import { namesSecret } from '../../tools/index.ts';
import type { StdioServer } from './server.ts';

const HIDDEN = '***';
/** What is shorter is too common to be replaced wherever it stands, whatever its name is. */
const SHORTEST_SECRET = 8;
/** What is shorter is no word of its own: replacing it would make messages unreadable. */
const SHORTEST_WORD = 4;
/** Schemes of `Authorization`, and settings: no secrets, under whatever name. */
const NO_SECRET = /^(bearer|basic|digest|token|negotiate|apikey|true|false|yes|no|on|off|none|null|undefined)$/i;

/** Keys that their issuers made recognisable, wherever they stand. */
const KNOWN_SHAPE =
  /\b(?:sk-|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|ya29\.|eyJ[\w-]{1,2000}\.)[\w./+=-]{8,}/g;
const HEADER_OPTION = /^(-H|--?headers?)$/i;

function hiddenIn(arg: string): string {
  return (
    arg
      // In a URL: a password, or all of what stands for one, and parameters.
      .replace(/(:\/\/[^/@\s:]*):[^/@\s]+@/g, `$1:${HIDDEN}@`)
      .replace(/:\/\/[^/@\s:]+@/g, `://${HIDDEN}@`)
      .replace(/([?&;])([^=&;?#\s]+)=[^&;#\s]+/g, (all, before, name) =>
        namesSecret(name, 'setting') ? `${before}${name}=${HIDDEN}` : all,
      )
      // In JSON that is passed as an argument.
      .replace(/"([^"]+)"(\s*:\s*)"(?:[^"\\]|\\.)*"/g, (all, name, colon) =>
        namesSecret(name, 'setting') ? `"${name}"${colon}"${HIDDEN}"` : all,
      )
      .replace(/\b(Bearer|Basic)\s+\S+/gi, `$1 ${HIDDEN}`)
      .replace(KNOWN_SHAPE, HIDDEN)
  );
}

/** `NAME=value` and `Name: value`, hidden after the sign when `always` or when the name says that it is a secret. */
function hiddenValue(arg: string, always: boolean): string {
  let shown = '';
  let rest = arg;
  let isHeader = always;
  // `--env=NAME=value` and `--header=Name:value` hold a pair of their own.
  for (;;) {
    const [pair, name = ''] = /^([\w.-]+)\s*[:=]\s*(?!\/\/)(?=[\s\S])/.exec(rest) ?? [];
    if (pair === undefined) return shown + hiddenIn(rest);
    shown += pair;
    if (isHeader || namesSecret(name, 'setting')) return shown + HIDDEN;
    rest = rest.slice(pair.length);
    isHeader = HEADER_OPTION.test(name);
  }
}

/**
 * The command line for messages. Hidden are the values of options, variables, headers, URL parameters and JSON members
 * that are named like secrets, every header, passwords in URLs, what is shaped like a well-known kind of key, and the
 * values of the entry's own environment.
 */
export function commandLine(server: Pick<StdioServer, 'command' | 'args' | 'env'>): string {
  let previous = '';
  const shown = (server.args ?? []).map((arg) => {
    const option = previous;
    previous = arg;
    if (HEADER_OPTION.test(option)) return hiddenValue(arg, true);
    const isValue = option.startsWith('-') && !option.includes('=') && !arg.startsWith('-');
    return isValue && namesSecret(option, 'setting') ? HIDDEN : hiddenValue(arg, false);
  });
  const words = [server.command, ...shown].map((part) => withoutSecrets(part, server.env));
  const line = words.map((part) => (/\s/.test(part) ? JSON.stringify(part) : part)).join(' ');
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

/**
 * Replaces the values of the entry's own environment, so that a server that prints its key doesn't print it here. Of a
 * value of several lines each line counts, because what a server prints is read line by line. A short value counts where
 * its name says that it is a secret, and only where it stands as a word of its own.
 *
 * @param text whole lines: a secret that was cut in two is not found
 */
export function withoutSecrets(text: string, env: Readonly<Record<string, string>> = {}): string {
  return withoutValues(text, valuesOf(env));
}

/** A value that is not to be shown; several may have one name. */
export interface HiddenValue {
  readonly name: string;
  readonly value: string;
  /** Whether a short one counts too. */
  readonly isSecret: boolean;
}

export function valuesOf(named: Readonly<Record<string, string>>): readonly HiddenValue[] {
  return Object.entries(named).map(([name, value]) => ({ name, value, isSecret: namesSecret(name, 'setting') }));
}

/** As `withoutSecrets`, of any values. */
export function withoutValues(text: string, values: readonly HiddenValue[]): string {
  const parts = values
    .flatMap(({ value, ...rest }) => [value, ...value.split(/\r?\n/)].map((part) => ({ ...rest, part: part.trim() })))
    .filter(({ part, isSecret }) => part.length >= SHORTEST_SECRET || (isSecret && isShortSecret(part)))
    .flatMap(({ name, part }) => spellings(part).map((spelled) => ({ name, part: spelled })))
    // A value that contains another goes first: else what is left of it would stay.
    .sort((a, b) => b.part.length - a.part.length);
  return parts.reduce((clean, { name, part }) => {
    const hidden = `\${${name}}`;
    return part.length >= SHORTEST_SECRET
      ? clean.replaceAll(part, () => hidden)
      : clean.replace(wordOf(part), () => hidden);
  }, text);
}

/** As it is, as JSON has it in a text, and as a URL has it. */
function spellings(part: string): readonly string[] {
  return [...new Set([part, JSON.stringify(part).slice(1, -1), inUrl(part)])];
}

function inUrl(part: string): string {
  try {
    return encodeURIComponent(part);
  } catch {
    // Half a character can't stand in a URL.
    return part;
  }
}

function isShortSecret(part: string): boolean {
  return part.length >= SHORTEST_WORD && !NO_SECRET.test(part);
}

/** What may stand right before a word though it ends in a letter: an escape of JSON, of a URL, of a terminal's colours. */
const ESCAPE = String.raw`\\[nrtbfv0]|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|%[\da-fA-F]{2}|\[[\d;]{0,20}m`;

function wordOf(part: string): RegExp {
  const quoted = part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?:(?<![\\p{L}\\p{N}_])|(?<=${ESCAPE}))${quoted}(?![\\p{L}\\p{N}_])`, 'gu');
}

/** The names of values that are secrets, and too short to be taken out of what a server says. */
export function shortSecrets(values: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const words = value.trim().split(/\s+/);
    const secret = words.at(-1) ?? '';
    const isShort =
      secret !== '' && secret.length < SHORTEST_WORD && words.every((word) => word === secret || NO_SECRET.test(word));
    return isShort && namesSecret(name, 'setting') && !NO_SECRET.test(secret) ? [name] : [];
  });
}

/** A part of a path that looks drawn by lot: some services put their key there. */
const DRAWN = /^(?=.*\d)(?=.*[A-Za-z])[\w~.=-]{20,}$/;

/** A URL for messages: without user, password, query and fragment, and without parts of the path that may be keys. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return 'no URL';
  const url = new URL(text);
  const path = url.pathname.split('/').map((part) => (DRAWN.test(part) ? HIDDEN : part.replace(KNOWN_SHAPE, HIDDEN)));
  const origin = url.host === '' ? url.protocol : `${url.protocol}//${url.host}`;
  return `${origin}${path.join('/')}${url.search === '' ? '' : '?…'}`;
}
