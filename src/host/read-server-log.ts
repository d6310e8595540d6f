import type { Node } from 'jsonc-parser';
import { LOG_LEVELS, type LogLevel } from '../mcp/client/index.ts';
import { kindOf } from './config-file.ts';
import { jsonOf, type TreeReader } from './config-tree.ts';

/** From which level on servers' log messages are asked for and shown; `off`: none. */
export type ServerLogSetting = LogLevel | 'off';

/** Reads `serverLog` of a `bridle.json`: what a person's terminal shows is theirs to say. */
export function readServerLog(
  reader: TreeReader,
  node: Node | undefined,
  owner: 'user' | 'project',
): ServerLogSetting | undefined {
  if (!node) return undefined;
  if (owner === 'project') {
    const text = '"serverLog" counts in your own bridle.json only. It is ignored.';
    reader.warn('server_log_in_project', node, text);
    return undefined;
  }
  const level = [...LOG_LEVELS, 'off' as const].find((each) => each === node.value);
  if (level !== undefined) return level;
  const given = node.type === 'string' ? JSON.stringify(jsonOf(node)) : kindOf(node);
  reader.warn('odd_value', node, `"serverLog" is ${given}; one of ${LOG_LEVELS.join(', ')} or off is expected.`);
  return undefined;
}
