import type { Node } from 'jsonc-parser';
import { AUDIT_KEYS } from './bridle-keys.ts';
import { kindOf } from './config-file.ts';
import { jsonOf, membersOf, type TreeReader, warnUnknownKeys } from './config-tree.ts';

/** What is written down of calls, as `bridle.json` says it. */
export interface AuditSettings {
  readonly enabled: boolean;
  /** Member names and JSON Pointers that are taken out of arguments and facts. */
  readonly redact: readonly string[];
  readonly arguments: 'redacted' | 'digest';
}

/** What one file says of the audit. */
export interface AuditWords extends Omit<AuditSettings, 'enabled'> {
  readonly enabled?: boolean;
}

/**
 * Reads `audit`. What is odd is read as the choice that keeps more secret; a project's file takes nothing off the audit
 * but more of what is in it.
 */
export function readAuditSettings(
  reader: TreeReader,
  node: Node | undefined,
  owner: 'user' | 'project',
): AuditWords | undefined {
  if (!node) return undefined;
  if (node.type !== 'object') {
    reader.warn('odd_value', node, `"audit" is ${kindOf(node)}; an object is expected.`);
    return undefined;
  }
  const members = membersOf(reader, node, 'audit');
  warnUnknownKeys(reader, members, AUDIT_KEYS, 'audit');
  const enabled = readEnabled(reader, members.get('enabled')?.value, owner);
  return {
    ...(enabled !== undefined && { enabled }),
    redact: readRedact(reader, members.get('redact')?.value),
    arguments: readArguments(reader, members.get('arguments')?.value),
  };
}

/**
 * All files take out what they name. The user may turn the audit off, unless an administrator has said that it is on.
 *
 * @param managed what the administrator's file says
 * @param given what all files say, that one included
 */
export function mergedAudit(managed: AuditWords | undefined, given: readonly AuditWords[]): AuditSettings {
  return {
    enabled: managed?.enabled ?? given.every(({ enabled }) => enabled !== false),
    redact: [...new Set(given.flatMap(({ redact }) => redact))],
    arguments: given.some((file) => file.arguments === 'digest') ? 'digest' : 'redacted',
  };
}

function readEnabled(reader: TreeReader, node: Node | undefined, owner: 'user' | 'project'): boolean | undefined {
  if (!node) return undefined;
  if (node.value === true) return true;
  if (node.type !== 'boolean') {
    reader.warn('odd_value', node, `"enabled" of audit is ${kindOf(node)}; true or false is expected. It stays on.`);
    return true;
  }
  if (owner === 'user') return false;
  const text = 'A project never turns the audit off: write it in your own bridle.json. It is ignored.';
  reader.warn('audit_off_in_project', node, text);
  return true;
}

function readRedact(reader: TreeReader, node: Node | undefined): readonly string[] {
  if (!node) return [];
  const list = node.type === 'array' ? (node.children ?? []) : [node];
  if (node.type !== 'array') {
    reader.warn(
      'odd_value',
      node,
      `"redact" of audit is ${kindOf(node)}; a list of names and JSON Pointers is expected.`,
    );
  }
  return list.flatMap((entry) => {
    const value = jsonOf(entry);
    if (typeof value === 'string' && value !== '') return [value];
    reader.warn(
      'odd_value',
      entry,
      `"redact" of audit has ${kindOf(entry)} in it; a name or a JSON Pointer is expected.`,
    );
    return [];
  });
}

function readArguments(reader: TreeReader, node: Node | undefined): AuditSettings['arguments'] {
  if (!node || node.value === 'redacted') return 'redacted';
  if (node.value !== 'digest') {
    reader.warn('odd_value', node, '"arguments" of audit is "redacted" or "digest"; it is taken as "digest".');
  }
  return 'digest';
}
