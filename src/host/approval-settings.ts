import type { Node } from 'jsonc-parser';
import { APPROVALS_KEYS } from './bridle-keys.ts';
import { kindOf } from './config-file.ts';
import { membersOf, type TreeReader, warnUnknownKeys } from './config-tree.ts';

/** What becomes of questions where nobody can be asked. */
export interface ApprovalSettings {
  /** They are left for `bridle approvals` rather than refused. */
  readonly park?: boolean;
  /** How long a run waits for each answer, in seconds. */
  readonly waitSeconds?: number;
}

/** Reads `approvals` of a `bridle.json`. What isn't what is expected is warned about, and counts as not written. */
export function readApprovalSettings(reader: TreeReader, node: Node | undefined): ApprovalSettings {
  if (!node) return {};
  if (node.type !== 'object') {
    reader.warn('odd_value', node, `"approvals" is ${kindOf(node)}; an object with park and waitSeconds is expected.`);
    return {};
  }
  const members = membersOf(reader, node, 'approvals');
  warnUnknownKeys(reader, members, APPROVALS_KEYS, 'approvals');
  const park = members.get('park')?.value;
  const wait = members.get('waitSeconds')?.value;
  if (park && park.type !== 'boolean') {
    reader.warn('odd_value', park, `"park" is ${kindOf(park)}; true or false is expected.`);
  }
  const isTime = wait?.type === 'number' && wait.value >= 0;
  if (wait && !isTime) reader.warn('odd_value', wait, `"waitSeconds" must be a number of seconds, 0 or more.`);
  return {
    ...(park?.type === 'boolean' && { park: park.value === true }),
    ...(isTime && { waitSeconds: Number(wait.value) }),
  };
}
