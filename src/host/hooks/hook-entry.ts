import type { Node } from 'jsonc-parser';
import type { Reason } from '../../contracts/index.ts';
import { HOOK_EVENTS, type HookEvent } from '../../policy/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import { jsonOf, type Member, membersOf, type TreeReader, warnUnknownKeys } from '../config-tree.ts';

/** Where a hook was written. */
export type HookScope = 'managed' | 'user' | 'project' | 'local';

/** A command that a settings file puts behind an event. */
export interface HookEntry {
  readonly event: HookEvent;
  readonly matcher: string;
  /** A command line for `/bin/sh`. */
  readonly command: string;
  readonly timeoutMs: number;
  readonly hash: string;
  readonly source: NonNullable<Reason['source']>;
}

/** Hooks of one file, and the programs in whose settings more are. */
export interface HookEntries {
  readonly hooks: readonly HookEntry[];
  readonly from: readonly 'claude'[];
}

const GROUP_KEYS = ['matcher', 'hooks'] as const;
const HOOK_KEYS = ['type', 'command', 'timeout'] as const;
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
 * the time in seconds. One that can't be read is reported and costs no other.
 *
 * @param node the value of the key
 */
export function readHookEntries(reader: TreeReader, node: Node | undefined): HookEntries {
  if (!node) return { hooks: [], from: [] };
  if (node.type !== 'object') {
    reader.warn('hooks_unreadable', node, '"hooks" is no object of events, so there are no hooks in this file.');
    return { hooks: [], from: [] };
  }
  const hooks: HookEntry[] = [];
  let from: readonly 'claude'[] = [];
  for (const [name, { key, value }] of membersOf(reader, node, 'hooks')) {
    if (name === 'from') {
      from = readFrom(reader, value);
      continue;
    }
    const event = HOOK_EVENTS.find((one) => one === name);
    if (event) hooks.push(...readEvent(reader, event, value));
    else reader.warn('hook_event_unknown', key, unknownEvent(name));
  }
  if (hooks.length <= MOST_HOOKS) return { hooks, from };
  reader.warn('hooks_too_many', node, `Of ${hooks.length} hooks the first ${MOST_HOOKS} count.`);
  return { hooks: hooks.slice(0, MOST_HOOKS), from };
}

function unknownEvent(name: string): string {
  return ABSENT.has(name)
    ? `"${name}" never happens here, so its hooks are never run.`
    : `"${name}" is no event, so its hooks are never run. The events are ${HOOK_EVENTS.join(', ')}.`;
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
  if (node.type !== 'array') {
    reader.warn('hooks_unreadable', node, `"${event}" is no list, so it has no hooks in this file.`);
    return [];
  }
  return (node.children ?? []).flatMap((group) => readGroup(reader, event, group));
}

function readGroup(reader: TreeReader, event: HookEvent, node: Node): HookEntry[] {
  if (node.type !== 'object') {
    reader.warn('hooks_unreadable', node, `An entry of "${event}" is no object with "matcher" and "hooks".`);
    return [];
  }
  const members = membersOf(reader, node, event);
  warnUnknownKeys(reader, members, GROUP_KEYS, `an entry of ${event}`);
  const matcher = members.get('matcher')?.value;
  if (matcher && matcher.type !== 'string') {
    // It can't be told what it is for: a hook that stands guard runs for everything then.
    reader.warn('hook_matcher_unreadable', matcher, 'A matcher is no text, so its hooks run for everything.');
  }
  const list = members.get('hooks')?.value;
  if (list?.type !== 'array') {
    reader.warn('hooks_unreadable', list ?? node, `An entry of "${event}" has no list "hooks", so it runs nothing.`);
    return [];
  }
  const text = matcher?.type === 'string' ? String(matcher.value) : '';
  return (list.children ?? []).flatMap((hook) => readHook(reader, event, text, hook));
}

function readHook(reader: TreeReader, event: HookEvent, matcher: string, node: Node): HookEntry[] {
  const members = node.type === 'object' ? membersOf(reader, node, 'a hook') : new Map<string, Member>();
  warnUnknownKeys(reader, members, HOOK_KEYS, 'a hook');
  const type = members.get('type')?.value.value ?? 'command';
  const command = members.get('command')?.value.value;
  if (type !== 'command') {
    reader.warn(
      'hook_type_unknown',
      node,
      `A hook of ${event} has the type ${JSON.stringify(type)}; only "command" is run here.`,
    );
    return [];
  }
  if (typeof command !== 'string' || command.trim() === '' || command.length > LONGEST_COMMAND) {
    reader.warn('hooks_unreadable', node, `A hook of ${event} has no command that can be run.`);
    return [];
  }
  const timeoutMs = readTimeout(reader, members.get('timeout')?.value) * 1_000;
  const hash = sha256(canonicalJson([event, matcher, command, timeoutMs]));
  return [{ event, matcher, command, timeoutMs, hash, source: reader.file.at(node) }];
}

function readTimeout(reader: TreeReader, node: Node | undefined): number {
  if (!node) return DEFAULT_SECONDS;
  const seconds: unknown = node.value;
  if (typeof seconds === 'number' && seconds > 0 && seconds <= LONGEST_SECONDS) return seconds;
  const text = `"timeout" is no number of seconds up to ${LONGEST_SECONDS}, so ${DEFAULT_SECONDS} count.`;
  reader.warn('hook_timeout_invalid', node, text);
  return DEFAULT_SECONDS;
}
