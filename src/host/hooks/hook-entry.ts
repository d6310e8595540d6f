import type { Node } from 'jsonc-parser';
import type { Reason } from '../../contracts/index.ts';
import { GATES, HOOK_EVENTS, type HookEvent } from '../../policy/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import { jsonOf, type Member, membersOf, type TreeReader, warnUnknownKeys } from '../config-tree.ts';
import { nearestKey } from '../nearest-key.ts';

/** Where a hook was written. */
export type HookScope = 'managed' | 'user' | 'project' | 'local';

interface EntryOf {
  readonly event: HookEvent;
  readonly matcher: string;
  readonly hash: string;
  readonly source: NonNullable<Reason['source']>;
}

/** A command that a settings file puts behind an event. */
export interface CommandEntry extends EntryOf {
  /** A command line for `/bin/sh`. */
  readonly command: string;
  readonly timeoutMs: number;
}

/** One before something that can't be run here: what it stands before doesn't happen. */
export interface UnreadableEntry extends EntryOf {
  /** What is wrong with it. */
  readonly problem: string;
}

export type HookEntry = CommandEntry | UnreadableEntry;

/** Hooks of one file, and the programs in whose settings more are. */
export interface HookEntries {
  readonly hooks: readonly HookEntry[];
  readonly from: readonly 'claude'[];
  /** The place that turns hooks off. */
  readonly off?: NonNullable<Reason['source']>;
}

const GROUP_KEYS = ['matcher', 'hooks'] as const;
const HOOK_KEYS = ['type', 'command', 'timeout'] as const;
/** Of Claude Code's hooks: a command that isn't a line for `/bin/sh`. Without them it would be another command. */
const OTHER_COMMANDS = ['args', 'shell'] as const;
const DEFAULT_SECONDS = 60;
const LONGEST_SECONDS = 600;
const LONGEST_COMMAND = 10_000;
const MOST_HOOKS = 200;

/** Events of Claude Code that never happen here. */
const ABSENT = new Set([
  'Setup',
  'PermissionRequest',
  'PermissionDenied',
  'PostToolUseFailure',
  'PostToolBatch',
  'Notification',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'TeammateIdle',
  'TaskCreated',
  'TaskCompleted',
  'InstructionsLoaded',
  'ConfigChange',
  'CwdChanged',
  'FileChanged',
  'WorktreeCreate',
  'WorktreeRemove',
  'PreCompact',
  'PostCompact',
  'ElicitationResult',
  'UserPromptExpansion',
]);

/**
 * Reads `hooks` in the form of Claude Code's settings: `{Event: [{matcher?, hooks: [{type: "command", command, timeout?}]}]}`,
 * the time in seconds. What can't be read is reported and costs no other hook. Of an event that stands before something
 * it is an entry all the same, by its matcher where that can be read: a guard that somebody wrote isn't lost by a slip.
 *
 * @param nodes the values of the key, each time that it stands there
 */
export function readHookEntries(reader: TreeReader, nodes: readonly Node[]): HookEntries {
  const hooks: HookEntry[] = [];
  const from = new Set<'claude'>();
  for (const node of nodes) {
    if (node.type !== 'object') {
      const problem = '"hooks" is no object of events, so there are no hooks in this file';
      reader.warn('hooks_unreadable', node, `${problem}.${DENIES}`);
      hooks.push(...[...GATES].map((event) => unreadable(reader, event, '', node, problem)));
      continue;
    }
    for (const { children } of node.children ?? []) {
      const [key, value] = children ?? [];
      if (!key || !value) continue;
      const name = String(key.value);
      if (name === 'from') for (const program of readFrom(reader, value)) from.add(program);
      else hooks.push(...readNamed(reader, name, key, value));
    }
  }
  return { hooks: hooks.length <= MOST_HOOKS ? hooks : shortened(reader, hooks, nodes[0] as Node), from: [...from] };
}

