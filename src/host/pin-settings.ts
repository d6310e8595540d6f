import type { Node } from 'jsonc-parser';
import { PINS_KEYS } from './bridle-keys.ts';
import { kindOf } from './config-file.ts';
import { membersOf, type TreeReader, warnUnknownKeys } from './config-tree.ts';

const PIN_MODES = ['first-use', 'locked', 'off'] as const;
export type PinMode = (typeof PIN_MODES)[number];

/** Which of the two ways to pin hold; both can, and then both have to agree. */
export interface PinSettings {
  /** What is new is pinned as it is, and what changed since is held back. */
  readonly firstUse: boolean;
  /**
   * What may be used only as it stands in `bridle.lock.json`: everything, where the person's or the administrator's word
   * is `locked`; what the project brings, where it is the project's. A project says nothing of the person's own servers.
   */
  readonly locked: false | 'project' | 'all';
}

/**
 * Reads `pins` of a `bridle.json`. What isn't what is expected is warned about, and counts as not written.
 *
 * @param owner whose file it is: a project's turns nothing off
 */
export function readPinMode(
  reader: TreeReader,
  node: Node | undefined,
  owner: 'user' | 'project',
): PinMode | undefined {
  if (!node) return undefined;
  if (node.type !== 'object') {
    reader.warn('odd_value', node, `"pins" is ${kindOf(node)}; an object with mode is expected.`);
    return undefined;
  }
  const members = membersOf(reader, node, 'pins');
  warnUnknownKeys(reader, members, PINS_KEYS, 'pins');
  const mode = members.get('mode')?.value;
  if (!mode) return undefined;
  const found = PIN_MODES.find((one) => one === mode.value);
  if (found === undefined) {
    reader.warn('odd_value', mode, `"mode" of pins is one of ${PIN_MODES.join(', ')}. It is ignored.`);
  } else if (found === 'off' && owner === 'project') {
    const text = 'A project never turns the pins off: write it in your own bridle.json. It is ignored.';
    reader.warn('pins_off_in_project', mode, text);
    return undefined;
  }
  return found;
}

/**
 * What a project says only adds: under its `locked` the person's own pins hold as well, because the lock is the
 * project's word too.
 *
 * @param own what counts of the person's and the administrator's files
 */
export function mergedPins(own: PinMode | undefined, project: PinMode | undefined): PinSettings {
  const mode = own ?? 'first-use';
  const locked = mode === 'locked' ? 'all' : project === 'locked' && 'project';
  return { firstUse: mode === 'first-use', locked };
}