/** What is too much is not run; of a guard among it nobody knows what it would have said. */
function shortened(reader: TreeReader, hooks: readonly HookEntry[], node: Node): HookEntry[] {
  const problem = `of ${hooks.length} hooks in this file only the first ${MOST_HOOKS} are run`;
  const lost = new Set(hooks.slice(MOST_HOOKS).flatMap(({ event }) => (GATES.has(event) ? [event] : [])));
  reader.warn(
    'hooks_too_many',
    node,
    `Of ${hooks.length} hooks the first ${MOST_HOOKS} count.${lost.size > 0 ? DENIES : ''}`,
  );
  return [...hooks.slice(0, MOST_HOOKS), ...[...lost].map((event) => unreadable(reader, event, '', node, problem))];
}

const DENIES = ' What its hooks would stand before does not happen.';

/** An event that stands there twice has the hooks of both. */
function readNamed(reader: TreeReader, name: string, key: Node, value: Node): HookEntry[] {
  const event = HOOK_EVENTS.find((one) => one === name);
  if (event) return readEvent(reader, event, value);
  const meant = ABSENT.has(name) ? undefined : HOOK_EVENTS.find((one) => one === nearestKey(name, HOOK_EVENTS));
  const problem = unknownEvent(name, meant);
  if (!meant || !GATES.has(meant)) {
    reader.warn('hook_event_unknown', key, `${problem}.`);
    return [];
  }
  reader.warn('hook_event_unknown', key, `${problem}.${DENIES}`);
  return [unreadable(reader, meant, '', key, problem)];
}

function unknownEvent(name: string, meant: HookEvent | undefined): string {
  const shown = JSON.stringify(name);
  if (ABSENT.has(name)) return `${shown} never happens here, so its hooks are never run`;
  const advice = meant ? `it may be meant as ${meant}` : `the events are ${HOOK_EVENTS.join(', ')}`;
  return `${shown} is no event, so its hooks are never run; ${advice}`;
}

function readFrom(reader: TreeReader, node: Node): readonly 'claude'[] {
  const names = node.type === 'array' ? (node.children ?? []) : [node];
  for (const name of names) {
    if (name.value === 'claude') continue;
    reader.warn('hooks_from_unknown', name, `"from" names ${JSON.stringify(jsonOf(name))}; it can name "claude" only.`);
  }
  return names.some(({ value }) => value === 'claude') ? ['claude'] : [];
}

function readEvent(reader: TreeReader, event: HookEvent, node: Node): HookEntry[] {
  if (node.type !== 'array') return lost(reader, event, '', node, `"${event}" is no list`);
  return (node.children ?? []).flatMap((group) => readGroup(reader, event, group));
}

function readGroup(reader: TreeReader, event: HookEvent, node: Node): HookEntry[] {
  if (node.type !== 'object') {
    return lost(reader, event, '', node, `an entry of "${event}" is no object with "matcher" and "hooks"`);
  }
  const twice = keyTwice(node, GROUP_KEYS);
  if (twice) return lost(reader, event, '', node, `an entry of "${event}" has "${twice}" twice`);
  const members = membersOf(reader, node, event);
  warnUnknownKeys(reader, members, GROUP_KEYS, `an entry of ${event}`);
  const matcher = members.get('matcher')?.value;
  // Whatever such hooks are for, they may not say yes to all else as well.
  if (matcher && matcher.type !== 'string') {
    return lost(reader, event, '', matcher, 'a matcher is no text', 'hook_matcher_unreadable');
  }
  const slip = matcher ? undefined : [...members.keys()].find((key) => nearestKey(key, ['matcher']));
  if (slip !== undefined) {
    const problem = `an entry of "${event}" has ${JSON.stringify(slip)}, which may be meant as "matcher"`;
    return lost(reader, event, '', node, problem, 'hook_matcher_unreadable');
  }
  const text = matcher?.type === 'string' ? String(matcher.value) : '';
  const list = members.get('hooks')?.value;
  if (list?.type !== 'array')
    return lost(reader, event, text, list ?? node, `an entry of "${event}" has no list "hooks"`);
  return (list.children ?? []).flatMap((hook) => readHook(reader, event, text, hook));
}

function readHook(reader: TreeReader, event: HookEvent, matcher: string, node: Node): HookEntry[] {
  const twice = keyTwice(node, HOOK_KEYS);
  if (twice) return lost(reader, event, matcher, node, `a hook of ${event} has "${twice}" twice`);
  const members = node.type === 'object' ? membersOf(reader, node, 'a hook') : new Map<string, Member>();
  const type = members.get('type')?.value;
  if (type && type.value !== 'command') {
    const problem = `a hook of ${event} has the type ${JSON.stringify(jsonOf(type))}, and only "command" is run here`;
    return lost(reader, event, matcher, node, problem, 'hook_type_unknown');
  }
  const other = OTHER_COMMANDS.find((name) => members.has(name));
  if (other) {
    const problem = `a hook of ${event} has "${other}", so its command is not a line for the shell, as those are that run here`;
    return lost(reader, event, matcher, node, problem, 'hook_type_unknown');
  }
  const filter = [...members.keys()].find((key) => key.toLowerCase() === 'if');
  if (filter !== undefined) {
    const problem = `a hook of ${event} has ${JSON.stringify(filter)}, which is not read here, so nobody can tell which calls it is for`;
    return lost(reader, event, matcher, node, problem);
  }
  warnUnknownKeys(reader, members, HOOK_KEYS, 'a hook');
  const command = members.get('command')?.value.value;
  if (typeof command !== 'string' || command.trim() === '' || command.length > LONGEST_COMMAND) {
    return lost(reader, event, matcher, node, `a hook of ${event} has no command that can be run`);
  }
  const timeoutMs = readTimeout(reader, members.get('timeout')?.value) * 1_000;
  const hash = sha256(canonicalJson([event, matcher, command, timeoutMs]));
  return [{ event, matcher, command, timeoutMs, hash, source: reader.file.at(node) }];
}

/** Reported in any case; of an event that stands before something it stays, to keep that from happening. */
function lost(
  reader: TreeReader,
  event: HookEvent,
  matcher: string,
  node: Node,
  problem: string,
  code = 'hooks_unreadable',
): HookEntry[] {
  const isGate = GATES.has(event);
  const effect = isGate ? 'What it stands before does not happen.' : 'It is never run.';
  reader.warn(code, node, `${problem[0]?.toUpperCase()}${problem.slice(1)}. ${effect}`);
  return isGate ? [unreadable(reader, event, matcher, node, problem)] : [];
}

function unreadable(
  reader: TreeReader,
  event: HookEvent,
  matcher: string,
  node: Node,
  problem: string,
): UnreadableEntry {
  const hash = sha256(canonicalJson([event, matcher, problem]));
  return { event, matcher, problem, hash, source: reader.file.at(node) };
}

/** Of two values nobody knows which one was meant. */
function keyTwice(node: Node, names: readonly string[]): string | undefined {
  const keys = node.type === 'object' ? (node.children ?? []).map(({ children }) => children?.[0]?.value) : [];
  return names.find((name) => keys.indexOf(name) !== keys.lastIndexOf(name));
}

function readTimeout(reader: TreeReader, node: Node | undefined): number {
  if (!node) return DEFAULT_SECONDS;
  const seconds: unknown = node.value;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= LONGEST_SECONDS) return seconds;
  const text = `"timeout" is no number of seconds up to ${LONGEST_SECONDS}, so ${DEFAULT_SECONDS} count.`;
  reader.warn('hook_timeout_invalid', node, text);
  return DEFAULT_SECONDS;
}

/** As people write it. */
export function placeOf({ file, line }: NonNullable<Reason['source']>): string {
  return line === undefined ? file : `${file}:${line}`;
}
